#include "sim/validate/predict.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <map>

#include "hw/area/area.h"
#include "hw/config/derive.h"
#include "sim/base/threads.h"
#include "sim/cost/cost.h"
#include "sim/sweep/space.h"
#include "sim/validate/row_fields.h"
#include "sim/validate/statistics.h"

namespace accsim::sim {
namespace {

/// Picojoules of all but DRAM.
double chip_pj(const WorkloadTotals& totals, const hw::HwConfig& hw) {
  return totals.energy_pj - hw.energy.dram_read_byte * static_cast<double>(totals.dram_read_bytes) -
         hw.energy.dram_write_byte * static_cast<double>(totals.dram_write_bytes);
}

double quantity_of(const ValidationPoint& point, const WorkloadTotals& totals,
                   const hw::HwConfig& hw) {
  const auto cycles = static_cast<double>(totals.cycles);
  const double us = cycles / hw.clock_mhz;
  const auto macs = static_cast<double>(totals.macs);
  switch (point.quantity) {
    case Quantity::cycles:
      return cycles;
    case Quantity::time_us:
      return us;
    case Quantity::time_ms:
      return us / 1e3;
    case Quantity::frames:
      return static_cast<double>(point.frames) / us * 1e6;
    case Quantity::tops:
      return 2 * macs / us / 1e6;
    case Quantity::utilisation:
      return 100 * macs / (cycles * static_cast<double>(hw.array.rows * hw.array.cols));
    case Quantity::power:
      return chip_pj(totals, hw) / us / 1e3;
    case Quantity::area:
    case Quantity::synthesis_area:
      break;  // no question of what it costs
  }
  return 0;
}

/// A point on variants of its machine.
class Predictor {
 public:
  /// Variants of the machine need the workload, unless areas are predicted.
  Predictor(const ValidationPoint& point, const KnownMachine& machine, const MapOptions& options,
            std::optional<Workload> workload)
      : point_(point), machine_(machine), options_(options), workload_(std::move(workload)) {
    if (!point.banks.empty()) pin_banks();
    if (point.unit) pin_unit();
    if (!point.technology) return;
    machine_.hw.energy.technology = *point.technology;
    derive(machine_.hw);
  }

  Result<double> predict_on(const hw::HwConfig& hw) {
    if (point_.kind != nullptr) {
      const auto cycles = point_.kind->cycles(point_.sizes, hw);
      if (!cycles) return cycles.errors();
      return static_cast<double>(cycles->count());
    }
    if (point_.quantity == Quantity::area) return machine_area(hw).die_mm2();
    if (point_.quantity == Quantity::synthesis_area) return machine_area(hw).synthesis_mm2();
    const auto totals = workload_->cost(hw, options_);
    if (!totals) return totals.errors();
    return quantity_of(point_, *totals, hw);
  }

  Result<Prediction> make_prediction(bool interval) {
    Prediction out;
    const bool direct = is_area(point_.quantity) || point_.kind != nullptr;
    const auto base = direct ? predict_on(machine_.hw) : report_base(out);
    if (!base) return base.errors();
    out.predicted = out.low = out.high = *base;
    if (!interval) return out;
    hw::HwConfig least = machine_.hw, most = machine_.hw;
    for (const FieldOrigin& origin : machine_.origins) {
      if (!origin.is_assumed() || !has_effect(*origin.field)) continue;
      if (const Status good = move_field(origin, out, least, most); !good) return good.errors();
    }
    for (const hw::HwConfig& corner : {least, most}) {
      const auto value = predict_variant(corner);
      if (!value) return value.errors();
      if (*value) widen_range(**value, out.low, out.high);
    }
    std::ranges::stable_sort(out.effects, std::ranges::greater{},
                             [](const FieldEffect& e) { return e.high - e.low; });
    return out;
  }

 private:
  /// The prediction on the machine itself by the main job, which knows what bounds the workload.
  Result<double> report_base(Prediction& out) {
    const auto network = cost_network(point_.graph, machine_.hw, options_);
    if (!network) return network.errors();
    const Costs& c = network->report.totals;
    out.bound = network->report.bound;
    out.macs = c.macs;
    if (workload_) return predict_on(machine_.hw);  // to the last digit as on its variants
    WorkloadTotals totals;
    totals.cycles = c.cycles;
    totals.energy_pj = c.energy.total_pj();
    totals.macs = c.macs;
    totals.dram_read_bytes = c.dram_read;
    totals.dram_write_bytes = c.dram_write;
    return quantity_of(point_, totals, machine_.hw);
  }

  /// What is assumed of energies decides powers alone, and nothing where the point says of which
  /// technology it is.
  bool has_effect(const hw::Field& field) const {
    if ((field.decides & hw::kDecidesPrograms) == 0 && point_.kind != nullptr) return false;
    if (field.decides == hw::kDecidesPrograms) return point_.kind != nullptr;
    const bool technology = std::holds_alternative<hw::Member<hw::Technology>>(field.target);
    if (technology && point_.technology) return false;
    if (technology && is_area(point_.quantity)) return true;
    return field.decides != hw::kDecidesEnergy || point_.quantity == Quantity::power;
  }

