#include "sim/sweep/box_bounds.h"

#include <algorithm>
#include <cmath>

#include "hw/area/area.h"
#include "hw/config/derive.h"
#include "hw/config/values.h"
#include "sim/lower/lower.h"

namespace accsim::sim {
namespace {

using hw::Growth;

bool affects_question(Growth g, Question q) {
  if (g == Growth::clock || g == Growth::none) return false;
  if (q == Question::traffic) return g == Growth::memory;
  return g != Growth::price || q == Question::energy;
}

/// Least and most that a field is anywhere in the space.
std::pair<double, double> range_of(const SweepSpec& spec, const hw::Field& field) {
  hw::HwConfig base = spec.base;
  std::vector<double> all;
  for (const Axis& axis : spec.axes)
    for (size_t k = 0; k < axis.fields.size(); ++k)
      if (axis.fields[k] == &field)
        for (const AxisStep& step : axis.steps)
          all.push_back(as_number(step.fields[k]).value_or(0));
  if (all.empty()) all.push_back(as_number(field_setting(field, base)).value_or(0));
  const auto [low, high] = std::minmax_element(all.begin(), all.end());
  return {*low, *high};
}

template <class Asks>
bool has_axis(const SweepSpec& spec, Asks asks) {
  for (const Axis& axis : spec.axes)
    for (const hw::Field* f : axis.fields)
      if (asks(*f)) return true;
  return false;
}

/// Does an axis vary a word that these prices follow from?
bool prices_vary(const SweepSpec& spec, hw::Prices prices) {
  return has_axis(spec, [prices](const hw::Field& f) { return (f.prices & prices) != 0; });
}

/// Are there machines whose energies follow from their technology?
bool has_technology(const SweepSpec& spec) {
  return spec.base.energy.technology != hw::Technology::custom ||
         has_axis(spec, [](const hw::Field& f) {
           return std::holds_alternative<hw::Member<hw::Technology>>(f.target);
         });
}

const hw::Field& shared_kib() {
  static const hw::HwConfig any;
  static const hw::Field& field = hw::field_at(any, any.shared.kib);
  return field;
}

/// Do sizes of memories decide what a byte costs, and does that count? Then more memory can be
/// worse, and more copies of it.
bool sizes_are_prices(const SweepSpec& spec) {
  const auto asks = [&](Metric m) { return std::ranges::count(spec.objectives, m) > 0; };
  return has_technology(spec) && (asks(Metric::energy) || asks(Metric::edp));
}

/// Where a byte in the shared memory costs more than one in DRAM, more of it can cost energy.
bool shared_is_dear(const SweepSpec& spec) {
  const hw::EnergyConfig& e = spec.base.energy;
  const auto range = [&](const hw::DerivableNumber& price) {
    return range_of(spec, hw::field_at(spec.base, price));
  };
  return range(e.shared_byte).second >
         std::min(range(e.dram_read_byte).first, range(e.dram_write_byte).first);
}

const AxisStep& step_of(const Axis& axis, int i) { return axis.steps[static_cast<size_t>(i)]; }

/// Componentwise the best rates and latency, or the worst, of a DRAM between two machines.
hw::ChannelConfig extreme_peak(const std::vector<hw::DramPreset>& presets, const hw::HwConfig& low,
                               const hw::HwConfig& high, bool largest) {
  std::optional<hw::ChannelConfig> out;
  const auto take = [largest](auto& now, auto value) {
    now = largest ? std::max(now, value) : std::min(now, value);
  };
  for (const hw::DramPreset preset : presets)
    for (int corner = 0; corner < 4; ++corner) {  // rates and latency are monotonic in each
      hw::BankedDram d = low.banked;
      d.preset = preset;
      d.channels = (corner & 1 ? high : low).banked.channels;
      const hw::ChannelConfig peak = d.peak_channel((corner & 2 ? high : low).clock_mhz);
      if (!out) out = peak;
      take(out->read.milli, peak.read.milli);
      take(out->write.milli, peak.write.milli);
      take(out->latency, peak.latency);
    }
  return *out;
}

/// Modes beside their own types that machines of the sweep have.
std::vector<hw::TypeMode> all_modes(const SweepSpec& spec) {
  std::vector<hw::TypeMode> out = spec.base.types.modes;
  for (const Axis& axis : spec.axes)
    for (const AxisStep& step : axis.steps)
      for (const FieldSetting& v : step.fields)
        if (const auto* modes = std::get_if<std::vector<hw::TypeMode>>(&v))
          out.insert(out.end(), modes->begin(), modes->end());
  return out;
}

/// Bytes of a weight in memory, at least, on any machine of the sweep.
double least_weight(const SweepSpec& spec) {
  for (const hw::TypeMode& m : all_modes(spec))
    if (is_packed(m.weight)) return 0.5;
  const hw::Field* const weight = &hw::field_at(spec.base, spec.base.types.weight);
  if (has_axis(spec, [weight](const hw::Field& f) { return &f == weight; })) return 0.5;
  return spec.base.narrow_weights() ? 0.5 : 1;
}

}  // namespace

int64_t MachineBox::point_count() const {
  int64_t out = 1;
  for (size_t a = 0; a < low.size(); ++a) out *= high[a] - low[a] + 1;
  return out;
}

BoxBounds::BoxBounds(const SweepSpec& spec) : spec_(spec), space_(spec) {
  const bool dear_shared = shared_is_dear(spec), prices = sizes_are_prices(spec);
  const hw::Field& fill_rows = hw::field_at(spec.base, spec.base.array.fill_rows);
  for (const Axis& axis : spec.axes) {
    auto& differs = unordered_.emplace_back(axis.steps.size(), false);
    for (size_t i = 1; i < axis.steps.size(); ++i)
      for (size_t k = 0; k < axis.fields.size(); ++k) {
        const Growth g = growth_on(*axis.fields[k], spec.base);
        const bool tiles = g == Growth::memory && spec.mapping.effort == MapEffort::rule;
        const bool dear = dear_shared && axis.fields[k] == &shared_kib();
        const bool priced = prices && (g == Growth::memory || axis.fields[k] == &fill_rows);
        if (g != Growth::none && !tiles && !dear && !priced) continue;
        if (axis.steps[i - 1].fields[k] != axis.steps[i].fields[k]) differs[i] = true;
      }
  }
  for (const SweepModel& model : spec.models) {
    const Result<Lowered> lowered = lower(model.graph);
    if (!lowered) continue;
    for (const sim::Layer& l : lowered->layers)
      for (const WorkItem& item : l.work) {
        const auto* op = std::get_if<GemmOp>(&item);
        if (op == nullptr) continue;
        const bool constant = op->b_port.is_within(l.inputs.size()) &&
                              l.inputs[op->b_port.index()] >= 0 &&
                              spec.base.shared.weights == hw::RunWeights::read &&
                              model.graph.tensor(l.inputs[op->b_port.index()]).constant;
        const double weights = static_cast<double>(op->k()) * static_cast<double>(op->outputs) *
                               static_cast<double>(op->b_shared ? 1 : op->batch);
        layers_.push_back({static_cast<double>(op->macs()),
                           constant ? weights * least_weight(spec) : 0,
                           static_cast<double>(model.weight)});
      }
  }
}

/// Of two sizes of the shared buffer the larger may leave less room to stage in, as more tensors
/// lie there: then only a machine with all the room is a bound.
bool BoxBounds::shared_differs(const MachineBox& r) const {
  for (size_t a = 0; a < r.low.size(); ++a)
    for (const hw::Field* f : spec_.axes[a].fields)
      if (f == &shared_kib() && r.low[a] != r.high[a]) return true;
  return false;
}

int BoxBounds::unordered_axis(const MachineBox& r) const {
  for (size_t a = 0; a < r.low.size(); ++a)
    for (int i = r.low[a] + 1; i <= r.high[a]; ++i)
      if (unordered_[a][static_cast<size_t>(i)]) return static_cast<int>(a);
  return -1;
}

/// The low corner with each number at its largest or smallest.
hw::HwConfig BoxBounds::extreme_machine(const MachineBox& r, bool largest) const {
  hw::HwConfig out = space_.machine_at(r.low);
  for (size_t a = 0; a < r.low.size(); ++a) {
    const Axis& axis = spec_.axes[a];
    for (size_t k = 0; k < axis.fields.size(); ++k) {
      const FieldSetting* best = &step_of(axis, r.low[a]).fields[k];
      if (!as_number(*best)) continue;
      for (int i = r.low[a] + 1; i <= r.high[a]; ++i) {
        const FieldSetting& v = step_of(axis, i).fields[k];
        if (largest ? as_number(v) > as_number(*best) : as_number(v) < as_number(*best)) best = &v;
      }
      set_field(*axis.fields[k], *best, out);
    }
  }
  derive(out);
  return out;
}

hw::HwConfig BoxBounds::best_machine(const MachineBox& r, bool largest) const {
  hw::HwConfig out = extreme_machine(r, largest);
  if (out.dram_model != hw::DramModel::banked) return out;
  // What follows from several fields isn't at its best where they all are at their largest.
  std::vector<hw::DramPreset> presets = {out.banked.preset};
  for (size_t a = 0; a < r.low.size(); ++a)
    for (int i = r.low[a]; i <= r.high[a]; ++i)
      for (const FieldSetting& v : step_of(spec_.axes[a], i).fields)
        if (const auto* preset = std::get_if<hw::DramPreset>(&v)) presets.push_back(*preset);
  out.dram = extreme_peak(presets, extreme_machine(r, false), extreme_machine(r, true), largest);
  return out;
}

Relaxed BoxBounds::relaxed_machine(const MachineBox& r, Question q) const {
  Relaxed out;
  AxisSteps corner = r.high;
  bool corners = !shared_differs(r);
  hw::HwConfig most = best_machine(r, true), least = best_machine(r, false);
  out.hw = space_.machine_at(r.high);
  for (size_t a = 0; a < r.low.size(); ++a) {
    const Axis& axis = spec_.axes[a];
    std::vector<FieldSetting> wanted;
    for (const hw::Field* f : axis.fields) {
      const Growth g = growth_on(*f, spec_.base);
      hw::HwConfig& from = g == Growth::latency || g == Growth::price ? least : most;
      wanted.push_back(field_setting(*f, from));
      if (affects_question(g, q)) set_field(*f, wanted.back(), out.hw);
    }
    // A step that has all of this axis's fields at their best; the first, as what doesn't matter
    // for cycles is mostly cheaper there.
    const auto fits = [&](int i) {
      for (size_t k = 0; k < axis.fields.size(); ++k)
        if (affects_question(growth_on(*axis.fields[k], spec_.base), q) &&
            step_of(axis, i).fields[k] != wanted[k])
          return false;
      return true;
    };
    int found = r.low[a];
    while (found <= r.high[a] && !fits(found)) ++found;
    corners &= found <= r.high[a];
    corner[a] = std::min(found, r.high[a]);
  }
  derive(out.hw);
  out.effort = spec_.mapping.effort;
  const Objective asked = q == Question::cycles   ? Objective::cycles
                          : q == Question::energy ? Objective::energy
                                                  : Objective::traffic;
  // A point that has taken slack isn't the least that its machine can do.
  const bool slack =
      asked == Objective::cycles && spec_.mapping.slack > 0 && out.effort != MapEffort::rule;
  if (corners && spec_.mapping.objective == asked && !slack && space_.size() > 0)
    out.point = space_.point_of_steps(corner);
  if (out.point >= 0) out.hw = space_.machine_at(corner);
  return out;
}

double BoxBounds::least_cycles(const MachineBox& r) const {
  const hw::HwConfig most = best_machine(r, true);
  double elements = static_cast<double>(most.array.rows) * static_cast<double>(most.array.cols);
  double rate = 1;
  for (const hw::TypeMode& m : all_modes(spec_)) rate = std::max(rate, m.rate);
  elements = elements * rate + static_cast<double>(most.vector.mac_lanes);
  double array = 0, dram = 0;  // a layer's weights may come while the one before computes
  for (const Layer& l : layers_) {
    array += l.times * l.macs / elements;
    dram += l.times * l.weight_bytes / std::max(most.dram.read.value(), 1e-3);
  }
  return std::max(array, dram) * (1 - 1e-9);
}

double BoxBounds::least_energy(const MachineBox& r) const {
  // Energies that follow from words have no least machine.
  if (has_technology(spec_) && prices_vary(spec_, hw::kPricesEnergies)) return 0;
  const hw::HwConfig least = best_machine(r, false);
  // Longer columns of dot products share the registers of a sum. More zeros take less.
  const hw::HwConfig most = best_machine(r, true);
  double mac = std::min(least.energy.mac.value, most.energy.mac.value);
  double out = least.energy.static_per_cycle * least_cycles(r);
  for (const hw::TypeMode& m : all_modes(spec_)) mac = std::min(mac, m.mac.value);
  // Lanes leave out the taps in the padding, of which nobody knows here how many there are.
  if (most.vector.mac_lanes > 0) mac = 0;
  for (const Layer& l : layers_)
    out += l.times *
           (l.macs * most.energy.with_zeros(mac) + l.weight_bytes * least.energy.dram_read_byte);
  return out * (1 - 1e-9);
}

double BoxBounds::least_area(const MachineBox& r) const {
  if (prices_vary(spec_, hw::kPricesArea)) return 0;
  if (has_technology(spec_) && prices_vary(spec_, hw::kPricesTechnologyArea)) return 0;
  hw::HwConfig least = best_machine(r, false);
  double out = area_mm2(least);
  for (size_t a = 0; a < r.low.size(); ++a)
    for (int i = r.low[a]; i <= r.high[a]; ++i)
      for (const FieldSetting& v : step_of(spec_.axes[a], i).fields) {
        const auto* node = std::get_if<hw::Technology>(&v);
        if (!node) continue;
        least.energy.technology = *node;
        out = std::min(out, area_mm2(least));
      }
  return out * (1 - 1e-12);
}

double BoxBounds::least_sram(const MachineBox& r) const {
  return static_cast<double>(sram_bytes(best_machine(r, false)));
}

double BoxBounds::most_mhz(const MachineBox& r) const { return best_machine(r, true).clock_mhz; }

int BoxBounds::widest_axis(const MachineBox& r) const {
  const bool area = std::find(spec_.objectives.begin(), spec_.objectives.end(), Metric::area) !=
                    spec_.objectives.end();
  const auto price = [&](const MachineBox& of) { return area ? least_area(of) : least_sram(of); };
  const double base = price(r);
  int out = -1;
  double widest = -1;
  for (size_t a = 0; a < r.low.size(); ++a) {
    const int steps = r.high[a] - r.low[a];
    if (steps <= 0) continue;
    MachineBox above = r;
    above.low[a] = r.low[a] + steps / 2 + 1;
    const double width = price(above) - base + 1e-6 * steps * base;
    if (width > widest) {
      widest = width;
      out = static_cast<int>(a);
    }
  }
  return out;
}

}  // namespace accsim::sim
