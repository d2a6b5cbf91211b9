#include <algorithm>
#include <cmath>

#include "sim/elaborate/fused_forms.h"
#include "sim/operators/names.h"

namespace accsim::sim {
namespace {

constexpr double kNear = 1e-5;  ///< of a step: thresholds so near to a line are on it

/// Thresholds of a channel that lie on a line: the first one and the step.
struct Line {
  double first = 0, step = 0;
};

/// The lines of `rows` rows of thresholds; none where one isn't straight.
std::vector<Line> straight_rows(const std::vector<double>& thresholds, int64_t rows) {
  std::vector<Line> out;
  if (rows < 1 || thresholds.empty()) return out;
  const size_t count = thresholds.size() / static_cast<size_t>(rows);
  for (size_t r = 0; r < static_cast<size_t>(rows); ++r) {
    const double* row = thresholds.data() + r * count;
    const double step = count < 2 ? 1 : (row[count - 1] - row[0]) / static_cast<double>(count - 1);
    for (size_t i = 0; i < count; ++i)
      if (!(step > 0) || std::abs(row[i] - row[0] - step * static_cast<double>(i)) > kNear * step)
        return {};
    out.push_back({row[0], step});
  }
  return out;
}

}  // namespace

TensorIds spell_quant(Spelling& s) {
  const std::vector<double> scale = s.known_numbers(s.input(1)), zero = s.known_numbers(s.input(2)),
                            bits = s.known_numbers(s.input(3));
  if (scale.size() != 1 || zero.size() != 1 || bits.size() != 1 || bits[0] > 8) return {};
  if (!(zero[0] >= -128 && zero[0] <= 255)) return {};
  if (s.text("rounding_mode", "ROUND") != "ROUND" || s.dtype(s.input(0)) != DType::float32)
    return {};
  const DType type = s.integer("signed", 1) != 0 ? DType::int8 : DType::uint8;
  const TensorId step = s.number("step", scale[0], DType::float32);
  const TensorId point = s.number("zero_point", zero[0], type);
  const TensorId codes = s.add("QuantizeLinear", "codes", {s.input(0), step, point});
  return {s.add("DequantizeLinear", "", {codes, step, point})};
}

TensorIds spell_multi_threshold(Spelling& s) {
  const TensorId x = s.input(0);
  const int64_t rows = s.dim(s.input(1), 0), count = s.dim(s.input(1), 1);
  const std::vector<Line> lines = straight_rows(s.known_numbers(s.input(1)), rows);
  if (lines.empty() || s.dtype(x) != DType::float32 || s.rank(x) < 2) return {};
  // How many thresholds x reaches: a line, rounded down, between none and all.
  Dims to(static_cast<size_t>(s.rank(x)), 1);
  (s.text("data_layout", "NCHW").ends_with('C') ? to.back() : to[1]) = rows;
  std::vector<double> factors, addends;
  for (const Line& l : lines) {
    factors.push_back(1 / l.step);
    addends.push_back(1 - l.first / l.step);
  }
  TensorId y = s.add(op::kMul, "steps", {x, s.numbers("factors", to, factors)});
  y = s.add(op::kAdd, "from_first", {y, s.numbers("addends", to, addends)});
  y = s.add("Floor", "reached", {y});
  y = s.add(op::kClip, "bounded",
            {y, s.number("none", 0, DType::float32),
             s.number("all", static_cast<double>(count), DType::float32)});
  const double scale = s.real("out_scale", 1), bias = s.real("out_bias", 0);
  if (scale != 1) y = s.add(op::kMul, "scaled", {y, s.number("scale", scale, DType::float32)});
  if (bias != 0) y = s.add(op::kAdd, "shifted", {y, s.number("bias", bias, DType::float32)});
  return {y};
}

}  // namespace accsim::sim
