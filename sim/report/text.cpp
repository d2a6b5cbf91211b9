#include "sim/report/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>

#include "sim/report/assumptions.h"
#include "sim/report/cut_layers.h"
#include "sim/report/fields.h"
#include "sim/report/format.h"
#include "sim/report/mode_text.h"
#include "sim/report/page.h"
#include "sim/report/real.h"
#include "sim/report/table.h"

namespace accsim::sim {
namespace {

using Lines = std::vector<std::string>;

std::string percent_of(double part, double whole) {
  return whole > 0 ? format_fixed(100 * part / whole, 1) : "-";
}

std::string with_file(const std::string& name, const std::string& file) {
  if (file.empty() || file == name) return name;
  return name.empty() ? file : fmt::format("{} ({})", name, file);
}

void add_machine(const Report& report, Page& page) {
  const hw::HwConfig& hw = report.hw;
  const double peak = 2 * real(report.peak_macs_per_cycle()) * hw.clock_mhz * 1e6;
  const double rate = hw.clock_mhz * 1e6;
  int64_t slots = 0;
  for (const hw::BufferConfig& buffer : hw.buffers) slots += buffer.kib;
  page.add_item("machine", with_file(hw.name, hw.file));
  page.add_item(
      "", fmt::format("{} x {} array at {} MHz, {} x {} -> {}, peak {}", hw.array.rows,
                      hw.array.cols, format_fixed(hw.clock_mhz, 0), name(hw.types.activation),
                      name(hw.types.weight), name(hw.types.accumulator), format_si(peak, "OPS")));
  if (const std::string modes = machine_modes_text(hw); !modes.empty()) page.add_item("", modes);
  const std::string read = format_si(hw.dram.read.value() * rate, "B/s");
  const std::string dram =
      hw.dram_model == hw::DramModel::banked
          ? fmt::format("DRAM {} x {}, peak {}", hw.banked.channels, name(hw.banked.preset), read)
          : fmt::format("DRAM {} read, {} write{}", read,
                        format_si(hw.dram.write.value() * rate, "B/s"),
                        hw.one_bus() ? ", on one bus" : "");
  page.add_item("", fmt::format("{}; on chip {} in buffers{}", dram, format_kib(slots),
                                hw.shared.kib == 0
                                    ? std::string(", no shared buffer")
                                    : fmt::format(" and {} shared", format_kib(hw.shared.kib))));
  const std::string basis = hw.energy.technology == hw::Technology::custom
                                ? std::string(", a proxy at 45 nm to rank machines by")
                                : fmt::format(" at {}", name(hw.energy.technology));
  page.add_item("", fmt::format("area {} mm2{}; the interface to DRAM isn't in it",
                                format_fixed(report.area_mm2, 1), basis));
}

/// Parameters and their bytes by type.
std::string weight_types(const Report& report) {
  std::string out;
  for (size_t i = 0; i < report.bytes_by_type.size(); ++i)
    out += fmt::format(
        "{}{} {} in {}", i == 0 ? "" : ", ", format_si(real(report.params_by_type[i].second)),
        report.bytes_by_type[i].first, format_si(real(report.bytes_by_type[i].second), "B"));
  return out;
}

void add_header(const Report& report, Page& page) {
  page.add_item("model", with_file(report.model_name, report.model_file));
  std::string versions = fmt::format("opset {}", report.opset);
  if (report.ir_version > 0) versions += fmt::format(", IR {}", report.ir_version);
  page.add_item("", fmt::format("{}; {} nodes, {} parameters, {} of weights", versions,
                                format_count(report.nodes), format_si(real(report.params)),
                                format_si(real(report.weight_bytes), "B")));
  if (report.bytes_by_type.size() > 1) page.add_item("", weight_types(report));
  if (!report.bindings.empty())
    page.add_item("symbols", symbols_text(report.bindings, report.defaulted));
  for (const std::string& text : assumption_texts(report.assumed)) page.add_item("assumed", text);
  if (report.key_blocks > 0)
    page.add_item("attention", fmt::format("in blocks of about {} keys (online softmax)",
                                           format_count(report.key_blocks)));
  add_machine(report, page);
}

Lines small_table(std::vector<TextTable::Column> columns, std::vector<Lines> rows, bool total,
                  bool colour) {
  TextTable table(std::move(columns));
  for (size_t i = 0; i < rows.size(); ++i)
    table.add({std::move(rows[i]), total && i + 1 == rows.size()});
  return table.lines(Page::kMinWidth, colour);
}

Lines energy_block(const EnergyReport& e, bool colour) {
  std::vector<Lines> rows;
  const auto add = [&](const char* label, double pj) {
    rows.push_back({label, format_si(pj * 1e-12, "J"), percent_of(pj, e.total_pj())});
  };
  add("MACs", e.mac);
  add("vector unit", e.vector);
  add("buffers", e.sram);
  add("shared", e.shared);
  add("DRAM", e.dram);
  add("leakage", e.leakage);
  add("total", e.total_pj());
  return small_table({{"energy", "", true}, {"", ""}, {"%", ""}}, std::move(rows), true, colour);
}

Lines cycles_block(const Costs& c, bool colour) {
  std::vector<Lines> rows;
  const auto add = [&](const std::string& label, int64_t cycles) {
    rows.push_back({label, format_count(cycles), percent_of(real(cycles), real(c.cycles))});
  };
  constexpr std::array<const char*, hw::kWaits> kLabels = {
      "wait DRAM read",   "wait DRAM write", "wait shared", "weight load",
      "array fill/drain", "wait post",       "wait slot"};
  add("busy", c.compute_cycles);
  for (size_t i = 0; i < hw::kWaits; ++i) add(kLabels[i], c.stalls[i]);
  add("tail", c.tail_cycles);
  add("total", c.cycles);
  return small_table({{"cycles", "", true}, {"", ""}, {"%", ""}}, std::move(rows), true, colour);
}

Lines memory_block(const Report& report, bool colour) {
  const Costs& c = report.totals;
  std::vector<Lines> rows = {
      {"DRAM", "", format_si(real(c.dram_read), "B"), format_si(real(c.dram_write), "B")}};
  if (report.hw.shared.kib > 0) {
    rows.push_back({"shared", format_kib(report.hw.shared.kib), format_si(real(c.shared_read), "B"),
                    format_si(real(c.shared_write), "B")});
  }
  for (size_t i = 0; i < hw::kBuffers; ++i) {
    rows.push_back({std::string(name(static_cast<hw::Buffer>(i))),
                    format_kib(report.hw.buffers[i].kib), format_si(real(c.buffer_read[i]), "B"),
                    format_si(real(c.buffer_write[i]), "B")});
  }
  return small_table({{"memory", "", true}, {"size", ""}, {"read", ""}, {"written", ""}},
                     std::move(rows), false, colour);
}

void add_top_layers(const Report& report, Page& page) {
  constexpr size_t kTop = 5;
  std::vector<const LayerReport*> top;
  for (const LayerReport& layer : report.layers) {
    if (layer.costs.cycles > 0) top.push_back(&layer);
  }
  std::stable_sort(top.begin(), top.end(), [](const LayerReport* a, const LayerReport* b) {
    return a->costs.cycles > b->costs.cycles;
  });
  if (top.size() > kTop) top.resize(kTop);
  if (top.empty()) return;
  TextTable table({{"slowest layers", "", true}, {"cycles", ""}, {"%", ""}, {"bound", "", true}});
  for (const LayerReport* layer : top) {
    table.add({{layer->name, format_count(layer->costs.cycles),
                percent_of(real(layer->costs.cycles), real(report.totals.cycles)),
                std::string(name(layer->bound))}});
  }
  page.add_line("");
  page.add_lines(table.lines(page.width(), page.colour()));
}

std::string bound_text(const Report& report) {
  std::array<int64_t, kBounds> layers{}, cycles{};
  for (const LayerReport& layer : report.layers) {
    layers[static_cast<size_t>(layer.bound)] += 1;
    cycles[static_cast<size_t>(layer.bound)] += layer.costs.cycles;
  }
  std::string shares;
  for (const Bound b :
       {Bound::compute, Bound::weight_load, Bound::dram, Bound::sram, Bound::latency}) {
    const size_t i = static_cast<size_t>(b);
    if (layers[i] == 0) continue;
    shares += fmt::format("{}{} {} layer{} {} % of cycles", shares.empty() ? ": " : ", ", name(b),
                          layers[i], layers[i] == 1 ? "" : "s",
                          percent_of(real(cycles[i]), real(report.totals.cycles)));
  }
  return fmt::format("{}{}", name(report.bound), shares);
}

/// A totals field as a number; nan (printed "-") when it says nothing.
double totals_value(const Report& report, std::string_view key) {
  for (const ReportField& field : report_fields()) {
    if (field.key != key) continue;
    const FieldValue value = field.get(totals_row(report));
    if (const double* v = std::get_if<double>(&value)) return *v;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

/// How far the layers of a fate are from the larger of their compute and DRAM bounds, and why.
void add_distance(const Report& report, Fate fate, Page& page) {
  Costs sum;
  for (const LayerReport& l : report.layers)
    if (l.fate == fate) sum += l.costs;
  if (sum.lower_bound == 0) return;
  // Cycles under the DRAM bound of a layer that DRAM limits are lost to nothing.
  const bool under = sum.cycles < sum.lower_bound;
  const int64_t apart = under ? sum.lower_bound - sum.cycles : sum.cycles - sum.lower_bound;
  std::string text = fmt::format(
      "{} layers {} cycles, {} % {} {}, the sum of the larger of compute and DRAM bound{}",
      name(fate), format_count(sum.cycles), percent_of(real(apart), real(sum.lower_bound)),
      under ? "under" : "over", format_count(sum.lower_bound),
      under ? " (other layers take turns with them)" : "");
  const std::vector<Loss> lost = cycle_losses(sum);
  for (size_t i = 0; i < lost.size(); ++i)
    text += fmt::format("{}{} {} %", i == 0 ? "; beyond compute: " : ", ", lost[i].to,
                        percent_of(real(lost[i].cycles), real(sum.cycles)));
  page.add_item(fate == Fate::gemm ? "least" : "", text);
}

/// How much of the cycles golden and RTL run, and what they don't.
std::string verifiable_text(const Report& report) {
  const Costs& c = report.totals;
  std::string out = fmt::format("{} % of cycles are commands that golden and the RTL core run",
                                percent_of(real(c.verifiable_cycles), real(c.cycles)));
  std::map<std::string, std::map<std::string, int64_t>> others;  // cycles by reason and operator
  for (const LayerReport& l : report.layers)
    if (!l.unverifiable.empty())
      others[l.unverifiable][l.op_type] += l.costs.cycles - l.costs.verifiable_cycles;
  for (const auto& [why, ops] : others) {
    std::vector<std::pair<int64_t, std::string>> largest;
    int64_t all = 0;
    for (const auto& [op, cycles] : ops) {
      largest.emplace_back(-cycles, op);
      all += cycles;
    }
    std::sort(largest.begin(), largest.end());
    constexpr size_t kNamed = 4;
    std::string names;
    for (size_t i = 0; i < std::min(kNamed, largest.size()); ++i)
      names += (i == 0 ? "" : ", ") + largest[i].second;
    if (largest.size() > kNamed) names += ", ...";
    out += fmt::format("; {}: {} %, {}", why, percent_of(real(all), real(c.cycles)), names);
  }
  if (!others.empty()) out += "; no run confirms the total";
  return out;
}

void add_summary(const Report& report, Page& page) {
  const Costs& c = report.totals;
  page.add_item("time", fmt::format("{} cycles, {}, {} inferences/s", format_count(c.cycles),
                                    format_si(report.seconds(c.cycles), "s"),
                                    format_si(totals_value(report, "inferences_per_second"))));
  page.add_item("MACs",
                fmt::format("{}, utilisation {} %; achieved {} of {} GMAC/s attainable",
                            format_si(real(c.macs)), format_fixed(100 * report.utilization(c), 1),
                            format_fixed(totals_value(report, "achieved_gmacs"), 1),
                            format_fixed(totals_value(report, "attainable_gmacs"), 1)));
  page.add_item("intensity",
                fmt::format("{} MACs a byte of DRAM, {} a byte of memory on chip",
                            format_fixed(totals_value(report, "arithmetic_intensity"), 1),
                            format_fixed(totals_value(report, "arithmetic_intensity_sram"), 2)));
  page.add_item("DRAM", fmt::format("read {} ({} GB/s), written {} ({} GB/s)",
                                    format_si(real(c.dram_read), "B"),
                                    format_fixed(totals_value(report, "dram_read_gbps"), 2),
                                    format_si(real(c.dram_write), "B"),
                                    format_fixed(totals_value(report, "dram_write_gbps"), 2)));
  if (c.traffic_bound > 0) {
    page.add_item("", fmt::format("{} times the least for this much memory on chip, {}",
                                  format_fixed(totals_value(report, "dram_over_bound"), 2),
                                  format_si(real(c.traffic_bound), "B")));
  }
  if (report.hw.shared.kib > 0) {
    page.add_item("kept on chip",
                  fmt::format("{} of reads and {} of writes saved; at most {} at a time",
                              format_si(real(c.shared_read - c.staged), "B"),
                              format_si(real(c.shared_write - c.staged), "B"),
                              format_si(real(report.shared_peak_bytes), "B")));
  }
  page.add_item("bound", bound_text(report));
  for (const Fate fate : {Fate::gemm, Fate::vector}) add_distance(report, fate, page);
  const std::vector<std::string> modes = mode_texts(report);
  for (size_t i = 0; i < modes.size(); ++i) page.add_item(i == 0 ? "types" : "", modes[i]);
  if (c.cycles > 0) page.add_item("verifiable", verifiable_text(report));
  if (report.distinct_ops > 0)
    page.add_item("mapped",
                  fmt::format("{} distinct programs for {}; {} tilings bounded, {} timed",
                              format_count(report.distinct_ops), report.objective,
                              format_count(report.candidates), format_count(report.evaluated)));
}

void add_cut_layers(const Report& report, Page& page) {
  if (report.cut_layers.empty()) return;
  page.add_line("");
  page.add_lines(cut_layer_table(report).lines(page.width(), page.colour()));
}

void add_unsupported(const Report& report, Page& page) {
  if (report.unsupported.empty()) return;
  const size_t n = report.unsupported.size();
  const std::string text =
      fmt::format("{} node{} costed as memory traffic only: {}", n, n == 1 ? "" : "s",
                  fmt::join(unsupported_texts(report.unsupported), ", "));
  page.add_line("");
  page.add_item("UNSUPPORTED", text, Ink::red);
}

}  // namespace

std::string to_text(const Report& report, const TextOptions& options) {
  Page page(options.width, options.colour);
  add_header(report, page);
  page.add_line("");
  const bool grouped = !report.grouped_by.empty();
  const TextTable table = grouped ? group_table(report, options.unicode)
                                  : layer_table(report, options.all_layers, options.unicode);
  page.add_lines(table.lines(page.width(), page.colour()));
  const int64_t hidden = options.all_layers || grouped ? 0 : hidden_layers(report);
  if (hidden > 0) {
    page.add_line(fmt::format("{} layer{} folded or views, cost nothing; --all shows them",
                              format_count(hidden), hidden == 1 ? "" : "s"));
  }
  page.add_line("");
  page.add_blocks({energy_block(report.totals.energy, page.colour()),
                   cycles_block(report.totals, page.colour()),
                   memory_block(report, page.colour())});
  add_top_layers(report, page);
  page.add_line("");
  add_summary(report, page);
  add_cut_layers(report, page);
  add_unsupported(report, page);
  return page.take_text();
}

}  // namespace accsim::sim