  /// All products divide the banks as the point says.
  void pin_banks() {
    MappingPin pin;
    pin.text = fmt::format("b{}x{}", point_.banks[0], point_.banks[1]);
    pin.banks = point_.banks;
    pin.rereads = point_.rereads;
    if (pin.rereads) pin.text += " reread";
    options_.pins.push_back(std::move(pin));
  }

  /// Nothing where operands that lie on chip don't fit: such a machine can't have been measured.
  Result<std::optional<double>> predict_variant(const hw::HwConfig& hw) {
    const auto value = predict_on(hw);
    if (value) return std::optional(*value);
    if (!point_.graph.on_chip.empty() && value.errors().front().code == Errc::capacity)
      return std::optional<double>();
    return value.errors();
  }

  /// All pooling, LRN and point-wise layers have the strips, stages and bypass that the point says.
  void pin_unit() {
    MappingPin pin;
    pin.text = "as its row says";
    pin.unit = point_.unit;
    options_.pins.push_back(std::move(pin));
  }

  static void widen_range(double value, double& low, double& high) {
    low = std::min(low, value);
    high = std::max(high, value);
  }

  /// Moves one field alone, and the corners' by what that shows.
  Status move_field(const FieldOrigin& origin, Prediction& out, hw::HwConfig& least,
                    hw::HwConfig& most) {
    FieldEffect effect{origin.field->path, out.predicted, out.predicted};
    std::string smaller, larger;
    for (const std::string& text : origin.range) {
      const auto value = predict_variant(with_assumed(machine_.hw, origin, text));
      if (!value) return value.errors();
      if (!*value) continue;
      if (**value < effect.low) smaller = text;
      if (**value > effect.high) larger = text;
      widen_range(**value, effect.low, effect.high);
    }
    const auto turn = [&](const std::string& text, hw::HwConfig& corner) {
      if (text.empty()) return;
      const hw::HwConfig turned = with_assumed(corner, origin, text);
      if (broken_rule(turned).empty()) corner = turned;
    };
    turn(smaller, least);
    turn(larger, most);
    widen_range(effect.low, out.low, out.high);
    widen_range(effect.high, out.low, out.high);
    if (effect.low < effect.high) out.effects.push_back(std::move(effect));
    return ok();
  }

