#include "sim/report/bounds.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/base/sums.h"
#include "sim/report/real.h"

namespace accsim::sim {
namespace {

/// How a convolution's windows lie over one dimension of its input.
struct Coverage {
  int64_t pairs = 0;    ///< (output, kernel position) pairs that meet an element, not padding
  int64_t touched = 0;  ///< elements that some pair meets, at least; exact without dilation
  int64_t kernel = 0;   ///< kernel positions that ever meet an element
  int64_t reuse = 1;    ///< kernel positions that may meet one element
};

Coverage kernel_coverage(const GemmOp& op, size_t d) {
  const int64_t in = op.in[d], out = op.out[d], kernel = op.kernel[d], stride = op.stride[d];
  const int64_t dilation = op.dilation[d], pad = op.pad[d];
  constexpr int64_t kLongest = 1 << 20;  // longer kernels aren't walked: no traffic is a safe bound
  if (in <= 0 || out <= 0 || stride <= 0 || dilation <= 0 || kernel > kLongest) return {};
  Coverage c;
  int64_t most = 0;
  for (int64_t k = 0; k < kernel; ++k) {
    const int64_t at = k * dilation - pad;  // of output 0
    const int64_t first = at >= 0 ? 0 : ceil_div(-at, stride);
    const int64_t end = at >= in ? 0 : std::min(out, ceil_div(in - at, stride));
    const int64_t met = std::max<int64_t>(0, end - first);
    c.pairs += met;
    c.kernel += met > 0 ? 1 : 0;
    most = std::max(most, met);
  }
  // Positions k and k' meet the same element only if (k - k') * dilation is a multiple of stride.
  c.reuse = std::max<int64_t>(1, ceil_div(kernel, stride / std::gcd(stride, dilation)));
  if (dilation == 1 && kernel >= stride) {  // one unbroken stretch
    const int64_t end = std::min(in, (out - 1) * stride - pad + kernel);
    c.touched = std::max<int64_t>(0, end - std::max<int64_t>(0, -pad));
  } else {
    c.touched = std::max(most, ceil_div(c.pairs, c.reuse));
  }
  return c;
}

}  // namespace

GemmTraffic gemm_traffic(const GemmOp& op, int64_t a_bytes, int64_t b_bytes, int64_t c_bytes) {
  GemmTraffic t;
  t.a_bytes = a_bytes;
  t.b_bytes = b_bytes;
  t.c_bytes = c_bytes;
  int64_t pairs = 1, touched = 1, kernel = 1;
  for (size_t d = 0; d < op.in.size(); ++d) {
    const Coverage c = kernel_coverage(op, d);
    pairs = multiply_counts(pairs, c.pairs);
    touched = multiply_counts(touched, c.touched);
    kernel = multiply_counts(kernel, c.kernel);
    t.a_reuse = multiply_counts(t.a_reuse, c.reuse);
  }
  const int64_t reduced = multiply_counts(op.images, op.channels);
  t.macs = multiply_counts(multiply_counts(op.batch, reduced), multiply_counts(pairs, op.outputs));
  t.a_elements = multiply_counts(op.a_shared ? 1 : op.batch, multiply_counts(reduced, touched));
  t.b_elements = multiply_counts(op.b_shared ? 1 : op.batch,
                                 multiply_counts(multiply_counts(op.channels, kernel), op.outputs));
  t.c_elements = multiply_counts(op.batch, multiply_counts(op.m(), op.outputs));
  if (op.a_shared && op.b_shared) t.partners = op.batch;
  return t;
}

int64_t on_chip_bytes(const hw::HwConfig& hw) {
  int64_t bytes = hw.shared.kib * 1024;
  for (const hw::BufferConfig& buffer : hw.buffers) bytes += buffer.kib * 1024;
  // A processing element holds a streaming operand, a partial sum, and a stationary operand with
  // the next one behind it.
  const int64_t stationary = std::max(hw.weight_bytes(), hw.activation_bytes());
  const int64_t element = 3 * stationary + hw.accumulator_bytes();
  return bytes + hw.array.rows * hw.array.cols * element;
}

std::optional<HeldSums> held_sums(const hw::HwConfig& hw) {
  if (hw.accumulator_bytes() <= hw.activation_bytes()) return std::nullopt;
  const int64_t elements = hw.array.rows * hw.array.cols;
  const int64_t stationary = std::max(hw.weight_bytes(), hw.activation_bytes());
  HeldSums out;
  out.operand_bytes = hw.shared.kib * 1024 + 3 * stationary * elements;
  for (const hw::Buffer b : {hw::Buffer::activation, hw::Buffer::weight})
    out.operand_bytes += hw.buffer(b).kib * 1024;
  out.sums = hw.buffer(hw::Buffer::accumulator).kib * 1024 / hw.accumulator_bytes() + elements;
  return out;
}

namespace {

/// The bound of held sums, for one price of a begun C and parts of so many bytes read and priced.
double held_sums_bound(const GemmTraffic& t, const HeldSums& held, double price, double part) {
  const double b_size = t.b_narrow ? 0.5 : real(t.b_bytes);
  const double sizes = real(t.a_bytes) * b_size * price;
  const auto most_macs = [&](double bytes) {
    const double third = bytes / 3;
    return third * std::sqrt(third * (real(t.a_reuse) * real(t.partners) / sizes));
  };
  const double operands = real(held.operand_bytes);
  const double cut = part + price;  // a sum may be begun and paid for in two parts
  const double first = most_macs((t.a_on_chip || t.b_on_chip ? operands : 0) + cut);
  const double each = most_macs(operands + price * real(held.sums) + cut);
  // Rounded down by more than the arithmetic's error, so that the bound stays below the truth.
  const double full = std::ceil((real(t.macs) * (1 - 1e-12) - first) / each);
  const double written = t.c_on_chip ? 0 : real(t.c_bytes);
  return (full * part - (price - written) * real(t.c_elements)) * (1 - 1e-12);
}

/// The largest over prices and parts around those that are best where there are many parts.
double held_sums_bound(const GemmTraffic& t, const HeldSums& held) {
  double most = 0;
  for (double price = 0.5; price < 64; price *= 1.125)
    for (const double parts : {0.5, 1.0, 1.5, 1.75, 1.875, 2.0, 2.125, 2.25, 2.5})
      most = std::max(most, held_sums_bound(t, held, price,
                                            parts * (static_cast<double>(held.operand_bytes) +
                                                     price * static_cast<double>(held.sums))));
  return most;
}

}  // namespace

int64_t gemm_traffic_bound(const GemmTraffic& t, int64_t on_chip,
                           const std::optional<HeldSums>& held) {
  int64_t compulsory = 0;
  if (!t.a_on_chip) compulsory = add_counts(compulsory, multiply_counts(t.a_elements, t.a_bytes));
  const int64_t b_all = t.b_narrow ? t.b_elements / 2 : multiply_counts(t.b_elements, t.b_bytes);
  if (!t.b_on_chip) compulsory = add_counts(compulsory, b_all);
  if (!t.c_on_chip) compulsory = add_counts(compulsory, multiply_counts(t.c_elements, t.c_bytes));
  if (on_chip <= 0) return compulsory;

  const double b_size = t.b_narrow ? 0.5 : real(t.b_bytes);
  const double sizes = real(t.a_bytes) * b_size * real(t.c_bytes);
  const double reuse = real(t.a_reuse) * real(t.partners);
  const double leading = 2 * real(t.macs) * std::sqrt(sizes / (real(on_chip) * reuse));
  const double kept = t.c_on_chip ? real(t.c_elements) * real(t.c_bytes) : 0;
  // Rounded down by more than the arithmetic's error, so that the bound stays below the truth.
  double communication = std::floor(leading * (1 - 1e-12) - 2 * real(on_chip) - kept);
  if (held && 2 * leading > real(compulsory))  // else everything may fit
    communication = std::max(communication, std::floor(held_sums_bound(t, *held)));
  if (communication <= real(compulsory)) return compulsory;
  return communication < 0x1p62 ? static_cast<int64_t>(communication) : kBeyond;
}

Bound busiest_bound(const Costs& c) {
  if (c.cycles <= 0) return Bound::none;
  // An array that takes weights in, fills or drains is taken, too: that time belongs to compute.
  const int64_t array = c.stalls[static_cast<size_t>(hw::Wait::weight_load)] +
                        c.stalls[static_cast<size_t>(hw::Wait::array)];
  const int64_t compute = c.compute_bound > 0 ? c.compute_cycles + array : 0;
  const int64_t most = std::max({compute, c.dram_busy, c.sram_busy});
  if (most < ceil_div(c.cycles, 2)) return Bound::latency;
  if (c.dram_busy == most) return Bound::dram;
  if (c.sram_busy == most) return Bound::sram;
  const int64_t half = ceil_div(c.cycles, 2);
  return c.preload_busy >= half && c.compute_bound < half ? Bound::weight_load : Bound::compute;
}

}  // namespace accsim::sim
