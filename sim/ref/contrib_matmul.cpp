#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/operators/fold.h"
#include "sim/operators/names.h"
#include "sim/operators/rules.h"
#include "sim/ref/kernel_parts.h"
#include "sim/ref/matmul.h"
#include "sim/ref/quant.h"

namespace accsim::sim::ref {
namespace {

/// Output of a MatMul with one bias a column (optional).
Status put_with_bias(KernelContext& step, std::vector<double> values, size_t bias_port) {
  const std::vector<double> bias = step.reals(bias_port);
  for (size_t i = 0; i < values.size() && !bias.empty(); ++i) values[i] += bias[i % bias.size()];
  return step.put_output(0, values), ok();
}

/// (A - zero) (B - zero) scaled to reals: inputs A, B, their scales, their zero points, bias.
Status matmul_to_float(KernelContext& step) {
  std::vector<double> a = step.reals(0), b = step.reals(1);
  subtract_zero(a, step.dims(0), step.reals(4), true);
  subtract_zero(b, step.dims(1), step.reals(5), false);
  std::vector<double> out = matmul_reals(step, a, step.dims(0), b, step.dims(1));
  const std::vector<double> b_scale = step.reals(3);
  const double a_scale = step.real_or(2, 1);
  if (b_scale.empty()) return bad_node(step, "B's scale is empty");
  for (size_t i = 0; i < out.size(); ++i) out[i] *= a_scale * b_scale[i % b_scale.size()];
  return put_with_bias(step, std::move(out), 6);
}

/// A is quantised to uint8 on the way: inputs A, B, B's scale and zero point, bias.
Status dynamic_matmul(KernelContext& step) {
  std::vector<double> a = step.reals(0), b = step.reals(1);
  const auto [a_scale, a_zero] = found_scale(a);
  for (double& v : a)
    v = a_scale == 0 ? 0 : quantized_value(v, a_scale, a_zero, DType::uint8) - a_zero;
  subtract_zero(b, step.dims(1), step.reals(3), false);
  std::vector<double> out = matmul_reals(step, a, step.dims(0), b, step.dims(1));
  const std::vector<double> b_scale = step.reals(2);
  if (b_scale.empty()) return bad_node(step, "B's scale is empty");
  for (size_t i = 0; i < out.size(); ++i) out[i] *= a_scale * b_scale[i % b_scale.size()];
  return put_with_bias(step, std::move(out), 4);
}

/// alpha A B + C of integers: inputs A, its scale and zero point, the same of B, C in steps of both
/// scales, scale and zero point of the result, which is float without them.
Status quantised_gemm(KernelContext& step) {
  const bool turn_a = int_attr(step, "transA", 0) != 0, turn_b = int_attr(step, "transB", 0) != 0;
  std::vector<double> a = step.reals(0), b = step.reals(3);
  const double a_zero = step.real_or(2, 0);
  for (double& v : a) v -= a_zero;
  subtract_zero(b, step.dims(3), step.reals(5), turn_b);
  const int64_t n = step.out_dims(0)[1], k = step.dims(0)[turn_a ? 0 : 1];
  std::vector<double> out(static_cast<size_t>(elements(step.out_dims(0))));
  if (!out.empty())
    multiply(step.pool(), {step.out_dims(0)[0], k, n, turn_a, turn_b}, a.data(), b.data(),
             out.data());
  const std::vector<double> b_scale = step.reals(4), bias = step.reals(6);
  if (b_scale.empty()) return bad_node(step, "B's scale is empty");
  const bool to_integers = step.has_input(7);
  const double alpha = real_attr(step, "alpha", 1) * step.real_or(1, 1);
  const DType type = step.output(0).dtype;
  std::vector<int64_t> at;
  if (!bias.empty())
    at = strided_offsets(step.out_dims(0), broadcast_strides(step.dims(6), step.out_dims(0)));
  for (size_t i = 0; i < out.size(); ++i) {
    const double scale = b_scale[i % static_cast<size_t>(n) % b_scale.size()];
    if (!bias.empty()) out[i] += bias[static_cast<size_t>(at[i])];
    out[i] = to_integers ? requantized_sum(out[i], step_factor(alpha, scale, step.real_or(7, 1)),
                                           step.real_or(8, 0), type)
                         : out[i] * alpha * scale;
  }
  return step.put_output(0, out), ok();
}

/// Number i of `width` bits of those that are packed from the low end, from byte `first` on.
int64_t packed_number(const std::vector<int64_t>& bytes, int64_t first, int64_t i, int64_t width) {
  const int64_t each = 8 / width, mask = (int64_t{1} << width) - 1;
  return bytes[static_cast<size_t>(first + i / each)] >> (i % each * width) & mask;
}

/// Which scale and zero point each of K numbers has: those that input `port` names, or else those
/// of its block.
Result<std::vector<int64_t>> groups_of(const KernelContext& step, size_t port, int64_t k,
                                       int64_t block, int64_t blocks) {
  std::vector<int64_t> out = step.integers(port);
  if (!step.has_input(port))
    for (int64_t i = 0; i < k; ++i) out.push_back(i / block);
  if (std::ssize(out) < k)
    return bad_node(step, fmt::format("g_idx must have {} elements, not {}", k, out.size()));
  for (const int64_t group : out)
    if (group < 0 || group >= blocks)
      return bad_node(step, fmt::format("g_idx names group {} of {}", group, blocks));
  return out;
}

/// B as N rows of K numbers of `bits` bits, packed from the low end, a scale and zero point a
/// block.
Status matmul_nbits(KernelContext& step) {
  const int64_t k = int_attr(step, "K", 1), n = int_attr(step, "N", 1);
  const int64_t width = int_attr(step, "bits", 4), block = int_attr(step, "block_size", 32);
  if (width != 4 && width != 8 && width != 2)
    return refuse(step, "other than 2, 4 or 8 bits aren't computed");
  if (step.input_array(1).kind() != ElementKind::u8) return refuse(step, "weights must be bytes");
  const int64_t blocks = (k + block - 1) / block, block_bytes = (block * width + 7) / 8;
  const int64_t zero_bytes = (blocks * width + 7) / 8;
  const std::vector<int64_t> packed = step.integers(1);
  const std::vector<double> scale = step.reals(2), zeros = step.reals(3);
  const bool packed_zeros = step.has_input(3) && step.input_array(3).kind() == ElementKind::u8;
  const std::vector<int64_t> zero_bytes_of =
      packed_zeros ? step.integers(3) : std::vector<int64_t>{};
  if (packed_zeros && static_cast<int64_t>(zeros.size()) != n * zero_bytes)
    return bad_node(step, fmt::format("zero points must be {} bytes", n * zero_bytes));
  if (!packed_zeros && !zeros.empty() && static_cast<int64_t>(zeros.size()) != n * blocks)
    return bad_node(step, fmt::format("zero points must be {} elements", n * blocks));
  const Result<std::vector<int64_t>> groups = groups_of(step, 4, k, block, blocks);
  if (!groups) return groups.errors();
  std::vector<double> b(static_cast<size_t>(n * k));
  for (int64_t row = 0; row < n; ++row)
    for (int64_t i = 0; i < k; ++i) {
      const int64_t at = (*groups)[static_cast<size_t>(i)], in = i % block;
      const int64_t block_index = row * blocks + at, stored_in = row * blocks + i / block;
      double zero = static_cast<double>(int64_t{1} << (width - 1));
      if (packed_zeros)
        zero = static_cast<double>(packed_number(zero_bytes_of, row * zero_bytes, at, width));
      else if (!zeros.empty())
        zero = zeros[static_cast<size_t>(block_index)];
      const auto value =
          static_cast<double>(packed_number(packed, stored_in * block_bytes, in, width));
      b[static_cast<size_t>(row * k + i)] =
          (value - zero) * scale[static_cast<size_t>(block_index)];
    }
  const std::vector<double> a = step.reals(0);
  std::vector<double> out(static_cast<size_t>(elements(step.out_dims(0))));
  if (!out.empty())
    multiply(step.pool(), {static_cast<int64_t>(a.size()) / k, k, n, false, true}, a.data(),
             b.data(), out.data());
  return put_with_bias(step, std::move(out), 5);
}

/// What the 16 codes of bitsandbytes stand for, of the largest number of a block: FP4, NF4.
constexpr double kFp4[] = {
    0, 0.00520833333,  0.66666667,  1,  0.33333333,  0.5,  0.16666667,  0.25,
    0, -0.00520833333, -0.66666667, -1, -0.33333333, -0.5, -0.16666667, -0.25};
constexpr double kNf4[] = {-1.0,
                           -0.6961928009986877,
                           -0.5250730514526367,
                           -0.39491748809814453,
                           -0.28444138169288635,
                           -0.18477343022823334,
                           -0.09105003625154495,
                           0.0,
                           0.07958029955625534,
                           0.16093020141124725,
                           0.24611230194568634,
                           0.33791524171829224,
                           0.44070982933044434,
                           0.5626170039176941,
                           0.7229568362236023,
                           1.0};

/// N x K numbers of 4 bits, the first of a byte in its upper half, times their block's largest.
Status matmul_bnb4(KernelContext& step) {
  const int64_t k = int_attr(step, "K", 1), n = int_attr(step, "N", 1);
  const int64_t block = int_attr(step, "block_size", 64);
  const bool turned = int_attr(step, "transB", 1) != 0;
  if (step.input_array(1).kind() != ElementKind::u8) return refuse(step, "weights must be bytes");
  const double* codes = int_attr(step, "quant_type", 1) == 0 ? kFp4 : kNf4;
  const std::vector<int64_t> packed = step.integers(1);
  const std::vector<double> scale = step.reals(2), a = step.reals(0);
  std::vector<double> b(static_cast<size_t>(n * k));
  for (int64_t i = 0; i < n * k; ++i) {
    const int64_t byte = packed[static_cast<size_t>(i / 2)];
    b[static_cast<size_t>(i)] =
        codes[i % 2 == 0 ? byte >> 4 : byte & 15] * scale[static_cast<size_t>(i / block)];
  }
  const int64_t inner = turned ? k : n, columns = turned ? n : k;
  std::vector<double> out(static_cast<size_t>(elements(step.out_dims(0))));
  if (!out.empty())
    multiply(step.pool(), {static_cast<int64_t>(a.size()) / inner, inner, columns, false, turned},
             a.data(), b.data(), out.data());
  return step.put_output(0, out), ok();
}

/// Numbers of a table that is packed along its last dim, or of a type of so few bits.
std::vector<double> unpacked_numbers(const KernelContext& step, size_t port, int64_t width,
                                     int64_t columns) {
  if (bits(step.dtype(port)) != 8 || width == 8) return step.reals(port);
  const std::vector<int64_t> bytes = step.integers(port);
  const int64_t row_bytes = step.dims(port).back();
  std::vector<double> out;
  for (int64_t row = 0; row_bytes > 0 && row < std::ssize(bytes) / row_bytes; ++row)
    for (int64_t i = 0; i < columns; ++i)
      out.push_back(static_cast<double>(packed_number(bytes, row * row_bytes, i, width)));
  return out;
}

/// Rows of a table of integers with a scale and zero point a block along quantize_axis.
Status gather_blocks(KernelContext& step) {
  const int64_t width = int_attr(step, "bits", 4);
  const auto dim_of = [&](int64_t d) { return static_cast<size_t>(d < 0 ? d + step.rank(0) : d); };
  const size_t at = dim_of(int_attr(step, "gather_axis", 0)),
               along = dim_of(int_attr(step, "quantize_axis", 1));
  Dims table = step.dims(0);
  const bool bytes = bits(step.dtype(0)) == 8;
  if (bytes) table.back() *= 8 / width;
  const std::vector<double> numbers = unpacked_numbers(step, 0, width, table.back());
  const std::vector<double> scale = step.reals(2);
  const std::vector<double> zero =
      step.has_input(3) ? unpacked_numbers(step, 3, width, step.dims(2).back())
                        : std::vector<double>(scale.size(), bytes ? std::exp2(width - 1) : 0);
  const int64_t block = std::max<int64_t>(1, int_attr(step, "block_size", 128));
  const Lines l = lines_along(table, static_cast<int64_t>(along)),
              from = lines_along(table, static_cast<int64_t>(at));
  const int64_t blocks = step.dims(2)[along];
  const auto real = [&](int64_t n) {
    const int64_t b = n / l.inner % l.length / block;
    const auto s =
        static_cast<size_t>((n / (l.inner * l.length) * blocks + b) * l.inner + n % l.inner);
    return (numbers[static_cast<size_t>(n)] - zero[s]) * scale[s];
  };
  const int64_t wanted = elements(step.out_dims(0));
  if (from.length == 0 && wanted > 0) return bad_node(step, "rows are wanted of an empty table");
  std::vector<double> out;
  out.reserve(static_cast<size_t>(wanted));
  for (int64_t o = 0; o < from.outer; ++o)
    for (int64_t index : step.integers(1)) {
      if (index < 0) index += from.length;
      if (index < 0 || index >= from.length)
        return bad_node(step, fmt::format("an index is outside {} rows", from.length));
      for (int64_t i = 0; i < from.inner; ++i) out.push_back(real(from.offset_of(o, i, index)));
    }
  return step.put_output(0, out), ok();
}

/// Tables and vectors of EmbedLayerNormalization.
struct Embeddings {
  std::vector<double> word, position, segment, gamma, beta;
  std::vector<int64_t> positions;
};

/// Sums of word, position and segment embeddings, normalised.
Status add_embeddings(KernelContext& step, const Embeddings& from) {
  const Dims& ids = step.dims(0);
  const int64_t hidden = step.dims(2)[1], length = ids[1];
  const std::vector<int64_t> words = step.integers(0), segments = step.integers(1),
                             mask = step.integers(7);
  const auto& [word, position, segment, gamma, beta, positions] = from;
  const double epsilon = real_attr(step, "epsilon", 1e-12);
  for (const auto* given : {&segments, &mask})
    if (!given->empty() && given->size() != words.size())
      return bad_node(step, "segments and mask must have the shape of the ids");
  std::vector<double> out, sums;
  const auto row = [&](const std::vector<double>& table, int64_t at) -> const double* {
    const int64_t rows = hidden > 0 ? static_cast<int64_t>(table.size()) / hidden : 0;
    return at >= 0 && at < rows ? table.data() + at * hidden : nullptr;
  };
  for (int64_t t = 0; t < ids[0] * length; ++t) {
    const auto n = static_cast<size_t>(t);
    const int64_t place = positions.empty()
                              ? t % length
                              : positions[positions.size() == 1 ? 0 : n % positions.size()];
    const double *a = row(word, words[n]), *b = row(position, place);
    const double* c =
        segment.empty() ? nullptr : row(segment, n < segments.size() ? segments[n] : 0);
    if (a == nullptr || b == nullptr || (c == nullptr && !segment.empty()))
      return bad_node(step, fmt::format("token {} is outside a table", t));
    double mean = 0, square = 0;
    std::vector<double> sum(static_cast<size_t>(hidden));
    for (size_t i = 0; i < sum.size(); ++i)
      mean += (sum[i] = a[i] + b[i] + (c != nullptr ? c[i] : 0)) / static_cast<double>(hidden);
    for (const double v : sum) square += (v - mean) * (v - mean);
    const double inverse = 1 / std::sqrt(square / static_cast<double>(hidden) + epsilon);
    for (size_t i = 0; i < sum.size(); ++i)
      out.push_back((sum[i] - mean) * inverse * gamma[i] + beta[i]);
    sums.insert(sums.end(), sum.begin(), sum.end());
  }
  step.put_output(0, out);
  if (step.output_count() > 1 && step.has_output(1)) {
    std::vector<int64_t> lengths(static_cast<size_t>(ids[0]), 0);
    for (size_t i = 0; i < mask.size(); ++i) lengths[i / static_cast<size_t>(length)] += mask[i];
    step.put_output(1, lengths);
  }
  if (step.output_count() > 2) step.put_output(2, sums);
  return ok();
}

Status embed_norm(KernelContext& step) {
  return add_embeddings(step, {step.reals(2), step.reals(3), step.reals(4), step.reals(5),
                               step.reals(6), step.integers(8)});
}

/// The same of integers: scales of inputs 2 to 6 are inputs 8 to 12, zero points 13 to 17.
Status qembed_norm(KernelContext& step) {
  const auto real = [&](size_t port) { return dequantized_input(step, port, port + 6, port + 11); };
  return add_embeddings(step, {real(2), real(3), real(4), real(5), real(6), {}});
}

constexpr KernelRow kContribMatmulKernels[] = {
    {"DynamicQuantizeMatMul", dynamic_matmul, kMicrosoft},
    {"EmbedLayerNormalization", embed_norm, kMicrosoft},
    {"GatherBlockQuantized", gather_blocks, kMicrosoft},
    {"MatMulIntegerToFloat", matmul_to_float, kMicrosoft},
    {"MatMulBnb4", matmul_bnb4, kMicrosoft},
    {"MatMulNBits", matmul_nbits, kMicrosoft},
    {"QEmbedLayerNormalization", qembed_norm, kMicrosoft},
    {"QGemm", quantised_gemm, kMicrosoft},
};

}  // namespace

std::span<const KernelRow> contrib_matmul_kernels() { return kContribMatmulKernels; }

}  // namespace accsim::sim::ref
