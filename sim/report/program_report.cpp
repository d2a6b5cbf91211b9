#include "sim/report/program_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "hw/program/reach.h"
#include "hw/program/visit.h"
#include "sim/base/json_text.h"
#include "sim/report/format.h"
#include "sim/report/table.h"

namespace accsim::sim {
namespace {

using nlohmann::ordered_json;

/// Of bytes, products and operations together: a program of fewer takes less than 2^63 cycles at
/// any rate that a machine can have.
constexpr int64_t kMostWork = int64_t{1} << 50;

int64_t product(std::initializer_list<int64_t> factors) {
  int64_t out = 1;
  for (const int64_t f : factors) out = hw::multiply_far(out, std::max<int64_t>(1, f));
  return out;
}
int64_t work_of(const hw::LoadCommand& c) { return hw::bytes_of(c.walk); }
int64_t work_of(const hw::StoreCommand& c) { return hw::bytes_of(c.walk); }
int64_t work_of(const hw::StageCommand& c) { return hw::bytes_of(c.walk); }
int64_t work_of(const hw::GemmCommand& c) { return product({c.m, c.k, c.n}); }
int64_t work_of(const hw::DrainCommand& c) { return product({c.m, c.n}); }
int64_t work_of(const hw::PostCommand& c) { return product({c.rows, c.cols, c.groups}); }
int64_t work_of(const hw::SetTableCommand&) { return hw::SetTableCommand::kBytes; }
int64_t work_of(const hw::LaneCommand& c) {
  return hw::add_far(product({hw::product_of(c.rows), c.run, hw::product_of(c.taps)}), c.macs);
}
int64_t work_of(const hw::RowCommand& c) {
  return product({hw::product_of(c.rows), c.pieces, c.run});
}
int64_t work_of(const hw::VectorCommand& c) {
  int64_t out = hw::add_far(c.in_bytes, c.out_bytes);
  for (const int64_t ops : c.ops) out = hw::add_far(out, ops);
  return out;
}

bool is_countable(const hw::Program& program) {
  int64_t work = 0;
  hw::visit_times(program.body, [&](const hw::Command& c, int64_t times) {
    const int64_t once = std::visit([](const auto& kind) { return work_of(kind); }, c);
    work = hw::add_far(work, hw::multiply_far(times, hw::add_far(once, 1)));
  });
  return work <= kMostWork;
}

std::string time_text(const ProgramReport& report, const hw::Timing& timing) {
  return format_si(static_cast<double>(timing.total.count()) / (report.hw.clock_mhz * 1e6), "s");
}

std::string paragraph(const ProgramReport& report, const TimedProgram& p) {
  const hw::Counts& c = p.counts;
  const auto cycles = static_cast<double>(std::max<int64_t>(1, p.timing.total.count()));
  const auto peak = static_cast<double>(report.hw.array.rows * report.hw.array.cols);
  std::string out = fmt::format("{}\n  {} cycles ({}), {} commands, {} MACs", p.name,
                                format_count(p.timing.total.count()), time_text(report, p.timing),
                                format_count(c.commands), format_count(c.macs.count()));
  if (c.array_macs.count() > 0)
    out += fmt::format(", array used to {:.1f} %",
                       100 * static_cast<double>(c.array_macs.count()) / (cycles * peak));
  for (const hw::MemoryId m : hw::MemoryId::all())
    if (c.moved(m).count() > 0)
      out += fmt::format(", {}: {} bytes read, {} written", name(m),
                         format_count(c.read[m].count()), format_count(c.written[m].count()));
  return out + fmt::format(", {}\n", format_si(total_energy(p.energy).value() * 1e-12, "J"));
}

/// Queues that do something, and reasons that they wait for.
TextTable queue_table(const TimedProgram& p) {
  std::vector<size_t> reasons;
  for (size_t w = 0; w < hw::kWaits; ++w)
    if (std::ranges::any_of(p.timing.queues,
                            [&](const hw::QueueTiming& q) { return q.waits[w].count() > 0; }))
      reasons.push_back(w);
  std::vector<TextTable::Column> columns = {{"  queue", "", true}, {"busy", "cycles"}, {"", "%"}};
  for (const size_t w : reasons)
    columns.push_back({"waits: " + std::string(name(static_cast<hw::Wait>(w))), "cycles"});
  columns.push_back({"ends", "cycle"});
  TextTable out(columns);
  for (const hw::Queue q : hw::Queue::all()) {
    const hw::QueueTiming& t = p.timing.queue(q);
    if (t.free_at.count() == 0) continue;
    const double busy = 100 * static_cast<double>(t.busy.count()) /
                        static_cast<double>(std::max<int64_t>(1, p.timing.total.count()));
    TextTable::Row row{
        {"  " + std::string(name(q)), format_count(t.busy.count()), fmt::format("{:.1f}", busy)}};
    for (const size_t w : reasons) row.cells.push_back(format_count(t.waits[w].count()));
    row.cells.push_back(format_count(t.free_at.count()));
    out.add(std::move(row));
  }
  return out;
}

ordered_json json_of(const TimedProgram& p) {
  const hw::Counts& c = p.counts;
  ordered_json queues = ordered_json::object();
  for (const hw::Queue q : hw::Queue::all()) {
    const hw::QueueTiming& t = p.timing.queue(q);
    ordered_json waits = ordered_json::object();
    for (size_t w = 0; w < hw::kWaits; ++w)
      if (t.waits[w].count() > 0)
        waits[std::string(name(static_cast<hw::Wait>(w)))] = t.waits[w].count();
    if (t.free_at.count() > 0)
      queues[std::string(name(q))] = {
          {"busy", t.busy.count()}, {"waits", waits}, {"ends", t.free_at.count()}};
  }
  ordered_json out = {{"name", p.name},
                      {"cycles", p.timing.total.count()},
                      {"commands", c.commands},
                      {"macs", c.macs.count()},
                      {"array_macs", c.array_macs.count()}};
  for (const hw::MemoryId m : hw::MemoryId::all()) {
    out[std::string(name(m)) + "_read_bytes"] = c.read[m].count();
    out[std::string(name(m)) + "_write_bytes"] = c.written[m].count();
  }
  out["energy_pj"] = total_energy(p.energy).value();
  out["queues"] = std::move(queues);
  return out;
}

/// As much of a network's report as a trace has: a layer a program.
Report traced_report(const ProgramReport& report) {
  Report out;
  out.model_file = report.file;
  out.hw = report.hw;
  for (const TimedProgram& p : report.programs) {
    LayerReport& layer = out.layers.emplace_back();
    layer.name = p.name;
    layer.op_type = "program";
    layer.costs.cycles = layer.costs.alone_cycles = p.timing.total.count();
    layer.costs.macs = p.counts.macs.count();
    layer.costs.dram_read = p.counts.read[hw::MemoryId::dram].count();
    layer.costs.dram_write = p.counts.written[hw::MemoryId::dram].count();
  }
  return out;
}

}  // namespace

Result<ProgramReport> time_programs(const std::vector<hw::Program>& programs,
                                    const hw::HwConfig& hw, const std::string& file) {
  ProgramReport out{file, hw, {}};
  Errors errors;
  for (const hw::Program& p : programs) {
    const std::string where = fmt::format("{}: program {}", file, p.name);
    if (const Status good = verify(p, hw); !good) {
      for (const Error& e : good.errors()) errors.push_back({e.code, e.text(), where});
    } else if (!is_countable(p)) {
      errors.push_back(
          {Errc::overflow, "does more than 2^50 bytes, products and operations", where});
    } else if (errors.empty()) {
      TimedProgram timed{p.name, hw::simulate(p, hw), hw::count_program(p, hw), {}};
      timed.energy = hw::energy(timed.counts, timed.timing.total, hw);
      out.programs.push_back(std::move(timed));
    }
  }
  if (!errors.empty()) return errors;
  return out;
}

std::string to_text(const ProgramReport& report, size_t width) {
  std::string out;
  for (const TimedProgram& p : report.programs) {
    if (!out.empty()) out += '\n';
    out += wrap_lines(printable(paragraph(report, p), "\n"), width);
    for (const std::string& line : queue_table(p).folded_lines(width, false)) out += line + "\n";
  }
  return out;
}

std::string to_json(const ProgramReport& report) {
  ordered_json programs = ordered_json::array();
  for (const TimedProgram& p : report.programs) programs.push_back(json_of(p));
  const ordered_json out = {{"schema", "accsim.program/1"},
                            {"file", report.file},
                            {"hw", report.hw.name},
                            {"clock_mhz", report.hw.clock_mhz},
                            {"programs", std::move(programs)}};
  return json_text(out, 1) + "\n";
}

Status write_trace(const ProgramReport& report, const std::vector<hw::Program>& programs,
                   int64_t limit, const TextSink& sink) {
  const Report traced = traced_report(report);
  TraceWriter writer(traced, sink);
  if (Status s = writer.begin_trace(); !s) return s;
  int64_t start = 0;
  for (size_t i = 0; i < programs.size(); ++i) {
    hw::Timeline made = hw::timeline(programs[i], report.hw, limit);
    LayerTimeline layer{static_cast<int>(i),    start, made.total.count(),
                        std::move(made.queues), {},    made.summarised};
    for (const hw::Queue q : hw::Queue::all()) layer.hidden[q].assign(layer.queues[q].size(), 0);
    start += layer.cycles;
    if (Status s = writer.add_layers({std::move(layer)}); !s) return s;
  }
  return writer.end_trace(limit);
}

}  // namespace accsim::sim
