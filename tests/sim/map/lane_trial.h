#pragma once
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <random>

#include "hw/golden/golden.h"
#include "hw/timing/timing.h"
#include "sim/map/cost_evaluator.h"
#include "tests/sim/map/lane_case.h"
#include "tests/support/machines.h"
#include "tests/support/timings.h"

namespace accsim::sim {

using test::as_index;

/// Random numbers of a test.
class Draw {
 public:
  explicit Draw(unsigned seed) : random(seed) {}
  int64_t of(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  }
  bool one_in(int64_t n) { return of(1, n) == 1; }
  template <class T>
  T any(std::initializer_list<T> values) {
    return *(values.begin() + of(0, std::ssize(values) - 1));
  }
  std::mt19937 random;
};

inline int64_t rounded(int64_t v, int64_t shift) {
  const int64_t half = shift > 0 ? int64_t{1} << (shift - 1) : 0;
  const int64_t size = ((v < 0 ? -v : v) + half) >> shift;
  return v < 0 ? -size : size;
}

inline LaneFactors random_factors(Draw& d) {
  LaneFactors f;
  f.a_zero = static_cast<int32_t>(d.of(-128, 127));
  f.b_zero = static_cast<int32_t>(d.of(-128, 127));
  f.a_multiplier = static_cast<int32_t>(d.of(-300, 300));
  f.b_multiplier = static_cast<int32_t>(d.of(-300, 300));
  f.shift = static_cast<int32_t>(d.of(0, 16));
  f.epilogue.zero = static_cast<int32_t>(d.of(-128, 127));
  f.epilogue.low = static_cast<int32_t>(d.of(-128, 0));
  f.epilogue.high = static_cast<int32_t>(d.of(0, 127));
  f.mean = [](int64_t n) { return LaneScale{static_cast<int32_t>(30000 / n + 1), 15}; };
  return f;
}

/// An op with its data: what its program is given and what it must give.
struct LaneTrial {
  LaneCase op;
  LaneProblem p;
  std::vector<bool> last;  ///< by port: channels innermost
  bool out_last = false;
  std::vector<std::vector<uint8_t>> inputs;  ///< by port
  std::vector<uint8_t> table;

  int64_t element(size_t port, At at) const {
    const Dims& dims = op.dims(port);
    at.erase(at.begin(), at.end() - std::ssize(dims));
    for (size_t d = 0; d < dims.size(); ++d)
      if (dims[d] == 1) at[d] = 0;
    return static_cast<int8_t>(inputs[port][place(dims, at, last[port])]);
  }

  /// By rtl/README.md, Lane command.
  uint8_t expected(const At& o) const {
    const LaneFactors& f = p.factors;
    const LaneWork& w = p.work;
    const auto gathers = [&](LaneGather g) { return w.gather == g; };
    const auto first = w.a_port.index();
    int64_t a = gathers(LaneGather::min) ? INT64_MAX : gathers(LaneGather::max) ? INT64_MIN : 0;
    for (const At& at : op.taps(o)) {
      const int64_t tap = element(first, at) - f.a_zero;
      a = gathers(LaneGather::min)   ? std::min(a, tap)
          : gathers(LaneGather::max) ? std::max(a, tap)
                                     : a + tap;
    }
    int64_t shift = f.shift, s = a * f.a_multiplier;
    if (gathers(LaneGather::mean)) {
      shift = 15;
      s = a * (30000 / op.divisor(o) + 1);
    }
    if (w.b_port.is_of_node()) {
      const int64_t b = element(w.b_port.index(), o) - f.b_zero;
      const std::string& name = op.node().op_type;
      const int64_t scaled = b * f.b_multiplier;
      s = name == "Add"   ? s + scaled
          : name == "Sub" ? (w.a_port == 0 ? s - scaled : scaled - s)
          : name == "Min" ? std::min(s, scaled)
          : name == "Max" ? std::max(s, scaled)
                          : s * b;
    }
    if (op.negated(o)) s = -s;
    const int64_t y =
        std::clamp<int64_t>(rounded(s, shift) + f.epilogue.zero, f.epilogue.low, f.epilogue.high);
    return w.table ? table[as_index(y + 128)] : static_cast<uint8_t>(y);
  }

