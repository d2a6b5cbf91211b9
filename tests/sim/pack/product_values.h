#pragma once
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "hw/golden/golden.h"
#include "hw/random/scatter_loads.h"
#include "sim/map/product/gemm_space.h"
#include "sim/pack/operand_layout.h"

/// Products with random operands, what they are by definition, what their programs make of them.
namespace accsim::sim::product_values {

inline size_t at(int64_t i) { return static_cast<size_t>(i); }

inline GemmOperands random_operands(const GemmProblem& p, std::mt19937& random) {
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  GemmOperands o;
  for (int64_t i = logical_a(p.op); i > 0; --i) o.a.push_back(static_cast<int8_t>(pick(-128, 127)));
  for (int64_t i = logical_weights(p.op); i > 0; --i)
    o.weights.push_back(
        static_cast<int8_t>(p.b_encoding.is_packed() ? pick(-8, 7) : pick(-128, 127)));
  const bool scaled = p.scale_count() > 1;  // multipliers of 16 bits
  const int64_t one = scaled ? 1 << 15 : 1 << 20, shift = scaled ? 22 : 27;
  for (int64_t i = p.pixel_outputs(); i > 0; --i)
    o.channels.push_back(
        {static_cast<int32_t>(pick(-30000, 30000) / (p.b_encoding.is_packed() ? 16 : 1)),
         static_cast<int32_t>(pick(-1, 3) < 0 ? -pick(1, one) : pick(one / 2, one)),
         static_cast<int32_t>(pick(shift, shift + 4) - (p.b_encoding.is_packed() ? 4 : 0))});
  for (int64_t i = (p.scale_count() - 1) * p.op.outputs; i > 0; --i)
    o.scales.push_back(static_cast<int16_t>(pick(-32768, 32767)));
  for (int64_t i = p.residual ? p.op.batch * p.op.m() * p.op.outputs : 0; i > 0; --i)
    o.residual.push_back(static_cast<int8_t>(pick(-128, 127)));
  for (int v = 0; p.epilogue.table && v < 256; ++v)
    o.table.push_back(static_cast<int8_t>(pick(-128, 127)));
  return o;
}

/// The definition: every output is a sum over channels and kernel taps.
class Reference {
 public:
  Reference(const GemmProblem& p, const GemmOperands& o) : p_(p), op_(p.op), o_(o) {}

  std::vector<int8_t> run() const {
    std::vector<int8_t> out(at(op_.batch * op_.m() * op_.outputs));
    for (int64_t b = 0; b < op_.batch; ++b)
      for (int64_t m = 0; m < op_.m(); ++m)
        for (int64_t n = 0; n < op_.outputs; ++n) {
          const int64_t place = op_.grouped ? (m * op_.batch + b) * op_.outputs + n
                                            : (b * op_.m() + m) * op_.outputs + n;
          const int64_t y = scale(scaled(b, m, n), op_.grouped ? b * op_.outputs + n : n);
          out[at(place)] = static_cast<int8_t>(p_.residual ? add(y, o_.residual[at(place)]) : y);
        }
    return out;
  }

 private:
  /// With its bias, times the multiplier; what other groups of channels have, times theirs.
  int64_t scaled(int64_t b, int64_t m, int64_t n) const {
    const GemmOperands::Channel& c = o_.channels[at(op_.grouped ? b * op_.outputs + n : n)];
    if (p_.scale_group == 0) return (sum(b, m, n, 0, op_.channels) + c.bias) * c.multiplier;
    int64_t total = c.bias * int64_t{c.multiplier};
    for (int64_t g = 0; g * p_.scale_group < op_.channels; ++g) {
      const int64_t first = g * p_.scale_group;
      total += sum(b, m, n, first, std::min(first + p_.scale_group, op_.channels)) *
               (g == 0 ? c.multiplier : int64_t{o_.scales[at((g - 1) * op_.outputs + n)]});
    }
    return total;
  }

  /// Over the channels [first, end).
  int64_t sum(int64_t b, int64_t m, int64_t n, int64_t first, int64_t end) const {
    const int64_t image = m / (op_.out[0] * op_.out[1] * op_.out[2]);
    const int64_t oz = m / (op_.out[1] * op_.out[2]) % op_.out[0];
    const int64_t oy = m / op_.out[2] % op_.out[1], ox = m % op_.out[2];
    int64_t total = 0, row = op_.b_shared ? 0 : b * op_.k();
    for (int64_t kz = 0; kz < op_.kernel[0]; ++kz)
      for (int64_t ky = 0; ky < op_.kernel[1]; ++ky)
        for (int64_t kx = 0; kx < op_.kernel[2]; ++kx)
          for (int64_t c = 0; c < op_.channels; ++c, ++row) {
            if (c < first || c >= end) continue;
            total += input(b, image, oz * op_.stride[0] + kz * op_.dilation[0] - op_.pad[0],
                           oy * op_.stride[1] + ky * op_.dilation[1] - op_.pad[1],
                           ox * op_.stride[2] + kx * op_.dilation[2] - op_.pad[2], c) *
                     int64_t{o_.weights[at(row * op_.outputs + n)]};
          }
    return total;
  }

