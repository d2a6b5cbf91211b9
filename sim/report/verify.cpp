#include "sim/report/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/base/json_text.h"
#include "sim/report/format.h"
#include "sim/report/table.h"

namespace accsim::sim {

int64_t LateCommands::command_count() const {
  int64_t out = 0;
  for (const auto& [queue, commands] : queues) out += commands;
  return out;
}

int64_t VerifyReport::passed_count() const {
  return std::count_if(rows.begin(), rows.end(), [](const VerifyRow& r) { return r.has_passed(); });
}

std::map<std::string, int64_t> VerifyReport::merged_coverage() const {
  std::map<std::string, int64_t> out;
  for (const VerifyRow& row : rows)
    if (row.done)
      for (const auto& [what, times] : row.coverage) out[what] += times;
  return out;
}

bool VerifyReport::only_lacks_cores() const {
  return failed_count() > 0 && std::ranges::all_of(rows, [](const VerifyRow& row) {
           return row.has_passed() || row.no_core || !row.done;
         });
}

int64_t VerifyReport::failed_count() const {
  return std::count_if(rows.begin(), rows.end(),
                       [](const VerifyRow& r) { return r.done && !r.has_passed(); });
}

namespace {

std::string_view yes_or_no(bool b) { return b ? "yes" : "NO"; }

double cycles_per_second(const VerifyRow& r) {
  return r.seconds > 0 ? static_cast<double>(r.rtl_cycles) / r.seconds : 0;
}

/// By how much RTL takes longer, in percent of the model's cycles.
double percent_longer(const VerifyRow& r) {
  if (r.model_cycles == 0) return 0;
  return 100.0 * static_cast<double>(r.rtl_cycles - r.model_cycles) /
         static_cast<double>(r.model_cycles);
}

/// "other cycles: 12 of 40 commands (8 post, 4 store), total +36 (+1.25 %); the first: ...".
std::string of_cycles(const VerifyRow& r) {
  std::string queues;
  for (const auto& [queue, commands] : r.late.queues)
    queues += fmt::format("{}{} {}", queues.empty() ? " (" : ", ", commands, queue);
  std::string out =
      fmt::format("other cycles: {} of {} commands{}, total {:+} ({:+.2f} %)",
                  r.late.command_count(), r.commands, queues + (queues.empty() ? "" : ")"),
                  r.rtl_cycles - r.model_cycles, percent_longer(r));
  return r.late.first.empty() ? out : out + "; the first: " + r.late.first;
}

std::string of_waveform(const WrittenWaveform& w) {
  if (w.first < 0) return "waveforms: of no cycle";
  return fmt::format("waveforms: cycles {} to {}, two steps each from {} on{}", w.first, w.last,
                     w.time, w.complete ? "" : "; the file has reached its limit (--trace-limit)");
}

std::vector<std::string> row_notes(const VerifyRow& r) {
  if (!r.error.empty()) return {"not run: " + r.error};
  std::vector<std::string> out;
  if (!r.same.empty())
    out.push_back(
        fmt::format("also {} more layer{}", r.same.size(), r.same.size() == 1 ? "" : "s"));
  if (!r.cut.empty()) out.push_back("cut: " + r.cut);
  if (!r.difference.empty()) out.push_back("first difference: " + r.difference);
  if (r.any_cycles && !r.cycles_equal) out.push_back(of_cycles(r));
  if (!r.wrong_layer.empty())
    out.push_back(
        fmt::format("look closer: --resume-at '{0}', or --trace FILE --trace-layer '{0}', or both",
                    r.wrong_layer));
  if (r.waveform) out.push_back(of_waveform(*r.waveform));
  return out;
}

std::vector<std::string> row_cells(std::string label, const VerifyRow& r, bool equal) {
  return {std::move(label),
          r.shape,
          fmt::format("{}", r.commands),
          std::string(yes_or_no(equal)),
          fmt::format("{}", r.rtl_cycles),
          fmt::format("{}", r.model_cycles),
          fmt::format("{}", r.rtl_cycles - r.model_cycles),
          fmt::format("{:.0f}", cycles_per_second(r) / 1000)};
}

std::string indented_list(const std::vector<std::string>& layers) {
  std::string out;
  for (const std::string& layer : layers) out += fmt::format("  {}\n", layer);
  return out;
}

/// How many results the integer reference had, and of which layers it had none.
std::string of_reference(const VerifiedNetwork& n) {
  std::string out = fmt::format("weights and scales of a float run in {} of {} programs\n",
                                n.part_constants, n.parts);
  out += fmt::format("{} results compared with the integer reference\n", n.referenced);
  if (n.taken.empty()) return out;
  return out + fmt::format("not compared, moves of unknown layout: {}\n", n.taken.size()) +
         indented_list(n.taken);
}

/// Which part of the program RTL ran.
std::string of_part(const VerifiedNetwork& n) {
  std::string out;
  if (!n.from.empty())
    out += fmt::format(
        "RTL began at layer '{}' with the memory that golden had there, behind {} "
        "commands\n",
        n.from, n.before);
  if (!n.until.empty())
    out +=
        fmt::format("RTL ended with layer '{}', {} commands before the end\n", n.until, n.behind);
  return out + "cycles are those of these layers as a program of its own, which begins in reset\n";
}

/// That all of the report's cycles are the program's, or what has been left out.
std::string of_report(const VerifiedNetwork& n) {
  if (n.is_pitched()) return of_part(n);
  if (n.is_complete())
    return fmt::format("all of the report's {} cycles are this program's\n", n.report_cycles);
  const double share = n.report_cycles > 0 ? 100.0 * static_cast<double>(n.left_cycles) /
                                                 static_cast<double>(n.report_cycles)
                                           : 0;
  std::string out = fmt::format(
      "left out, without commands: {} layers, {:.1f} % of the report's {} cycles; this run "
      "confirms the cycles of the others, not that total\n",
      n.left_out.size(), share, n.report_cycles);
  return out + indented_list(n.left_out);
}

nlohmann::ordered_json json_of(const VerifiedNetwork& n) {
  return {{"report_cycles", n.report_cycles},
          {"left_cycles", n.left_cycles},
          {"left_out", n.left_out},
          {"programs", n.parts},
          {"real_programs", n.part_constants},
          {"referenced", n.referenced},
          {"not_referenced", n.taken},
          {"from", n.from},
          {"until", n.until},
          {"commands_before", n.before},
          {"commands_behind", n.behind}};
}

}  // namespace

std::string to_text(const VerifyReport& report, const VerifyTextOptions& options) {
  const size_t width = std::max<size_t>(options.width, 60);
  TextTable table({{"layer", "", true},
                   {"shape", "", true, 2},
                   {"commands", "", false, 4},
                   {"bit-exact", "", true},
                   {"RTL", "cycles"},
                   {"model", "cycles", false, 1},
                   {"difference", "cycles"},
                   {"speed", "kHz", false, 3}});
  VerifyRow total;
  for (const VerifyRow& r : report.rows) {
    if (!r.done) continue;
    const bool ran = r.error.empty();
    if (ran) {
      total.commands += r.commands;
      total.rtl_cycles += r.rtl_cycles;
      total.model_cycles += r.model_cycles;
      total.seconds += r.seconds;
    }
    if (options.only_failed && r.has_passed()) continue;
    TextTable::Row row{.cells = row_cells(r.name, r, r.values_equal), .notes = row_notes(r)};
    if (!ran) std::fill(row.cells.begin() + 2, row.cells.end(), "");
    table.add(std::move(row));
  }
  table.add({row_cells("total", total, report.failed_count() == 0), true});
  std::string out;
  for (const std::string& line : table.lines(width, false)) out += line + "\n";
  std::string end;
  if (report.interrupted)
    end += fmt::format("interrupted: {} of {} programs were run\n",
                       report.passed_count() + report.failed_count(), report.program_count());
  end += fmt::format("{} of {} equal{}{}\n", report.passed_count(), report.program_count(),
                     report.any_cycles ? " in values; cycles are reported" : "",
                     options.only_failed && report.passed_count() > 0
                         ? ", which aren't listed (--verbose lists them)"
                         : "");
  if (report.network) end += of_report(*report.network) + of_reference(*report.network);
  return out + wrap_lines(end, width);
}

namespace {

nlohmann::ordered_json json_of(const VerifyRow& r) {
  nlohmann::ordered_json out = {
      {"name", r.name},
      {"shape", r.shape},
      {"mapping", r.mapping},
      {"done", r.done},
      {"passed", r.has_passed()},
      {"commands", r.commands},
      {"bit_exact", r.values_equal},
      {"cycles_equal", r.cycles_equal},
      {"rtl_cycles", r.rtl_cycles},
      {"model_cycles", r.model_cycles},
      {"difference", r.rtl_cycles - r.model_cycles},
      {"difference_percent", percent_longer(r)},
      {"other_cycles",
       {{"commands", r.late.command_count()}, {"queues", r.late.queues}, {"first", r.late.first}}},
      {"cycles_per_second", cycles_per_second(r)},
      {"first_difference", r.difference},
      {"wrong_layer", r.wrong_layer},
      {"cut", r.cut},
      {"same", r.same},
      {"error", r.error}};
  if (const auto& w = r.waveform)
    out["waveform"] = {{"first_cycle", w->first},
                       {"last_cycle", w->last},
                       {"time", w->time},
                       {"complete", w->complete}};
  return out;
}

}  // namespace

std::string to_json(const VerifyReport& report) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const VerifyRow& r : report.rows) rows.push_back(json_of(r));
  nlohmann::ordered_json out = {{"schema", "accsim.verify/1"},
                                {"hw", report.hw},
                                {"model", report.model},
                                {"cycles", report.any_cycles ? "report" : "equal"},
                                {"programs", report.program_count()},
                                {"passed", report.passed_count()},
                                {"failed", report.failed_count()},
                                {"interrupted", report.interrupted},
                                {"coverage", report.merged_coverage()},
                                {"rows", std::move(rows)}};
  if (report.network) out["network"] = json_of(*report.network);
  return json_text(out, 1) + "\n";
}

}  // namespace accsim::sim