  hw::MemoryImage image() const {
    hw::MemoryImage out{inputs[p.work.a_port.index()]};
    if (p.has_b()) out.push_back(inputs[p.work.b_port.index()]);
    if (p.work.table) out.push_back(table);
    out.emplace_back(as_index(elements(op.out)));
    return out;
  }
};

/// `last`: which inputs lie channels-last in memory; of constants, whether the result does.
inline std::optional<LaneTrial> trial(LaneCase op, std::vector<bool> last, bool out_last, Draw& d) {
  LaneTrial t;
  const auto work = op.work();
  if (!work) return std::nullopt;
  t.op = std::move(op);
  t.last = std::move(last);
  t.out_last = out_last;
  t.p = {*work, {"a"}, {"b"}, {"out"}, random_factors(d)};
  for (size_t i = 0; i < t.op.node().inputs.size(); ++i) {
    t.inputs.emplace_back();
    if (t.op.node().inputs[i] == kNoTensor) continue;
    t.inputs.back().resize(as_index(elements(t.op.dims(i))));
    for (uint8_t& b : t.inputs.back()) b = static_cast<uint8_t>(d.of(0, 255));
  }
  for (int i = 0; i < 256; ++i) t.table.push_back(static_cast<uint8_t>(d.of(0, 255)));
  return t;
}

/// A failed trial's op.
inline std::string described(const LaneTrial& t) {
  std::string out = t.op.node().op_type;
  for (size_t i = 0; i < t.op.node().inputs.size(); ++i)
    if (t.op.node().inputs[i] != kNoTensor) out += " " + accsim::to_string(t.op.dims(i));
  out += " to " + accsim::to_string(t.op.out) + ", across " + std::to_string(t.p.work.across);
  for (const LaneAxis& x : t.p.work.axes)
    out += fmt::format("; {} a {} b {} of {}: {} taps, stride {}, pad {}", x.count, x.a, x.b,
                       x.slide.extent, x.slide.kernel, x.slide.stride, x.slide.pad);
  return out + "\n";
}

/// What programs of a kind have been.
struct Seen {
  int programs = 0, cut = 0, held = 0, tables = 0, spread = 0, unrolled = 0;
};

/// Does the program of some way to cut it give what the op gives, and cost what it is said to?
inline void check_program(const LaneTrial& t, Draw& d, Seen& seen) {
  const hw::HwConfig hw = test::random_machine(d.random);
  LaneProblem p = t.p;
  const bool small = p.a_elements() + p.b_elements() + p.out_elements() < hw.shared.kib * 1024;
  for (Place* place : {&p.a, &p.b, &p.out})
    if (d.one_in(3) && small) place->memory = hw::MemoryId::shared;
  const int64_t spread = d.one_in(2) ? best_spread(p, hw) : 1;
  const int64_t chunks = d.of(1, d.one_in(2) ? 60 : 4);
  LaneTiling tiling{{}, d.one_in(2), spread, can_unroll(p, hw) && d.one_in(2)};
  tiling.tile = lane_tile(as_cut(p, tiling), hw, chunks);
  if (!fits(p, hw, tiling)) return;
  const hw::Program program = emit(p, hw, tiling);
  const Status good = verify(program, hw);
  ASSERT_TRUE(good) << good.errors().front().text() << described(t) << program_text(program);
  hw::MemoryImage image = t.image();
  const Status ran = hw::run_golden(program, hw, image);
  ASSERT_TRUE(ran) << ran.errors().front().text() << program_text(program);
  std::vector<uint8_t> wanted(image.back().size());
  for_indices(t.op.out,
              [&](const At& o) { wanted[place(t.op.out, o, t.out_last)] = t.expected(o); });
  ASSERT_EQ(image.back(), wanted) << described(t) << program_text(program);
  const Cost cost = CostEvaluator(hw).cost(p, tiling);
  ASSERT_TRUE(test::equal(cost.timing, hw::simulate(program, hw, hw::TimingMode::step)));
  ASSERT_EQ(cost.counts, count_program(program, hw));
  ASSERT_LE(lower_bound(p, hw, tiling), cost.timing.total.count()) << program_text(program);
  ++seen.programs;
  seen.cut += program.loops > 0;
  seen.held += tiling.b_once;
  seen.tables += p.work.table;
  seen.spread += spread > 1;
  seen.unrolled += tiling.unrolled;
}

}  // namespace accsim::sim