  /// Outside the input lies the zero point.
  int64_t input(int64_t b, int64_t image, int64_t z, int64_t y, int64_t x, int64_t c) const {
    if (z < 0 || y < 0 || x < 0 || z >= op_.in[0] || y >= op_.in[1] || x >= op_.in[2])
      return p_.a_zero;
    int64_t pixel = ((image * op_.in[0] + z) * op_.in[1] + y) * op_.in[2] + x;
    if (op_.grouped) return o_.a[at((pixel * op_.batch + b) * op_.channels + c)];
    if (!op_.a_shared) pixel += b * op_.images * op_.in[0] * op_.in[1] * op_.in[2];
    return o_.a[at(pixel * op_.channels + c)];
  }

  /// In integers: the quotient of the magnitudes, one more when the rest is half or more.
  static int64_t divided(int64_t value, int64_t divisor) {
    int64_t y = std::abs(value) / divisor;
    if (std::abs(value) % divisor * 2 >= divisor) ++y;
    return value < 0 ? -y : y;
  }

  /// Of 16 bits where something is added, unless it comes from the table.
  int64_t scale(int64_t product, int64_t channel) const {
    const GemmOperands::Channel& c = o_.channels[at(channel)];
    int64_t y = divided(product, int64_t{1} << c.shift) + p_.epilogue.zero;
    if (p_.epilogue.relu) y = std::max<int64_t>(y, p_.epilogue.zero);
    const int64_t most = p_.residual && !p_.epilogue.table ? INT16_MAX : INT8_MAX;
    y = std::clamp<int64_t>(y, -most - 1, most);
    return p_.epilogue.table ? o_.table[at(y + 128)] : y;
  }

  int64_t add(int64_t y, int64_t r) const {
    const int64_t scaled = (r - p_.epilogue.residual->zero) * p_.epilogue.residual->multiplier;
    y += divided(scaled, int64_t{1} << p_.epilogue.residual->shift);
    return std::clamp<int64_t>(y, p_.clips_sum ? p_.epilogue.zero : -128, 127);
  }

  const GemmProblem& p_;
  const GemmOp& op_;
  const GemmOperands& o_;
};

inline GemmProblem random_problem(const GemmOp& op, const hw::HwConfig& hw, std::mt19937& random) {
  GemmProblem p = make_problem(op, hw);
  p.a = {"a", hw::MemoryId::dram, false};
  p.b = {"b", hw::MemoryId::dram, random() % 3 != 0};
  p.parameters = {"p", hw::MemoryId::dram, true};
  p.out = {"y", hw::MemoryId::dram, false};
  p.has_parameters = true;
  choose_weights(p, hw);
  p.epilogue.relu = random() % 4 == 0;
  p.a_zero = static_cast<int32_t>(random() % 256) - 128;
  p.epilogue.zero = static_cast<int32_t>(random() % 256) - 128;
  if (random() % 3 == 0) {
    p.residual = {"r", hw::MemoryId::dram, false};
    p.epilogue.residual.emplace();
    p.epilogue.residual->zero = static_cast<int32_t>(random() % 256) - 128;
    p.epilogue.residual->multiplier = static_cast<int32_t>(random() % 60000) - 30000;
    p.epilogue.residual->shift = static_cast<int32_t>(13 + random() % 5);
    p.clips_sum = random() % 4 == 0;
  }
  p.epilogue.table = random() % 3 == 0;
  return p;
}

/// Runs the program of a tiling, with `scatter` one whose loads come from both memories, and
/// compares the output with the definition.
inline void expect_right(const GemmProblem& p, const hw::HwConfig& hw, const ProductTiling& t,
                         const GemmOperands& operands, const std::vector<int8_t>& expected,
                         std::mt19937* scatter = nullptr) {
  hw::Program program = emit(p, hw, t);
  hw::MemoryImage image = pack_operands(p, hw, t, operands);
  if (scatter) scatter_loads(program, image, *scatter);
  const Status good = verify(program, hw);
  ASSERT_TRUE(good.ok()) << good.errors().front().text() << "\n" << program_text(program);
  const Status ran = hw::run_golden(program, hw, image);
  ASSERT_TRUE(ran.ok()) << ran.errors().front().text() << "\n" << program_text(program);
  const std::vector<int8_t> got = unpack_output(image);
  ASSERT_EQ(got.size(), expected.size());
  const auto wrong = std::mismatch(got.begin(), got.end(), expected.begin());
  ASSERT_TRUE(wrong.first == got.end())
      << fmt::format("{}: output {} is {}, not {}\n", to_string(p, t), wrong.first - got.begin(),
                     *wrong.first, *wrong.second)
      << program_text(program);
}

}  // namespace accsim::sim::product_values