  const ValidationPoint& point_;
  KnownMachine machine_;
  MapOptions options_;
  std::optional<Workload> workload_;
};

/// MACs of a workload, of whatever machine.
Result<int64_t> macs_of(const Graph& graph) {
  const auto workload = Workload::prepare(graph);
  if (!workload) return workload.errors();
  int64_t out = 0;
  for (const Layer& layer : workload->lowered().layers) out += layer.macs;
  return out;
}

/// Of a row whose kind says its cycles.
Result<Prediction> row_prediction(const ValidationPoint& point, const KnownMachine& machine,
                                  const MapOptions& options, bool interval) {
  const auto macs = macs_of(point.graph);
  if (!macs) return macs.errors();
  auto out = Predictor(point, machine, options, std::nullopt).make_prediction(interval);
  if (out) out->macs = *macs;
  return out;
}

/// The point on its machine, which has what its row sets.
Result<Prediction> predict_on_machine(const ValidationPoint& point, const KnownMachine& machine,
                                      const MapOptions& options, bool interval) {
  if (point.kind != nullptr) return row_prediction(point, machine, options, interval);
  if (is_area(point.quantity) || !interval)
    return Predictor(point, machine, options, std::nullopt).make_prediction(interval);
  auto workload = Workload::prepare(point.graph);
  if (!workload) return workload.errors();
  return Predictor(point, machine, options, std::move(*workload)).make_prediction(interval);
}

/// What is wrong with a point, at its row where it has one: a row's pins are no option.
Error error_of_point(const ValidationPoint& point, Error e) {
  e.message = point.name + ": " + e.message;
  if (point.is_row()) e.where = fmt::format("{}:{}:1", point.table_file, point.table_line);
  return e;
}

void add_to_summary(const ValidationPoint& point, const Prediction& p, ErrorSummary& out) {
  const double error = p.relative_error(point.measured);
  if (out.points == 0 || std::abs(error) > std::abs(out.worst)) {
    out.worst = error;
    out.worst_point = point.name;
  }
  const auto n = static_cast<double>(++out.points);
  out.mean_absolute += (std::abs(error) - out.mean_absolute) / n;
  out.mean += (error - out.mean) / n;
  if (p.low <= point.measured && point.measured <= p.high) ++out.inside;
}

constexpr int kNoMacs = -1;

/// Largest power of ten that isn't above the MACs.
int decade_of(int64_t macs) {
  int out = kNoMacs;
  for (; macs > 0; macs /= 10) ++out;
  return out;
}

std::string decade_name(int decade) {
  if (decade == kNoMacs) return "no MACs";
  return fmt::format("1e{}..1e{} MACs", decade, decade + 1);
}

ErrorSummary& group_of(const std::string& name, std::vector<GroupSummary>& groups) {
  const auto at = std::ranges::find(groups, name, &GroupSummary::name);
  if (at != groups.end()) return at->summary;
  return groups.emplace_back(GroupSummary{name, {}}).summary;
}

void summarise_groups(ValidatedSource& s) {
  std::map<int, ErrorSummary> decades;
  for (size_t i = 0; i < s.source.points.size(); ++i) {
    const ValidationPoint& point = s.source.points[i];
    const Prediction& p = s.predictions[i];
    if (!point.family.empty()) add_to_summary(point, p, group_of(point.family, s.families));
    if (point.is_row()) add_to_summary(point, p, decades[decade_of(p.macs)]);
  }
  for (auto& [decade, summary] : decades)
    s.sizes.push_back({decade_name(decade), std::move(summary)});
}

void summarise_source(ValidatedSource& s, Validation& all) {
  std::vector<double> predicted, measured;
  for (size_t i = 0; i < s.source.points.size(); ++i) {
    const ValidationPoint& point = s.source.points[i];
    add_to_summary(point, s.predictions[i], s.summary);
    add_to_summary(point, s.predictions[i], point.is_row() ? s.rows : s.figures);
    if (is_of_time(point.quantity) && !point.is_row())
      add_to_summary(point, s.predictions[i], s.source.fitted ? all.fitted : all.unfitted);
    const ValidationPoint& first = s.source.points.front();
    if (point.quantity != first.quantity || point.is_row() != first.is_row()) continue;
    predicted.push_back(s.predictions[i].predicted);
    measured.push_back(point.measured);
  }
  summarise_groups(s);
  s.rank = rank_correlation(predicted, measured);
  if (const auto r = pearson_correlation(predicted, measured)) s.r2 = *r * *r;
}

}  // namespace

Result<Prediction> predict_row(const ValidationPoint& point) {
  const auto macs = macs_of(point.graph);
  if (!macs) return macs.errors();
  Prediction out;
  out.macs = *macs;
  out.bound = point.row_cost->bound;
  out.predicted = out.low = out.high = point.row_cost->cycles;
  return out;
}

Result<Prediction> predict_point(const ValidationPoint& point, const KnownMachine& machine,
                                 const MapOptions& options, bool interval) {
  if (point.set.empty()) return predict_on_machine(point, machine, options, interval);
  KnownMachine own = machine;
  if (const Status good = apply_row(point, own.hw); !good) return good.errors();
  for (FieldOrigin& origin : own.origins)  // what the row says is assumed no more
    if (std::ranges::find(point.set, origin.field, &RowSetting::field) != point.set.end())
      origin.range.clear();
  return predict_on_machine(point, own, options, interval);
}

Result<Validation> validate_sources(std::vector<ValidationSource> sources,
                                    const MapOptions& options, bool interval, int threads) {
  struct Task {
    size_t source, point;
  };
  std::vector<Task> tasks;
  std::vector<std::vector<std::optional<Result<Prediction>>>> results(sources.size());
  for (size_t s = 0; s < sources.size(); ++s) {
    results[s].resize(sources[s].points.size());
    for (size_t p = 0; p < sources[s].points.size(); ++p) tasks.push_back({s, p});
  }
  std::atomic<size_t> next = 0;
  const auto work = [&](int) {
    for (size_t i = next++; i < tasks.size(); i = next++) {
      const auto [s, p] = tasks[i];
      const ValidationPoint& point = sources[s].points[p];
      results[s][p].emplace(point.row_cost
                                ? predict_row(point)
                                : predict_point(point, sources[s].machines.at(point.machine_file),
                                                options, interval));
    }
  };
  {
    Threads others(threads - 1, work);
    work(0);
    others.join();
  }
  Validation out;
  out.interval = interval;
  Errors errors;
  for (size_t s = 0; s < sources.size(); ++s) {
    ValidatedSource done;
    for (size_t p = 0; p < results[s].size(); ++p) {
      Result<Prediction>& r = *results[s][p];
      if (r)
        done.predictions.push_back(std::move(*r));
      else
        for (const Error& e : r.errors()) errors.push_back(error_of_point(sources[s].points[p], e));
    }
    done.source = std::move(sources[s]);
    out.sources.push_back(std::move(done));
  }
  if (!errors.empty()) return errors;
  for (ValidatedSource& s : out.sources) summarise_source(s, out);
  return out;
}

}  // namespace accsim::sim
