#include "sim/report/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/report/real.h"

namespace accsim::sim {
namespace {

using Getter = std::function<FieldValue(const ReportRow&)>;

constexpr FieldScope kLayer = FieldScope::layer;
constexpr FieldScope kTotals = FieldScope::totals;
constexpr FieldScope kBoth = FieldScope::both;

FieldValue finite_or_none(double value) {
  if (!std::isfinite(value)) return {};
  return value;
}

FieldValue ratio_or_none(double value, double base) {
  if (!(base > 0)) return {};
  return finite_or_none(value / base);
}

Getter energy_getter(double EnergyReport::*member) {
  return [member](const ReportRow& r) { return finite_or_none(r.costs.energy.*member); };
}

/// The fields in their order.
struct List {
  std::vector<ReportField> fields;

  void add(std::string key, std::string unit, std::string description, FieldScope scope, Getter get,
           std::vector<TextColumn> text = {}) {
    fields.push_back({std::move(key), std::move(unit), std::move(description), scope,
                      std::move(get), std::move(text)});
  }
  void add_cost(std::string key, std::string unit, std::string description, int64_t Costs::*member,
                std::vector<TextColumn> text = {}) {
    add(
        std::move(key), std::move(unit), std::move(description), kBoth,
        [member](const ReportRow& r) -> FieldValue { return r.costs.*member; }, std::move(text));
  }
  void add_words(std::string key, std::string description, std::string LayerReport::*member,
                 std::vector<TextColumn> text = {}) {
    add(
        std::move(key), "", std::move(description), kLayer,
        [member](const ReportRow& r) -> FieldValue { return r.layer->*member; }, std::move(text));
  }
};

double row_seconds(const ReportRow& r) { return r.report.seconds(r.costs.cycles); }

double dram_bytes(const Costs& c) { return real(c.dram_read) + real(c.dram_write); }

double sram_bytes(const Costs& c) {
  double bytes = real(c.shared_read) + real(c.shared_write);
  for (size_t i = 0; i < hw::kBuffers; ++i)
    bytes += real(c.buffer_read[i]) + real(c.buffer_write[i]);
  return bytes;
}

/// The lower of the array's peak and what the DRAM traffic leaves at full rate in its slower
/// direction, in GMAC/s.
FieldValue attainable_rate(const ReportRow& r) {
  if (r.costs.macs == 0) return {};
  double per_cycle = r.report.peak_macs_per_cycle(r.costs);
  if (r.costs.dram_bound > 0)
    per_cycle = std::min(per_cycle, real(r.costs.macs) / real(r.costs.dram_bound));
  return finite_or_none(per_cycle * r.report.hw.clock_mhz * 1e-3);
}

void add_identity(List& list) {
  list.add_words("name", "name of the graph node", &LayerReport::name, {{"layer", "", 0}});
  list.add_words("op_type", "ONNX operator", &LayerReport::op_type, {{"op", "", 2}});
  list.add("fate", "", "fate of the node: gemm, vector, memory, view, folded, unsupported", kLayer,
           [](const ReportRow& r) -> FieldValue { return std::string(name(r.layer->fate)); },
           {{"fate", "", 9}});
  list.add_words(
      "module",
      "module of the network's source; PyTorch's exporters write it into the file, or the node's "
      "name has it",
      &LayerReport::module);
  list.add_words("part_of",
                 "node of the model that it is a part of, where attention was cut into blocks",
                 &LayerReport::part_of);
  list.add_words("merged_into", "layer whose program does the work of a folded layer",
                 &LayerReport::merged_into);
  list.add("output_shape", "", "shape of the first output", kLayer,
           [](const ReportRow& r) -> FieldValue { return r.layer->output_shape; },
           {{"output", "", 10}});
  list.add("input_shapes", "", "shapes of the inputs", kLayer,
           [](const ReportRow& r) -> FieldValue { return r.layer->input_shapes; });
  list.add_words("mapping", "tilings chosen", &LayerReport::mapping);
  list.add_words("unverifiable", "reason why some cycles aren't verifiable",
                 &LayerReport::unverifiable);
  list.add_words("types",
                 "types of activations and weights of its products, on a machine of several modes",
                 &LayerReport::types);
  list.add_words("types_note", "reason why these types aren't the operands' own",
                 &LayerReport::types_note);
}

void add_time(List& list) {
  list.add_cost(
      "cycles", "cycles",
      "cycles from the last stored byte of all layers before it to its own last stored byte",
      &Costs::cycles, {{"cycles", "", 0, TextStyle::count}});
  list.add("seconds", "s", "time of one run", kBoth,
           [](const ReportRow& r) { return finite_or_none(row_seconds(r)); },
           {{"time", "us", 4, TextStyle::fixed, 1e6, 2}});
  list.add("inferences_per_second", "1/s", "runs of the whole graph per second", kTotals,
           [](const ReportRow& r) { return ratio_or_none(1, row_seconds(r)); });
  list.add_cost("alone_cycles", "cycles", "cycles of a layer that runs alone, on a machine at rest",
                &Costs::alone_cycles);
  list.add_cost("verifiable_cycles", "cycles",
                "part of cycles: layers that golden and the RTL core can run",
                &Costs::verifiable_cycles);
  list.add_cost("compute_cycles", "cycles", "cycles in which the layer's main unit is busy",
                &Costs::compute_cycles);
  list.add_cost("vector_cycles", "cycles", "part of compute_cycles: work on the vector unit",
                &Costs::vector_cycles);
  list.add_cost("move_cycles", "cycles", "part of compute_cycles: work that only moves bytes",
                &Costs::move_cycles);
  list.add("stall_cycles", "cycles",
           "cycles in which the main unit isn't busy: the waits and the tail", kBoth,
           [](const ReportRow& r) -> FieldValue { return r.costs.stall_cycles(); },
           {{"stall", "cycles", 11, TextStyle::si}});
  for (size_t i = 0; i < hw::kWaits; ++i) {
    const std::string_view why = name(static_cast<hw::Wait>(i));
    list.add(fmt::format("stall_{}_cycles", why), "cycles",
             fmt::format("cycles in which the main unit waits: {}", why), kBoth,
             [i](const ReportRow& r) -> FieldValue { return r.costs.stalls[i]; });
  }
  list.add_cost("tail_cycles", "cycles", "cycles after the main unit's last work",
                &Costs::tail_cycles);
}

/// What the cycles can't be below, and how far they are from it.
void add_least(List& list) {
  list.add_cost("compute_bound_cycles", "cycles",
                "cycles of the MACs or vector operations at full rate", &Costs::compute_bound);
  list.add_cost("vector_bound_cycles", "cycles",
                "part of compute_bound_cycles: the vector operations", &Costs::vector_bound);
  list.add_cost("weight_port_cycles", "cycles",
                "cycles in which stationary operands, weights or activations, go into the array",
                &Costs::preload_busy);
  list.add_cost(
      "dram_bound_cycles", "cycles",
      "cycles of the DRAM traffic at full rate, in the slower direction; for a layer in pieces, "
      "the sum over its pieces",
      &Costs::dram_bound);
  list.add_cost(
      "lower_bound_cycles", "cycles",
      "the larger of compute and DRAM bound of each layer, which no layer alone can beat. Layers "
      "that overlap may take less together. For a layer in pieces, the sum over its pieces",
      &Costs::lower_bound);
  list.add("over_lower_bound", "",
           "cycles divided by the lower bound; below 1 where other layers overlap", kBoth,
           [](const ReportRow& r) {
             return ratio_or_none(real(r.costs.cycles), real(r.costs.lower_bound));
           },
           {{"cycles", "x least", 7, TextStyle::fixed, 1, 2}});
  list.add_cost("idle_lane_cycles", "cycles",
                "cycles busy computing beyond the cycles at full rate", &Costs::idle_lanes);
  list.add("lost_to", "", "cause of most cycles beyond the compute bound", kBoth,
           [](const ReportRow& r) -> FieldValue {
             const std::vector<Loss> lost = cycle_losses(r.costs);
             return lost.empty() ? std::string() : std::string(lost.front().to);
           },
           {{"lost to", "", 7}});
  list.add_cost("dram_busy_cycles", "cycles", "cycles in which the DRAM channel is occupied",
                &Costs::dram_busy);
  list.add_cost("sram_busy_cycles", "cycles", "cycles in which the SRAM ports are occupied",
                &Costs::sram_busy);
}

void add_work(List& list) {
  list.add(
      "utilization", "",
      "MACs of the array divided by those that it could do in these cycles; above 1 where some "
      "were done during earlier layers",
      kBoth, [](const ReportRow& r) { return finite_or_none(r.report.utilization(r.costs)); },
      {{"util", "%", 1, TextStyle::fixed, 100, 1}});
  list.add_cost("macs", "MACs", "multiply-accumulates, by the graph's shapes", &Costs::macs,
                {{"MACs", "", 3, TextStyle::si}});
  list.add_cost("array_macs", "MACs", "multiply-accumulates with the zero blocks of packed groups",
                &Costs::array_macs);
  list.add_cost("params", "", "elements of trained parameters", &Costs::params,
                {{"params", "", 14, TextStyle::si}});
  list.add("distinct_ops", "", "programs that were searched; equal layers share one", kTotals,
           [](const ReportRow& r) -> FieldValue { return r.report.distinct_ops; });
  list.add("objective", "", "figure that the mappings minimise", kTotals,
           [](const ReportRow& r) -> FieldValue { return r.report.objective; });
  list.add("candidates", "", "tilings whose bound the mapping search computed", kTotals,
           [](const ReportRow& r) -> FieldValue { return r.report.candidates; });
  list.add("evaluated", "", "tilings that were timed", kTotals,
           [](const ReportRow& r) -> FieldValue { return r.report.evaluated; });
}

void add_dram(List& list) {
  list.add_cost("dram_read_bytes", "B", "read from DRAM", &Costs::dram_read,
                {{"DRAM rd", "B", 5, TextStyle::si}});
  list.add_cost("dram_write_bytes", "B", "written to DRAM", &Costs::dram_write,
                {{"DRAM wr", "B", 5, TextStyle::si}});
  list.add("dram_read_gbps", "GB/s", "bytes read from DRAM divided by the time", kBoth,
           [](const ReportRow& r) {
             return ratio_or_none(real(r.costs.dram_read) * 1e-9, row_seconds(r));
           });
  list.add("dram_write_gbps", "GB/s", "bytes written to DRAM divided by the time", kBoth,
           [](const ReportRow& r) {
             return ratio_or_none(real(r.costs.dram_write) * 1e-9, row_seconds(r));
           });
  list.add_cost("traffic_lower_bound_bytes", "B",
                "least DRAM traffic with this memory on chip: 2MNK/sqrt(S), or each operand once",
                &Costs::traffic_bound);
  list.add("dram_over_bound", "", "DRAM traffic divided by its lower bound", kBoth,
           [](const ReportRow& r) {
             return ratio_or_none(dram_bytes(r.costs), real(r.costs.traffic_bound));
           },
           {{"traffic", "x least", 12, TextStyle::fixed, 1, 2}});
}

void add_sram(List& list) {
  list.add_cost("shared_read_bytes", "B", "read from the shared buffer instead of DRAM",
                &Costs::shared_read, {{"kept rd", "B", 13, TextStyle::si}});
  list.add_cost("shared_write_bytes", "B", "written to the shared buffer instead of DRAM",
                &Costs::shared_write, {{"kept wr", "B", 13, TextStyle::si}});
  for (size_t i = 0; i < hw::kBuffers; ++i) {
    const std::string_view tier = name(static_cast<hw::Buffer>(i));
    list.add(fmt::format("{}_read_bytes", tier), "B", fmt::format("read from the {} buffer", tier),
             kBoth, [i](const ReportRow& r) -> FieldValue { return r.costs.buffer_read[i]; });
    list.add(fmt::format("{}_write_bytes", tier), "B",
             fmt::format("written to the {} buffer", tier), kBoth,
             [i](const ReportRow& r) -> FieldValue { return r.costs.buffer_write[i]; });
  }
  list.add("resident_bytes", "B", "bytes in the shared buffer while the layer runs", kLayer,
           [](const ReportRow& r) -> FieldValue { return r.layer->resident_bytes; });
  list.add(
      "live_bytes", "B",
      "activations that are live while the layer runs, in any memory, with the network's inputs "
      "and outputs",
      kLayer, [](const ReportRow& r) -> FieldValue { return r.layer->live_bytes; });
  list.add("area_mm2", "mm2",
           "silicon of the machine without the interface to DRAM, as a proxy to rank machines by",
           kTotals, [](const ReportRow& r) -> FieldValue { return r.report.area_mm2; });
  list.add(
      "dram_interface_mm2", "mm2",
      "interface to DRAM, as large as a DDR3 port of 28 nm with its bandwidth; area_mm2 leaves it "
      "out",
      kTotals, [](const ReportRow& r) -> FieldValue { return r.report.dram_interface_mm2; });
  list.add("shared_peak_bytes", "B", "most bytes in the shared buffer at a time", kTotals,
           [](const ReportRow& r) -> FieldValue { return r.report.shared_peak_bytes; });
}

void add_roofline(List& list) {
  list.add(
      "arithmetic_intensity", "MAC/B", "MACs per DRAM byte", kBoth,
      [](const ReportRow& r) { return ratio_or_none(real(r.costs.macs), dram_bytes(r.costs)); },
      {{"MAC/B", "DRAM", 7, TextStyle::fixed, 1, 1}});
  list.add(
      "arithmetic_intensity_sram", "MAC/B", "MACs per byte that the memories on chip move", kBoth,
      [](const ReportRow& r) { return ratio_or_none(real(r.costs.macs), sram_bytes(r.costs)); });
  list.add(
      "achieved_gmacs", "GMAC/s", "MACs divided by the time", kBoth,
      [](const ReportRow& r) { return ratio_or_none(real(r.costs.macs) * 1e-9, row_seconds(r)); },
      {{"achieved", "GMAC/s", 8, TextStyle::fixed, 1, 1}});
  list.add("attainable_gmacs", "GMAC/s",
           "roofline: the lower of the array's peak and the rate that DRAM allows", kBoth,
           attainable_rate, {{"roof", "GMAC/s", 8, TextStyle::fixed, 1, 1}});
}

void add_energy(List& list) {
  list.add("energy_pj", "pJ", "all components", kBoth,
           [](const ReportRow& r) { return finite_or_none(r.costs.energy.total_pj()); },
           {{"energy", "uJ", 6, TextStyle::fixed, 1e-6, 2}});
  list.add("energy_mac_pj", "pJ", "multiply-accumulates", kBoth, energy_getter(&EnergyReport::mac));
  list.add("energy_vector_pj", "pJ", "vector operations", kBoth,
           energy_getter(&EnergyReport::vector));
  list.add("energy_sram_pj", "pJ", "buffers on chip", kBoth, energy_getter(&EnergyReport::sram));
  list.add("energy_shared_pj", "pJ", "shared buffer", kBoth, energy_getter(&EnergyReport::shared));
  list.add("energy_dram_pj", "pJ", "DRAM", kBoth, energy_getter(&EnergyReport::dram));
  list.add("energy_leakage_pj", "pJ", "leakage and clock tree", kBoth,
           energy_getter(&EnergyReport::leakage));
  list.add("bound", "",
           "limiting resource: compute, weight load, dram, sram or latency; none without cycles",
           kBoth, [](const ReportRow& r) -> FieldValue { return std::string(name(r.bound)); },
           {{"bound", "", 1}});
}

std::vector<ReportField> make_report_fields() {
  List list;
  add_identity(list);
  add_time(list);
  add_least(list);
  add_work(list);
  add_dram(list);
  add_sram(list);
  add_roofline(list);
  add_energy(list);
  return std::move(list.fields);
}

}  // namespace

ReportRow layer_row(const Report& report, const LayerReport& layer) {
  return {report, &layer, layer.costs, layer.bound};
}

ReportRow group_row(const Report& report, const LayerGroup& group) {
  return {report, nullptr, group.costs, group.bound};
}

ReportRow totals_row(const Report& report) {
  return {report, nullptr, report.totals, report.bound};
}

const std::vector<ReportField>& report_fields() {
  static const std::vector<ReportField> list = make_report_fields();
  return list;
}

}  // namespace accsim::sim
