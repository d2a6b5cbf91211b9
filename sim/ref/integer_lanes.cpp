#include "sim/ref/integer_lanes.h"

#include <algorithm>

#include "sim/ref/integer_arithmetic.h"

namespace accsim::sim::ref {
namespace {

using sim::LaneArithmetic;
using sim::LaneGather;

class Lanes {
 public:
  explicit Lanes(const IntegerLanes& p) : p_(p), axes_(p.work.axes) {}

  std::vector<int8_t> compute_all() {
    index_.assign(axes_.size(), 0);
    walk_axis(0, 0);
    return std::move(out_);
  }

 private:
  /// All results of the axes from this one on; `b`: of the second operand.
  void walk_axis(size_t i, int64_t b) {
    if (i == axes_.size()) return out_.push_back(result_at(b));
    for (index_[i] = 0; index_[i] < axes_[i].count; ++index_[i])
      walk_axis(i + 1, b + index_[i] * axes_[i].b);
  }

  /// What is put together of `a` for a result, and of how many elements.
  struct Gathered {
    int64_t value = 0, count = 0;
  };
  void gather_axis(size_t i, int64_t from, Gathered& g) const {
    if (i == axes_.size()) {
      for (int64_t k = 0; k < p_.work.across; ++k) take_element(from + k, g);
      return;
    }
    const sim::LaneAxis& x = axes_[i];
    if (x.turned) return gather_axis(i + 1, from + (1 - index_[i]) * x.a, g);
    if (x.slide.is_plain()) return gather_axis(i + 1, from + index_[i] * x.a, g);
    for (int64_t k = 0; k < x.slide.kernel; ++k) {
      const int64_t in = index_[i] * x.slide.stride + k * x.slide.dilation - x.slide.pad;
      if (in >= 0 && in < x.slide.extent) gather_axis(i + 1, from + in * x.a, g);
    }
  }
  void take_element(int64_t element, Gathered& g) const {
    const int64_t v = p_.a[static_cast<size_t>(element)] - p_.a_zero;
    const bool first = g.count++ == 0;
    if (first)
      g.value = v;
    else if (p_.work.gather == LaneGather::min)
      g.value = std::min(g.value, v);
    else if (p_.work.gather == LaneGather::max)
      g.value = std::max(g.value, v);
    else
      g.value += v;
  }

  /// Taps that a mean counts, those that lie in the padding it counts among them.
  int64_t counted_elements() const {
    int64_t out = p_.work.across;
    for (size_t i = 0; i < axes_.size(); ++i) {
      const sim::LaneSlide& s = axes_[i].slide;
      if (s.is_plain()) continue;
      int64_t taps = 0;
      for (int64_t k = 0; k < s.kernel; ++k) {
        const int64_t in = index_[i] * s.stride + k * s.dilation - s.pad;
        taps += in >= s.counted_from && in < s.counted_to ? 1 : 0;
      }
      out *= taps;
    }
    return out;
  }

  /// Of a turned axis the first result has the opposite sign.
  bool is_negated() const {
    bool out = false;
    for (size_t i = 0; i < axes_.size(); ++i) out ^= axes_[i].turned && index_[i] == 0;
    return out;
  }

  int8_t result_at(int64_t b_element) const {
    Gathered g;
    gather_axis(0, 0, g);
    IntegerScale scale = p_.scale;
    if (p_.work.gather == LaneGather::mean && p_.mean) scale = p_.mean(counted_elements());
    const int64_t a = g.value * scale.multiplier;
    const int64_t b = p_.b.empty() ? 0 : p_.b[static_cast<size_t>(b_element)] - p_.b_zero;
    const int64_t exact = combine_operands(g.value, a, b, scale);
    const int64_t y = rounded_shift(is_negated() ? -exact : exact, scale.shift) + p_.out_zero;
    const int32_t v = clamp_int32(y, p_.low, p_.high);
    return static_cast<int8_t>(p_.table.empty() ? v : p_.table[static_cast<uint8_t>(v + 128)]);
  }
  int64_t combine_operands(int64_t value, int64_t a, int64_t b, const IntegerScale& scale) const {
    const int64_t scaled_b = b * p_.b_multiplier;
    switch (p_.work.op) {
      case LaneArithmetic::copy:
        return a;
      case LaneArithmetic::add:
        return a + scaled_b;
      case LaneArithmetic::sub:
        return a - scaled_b;
      case LaneArithmetic::sub_from:
        return scaled_b - a;
      case LaneArithmetic::mul:
        return value * b * scale.multiplier;
      case LaneArithmetic::min:
        return std::min(a, scaled_b);
      case LaneArithmetic::max:
        return std::max(a, scaled_b);
      case LaneArithmetic::mac:  // integer_product() has it
        break;
    }
    return a;
  }

  const IntegerLanes& p_;
  const std::vector<sim::LaneAxis>& axes_;
  std::vector<int64_t> index_;
  std::vector<int8_t> out_;
};

}  // namespace

std::vector<int8_t> integer_lanes(const IntegerLanes& p) { return Lanes(p).compute_all(); }

}  // namespace accsim::sim::ref
