#include "sim/advise/advise.h"

#include <algorithm>
#include <cmath>

#include "hw/area/area.h"
#include "hw/config/derive.h"
#include "hw/config/values.h"
#include "sim/sweep/field_setting.h"
#include "sim/sweep/space.h"

namespace accsim::sim {
namespace {

/// The steps in which a field's values are tried: whole numbers, thousandths of a byte a cycle,
/// millionths, of small numbers millionths of them.
struct Grid {
  double steps = 1;  ///< in 1, a power of ten
  int64_t base = 0, least = 0, most = 0;

  Grid(const hw::Field& field, double value) {
    if (std::holds_alternative<hw::Member<hw::ByteRate>>(field.target)) steps = 1e3;
    if (std::holds_alternative<hw::Member<double>>(field.target) ||
        std::holds_alternative<hw::Member<hw::DerivableNumber>>(field.target)) {
      steps = 1e6;
      for (double v = value; v > 0 && v < 1 && steps < 1e18; v *= 10) steps *= 10;
    }
    base = std::llround(value * steps);
    least = static_cast<int64_t>(std::ceil(field.min * steps - 1e-9));
    constexpr double kMost = 9e18;
    most = static_cast<int64_t>(std::min(kMost, std::floor(field.max * steps + 1e-9)));
  }
};

/// The machine with the field at a step of its grid.
hw::HwConfig machine_at_step(const hw::Field& field, const Grid& grid, int64_t at,
                             hw::HwConfig hw) {
  std::visit(
      hw::FieldCases{
          [&](const hw::Member<int64_t>& m) { m.of(hw) = at; },
          [&](const hw::Member<hw::ByteRate>& m) { m.of(hw).milli = at; },
          // A quotient of two exact numbers is the double that the text of it reads as.
          [&](const hw::Member<double>& m) { m.of(hw) = static_cast<double>(at) / grid.steps; },
          [&](const hw::Member<hw::DerivableNumber>& m) {
            m.of(hw) = static_cast<double>(at) / grid.steps;
          },
          [](const auto&) {},
      },
      field.target);
  derive(hw);
  return hw;
}

/// Nearest step to `target` that is legal; the base when there is none on its side of it.
int64_t nearest_legal(const hw::Field& field, const hw::HwConfig& hw, const Grid& grid,
                      int64_t target) {
  const auto legal = [&](int64_t at) {
    return broken_rule(machine_at_step(field, grid, at, hw)).empty();
  };
  const int64_t towards = target > grid.base ? -1 : 1;
  const auto inside = [&](int64_t at) {
    return at >= grid.least && at <= grid.most && (at - grid.base) * towards < 0;
  };
  constexpr int64_t kNear = 16;  // rules of divisibility: at most as many slots as a buffer has
  for (int64_t d = 1; d <= kNear; ++d)
    for (const int64_t at : {target + d * towards, target - d * towards})
      if (inside(at) && legal(at)) return at;
  int64_t good = grid.base, bad = target;
  while (std::abs(bad - good) > 1) {
    const int64_t middle = good + (bad - good) / 2;
    (legal(middle) ? good : bad) = middle;
  }
  return good;
}

bool smaller_is_better(const hw::Field& field) {
  return field.growth == hw::Growth::latency || field.growth == hw::Growth::price;
}

MachineCost machine_cost(const WorkloadTotals& totals, const hw::HwConfig& hw) {
  return {totals.cycles, static_cast<double>(totals.cycles) / hw.clock_mhz, totals.energy_pj,
          area_mm2(hw)};
}

void cost_move(const hw::Field& field, const Advice& advice, const MapOptions& options,
               Workload& workload, FieldMove& move) {
  choose_value(field, advice.hw, move);
  if (!move.refused.empty()) return;
  hw::HwConfig base = advice.hw;  // the table's accessors give references to change
  const Grid grid(field, as_number(field_setting(field, base)).value_or(0));
  const hw::HwConfig hw =
      machine_at_step(field, grid, std::llround(move.value * grid.steps), advice.hw);
  const auto totals = workload.cost(hw, options);
  if (!totals) {
    move.refused = totals.errors().front().text();
    return;
  }
  move.cost = machine_cost(*totals, hw);
  move.cycles_saved = advice.base.cycles - move.cost.cycles;
}

}  // namespace

int64_t FieldAdvice::best_saving() const {
  int64_t out = 0;
  bool any = false;
  for (const FieldMove& m : moves)
    if (m.refused.empty()) {
      out = any ? std::max(out, m.cycles_saved) : m.cycles_saved;
      any = true;
    }
  return out;
}

bool FieldAdvice::is_tried() const {
  return std::ranges::any_of(moves, [](const FieldMove& m) { return m.refused.empty(); });
}

bool FieldAdvice::changes_cycles() const {
  return std::ranges::any_of(moves, [](const FieldMove& m) { return m.cycles_saved != 0; });
}

void choose_value(const hw::Field& field, const hw::HwConfig& hw, FieldMove& move) {
  hw::HwConfig copy = hw;  // the table's accessors give references to change
  const double value = as_number(field_setting(field, copy)).value_or(0);
  const Grid grid(field, value);
  if (grid.base == 0) {
    move.refused = "is 0, which has no tenth and no half";
    return;
  }
  const int64_t side = move.wanted > value ? 1 : -1;
  int64_t at = std::clamp(std::llround(move.wanted * grid.steps),
                          static_cast<long long>(grid.least), static_cast<long long>(grid.most));
  if ((at - grid.base) * side <= 0) at = grid.base + side;
  if (at < grid.least || at > grid.most) {
    move.refused = "is at the end of its range, " + range_text(field);
    return;
  }
  if (std::string rule = broken_rule(machine_at_step(field, grid, at, hw)); !rule.empty()) {
    at = nearest_legal(field, hw, grid, at);
    (at == grid.base ? move.refused : move.illegal) = std::move(rule);
    if (at == grid.base) return;
  }
  copy = machine_at_step(field, grid, at, hw);
  move.value = as_number(field_setting(field, copy)).value_or(0);
  move.text = print_value(field, copy);
}

Result<Advice> advise(Workload& workload, const hw::HwConfig& hw, const MapOptions& options) {
  const auto base = workload.cost(hw, options);
  if (!base) return base.errors();
  Advice out;
  out.hw = hw;
  out.model_file = workload.graph().file;
  out.base = machine_cost(*base, hw);
  hw::HwConfig copy = hw;
  for (const hw::Field& field : hw::fields()) {
    const auto value = as_number(field_setting(field, copy));
    if (!value || !has_field(hw, field) || field.decides == hw::kDecidesPrograms) continue;
    FieldAdvice advice;
    advice.field = &field;
    advice.value = *value;
    advice.text = print_value(field, copy);
    advice.smaller = smaller_is_better(field);
    for (const Move m : {Move::tenth, Move::twofold}) {
      FieldMove& move = advice.moves[static_cast<size_t>(m)];
      const double factor =
          m == Move::tenth ? (advice.smaller ? 0.9 : 1.1) : (advice.smaller ? 0.5 : 2);
      move.wanted = *value * factor;
      cost_move(field, out, options, workload, move);
    }
    out.fields.push_back(std::move(advice));
  }
  std::ranges::stable_sort(out.fields, [](const FieldAdvice& x, const FieldAdvice& y) {
    return x.best_saving() > y.best_saving();
  });
  return out;
}

}  // namespace accsim::sim
