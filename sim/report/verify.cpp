#include "sim/report/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace accsim::sim {

int64_t VerifyReport::passed() const {
  return std::count_if(rows.begin(), rows.end(), [](const VerifyRow& r) { return r.passed(); });
}

bool VerifyReport::only_lacks_cores() const {
  return failed() > 0 && std::ranges::all_of(rows, [](const VerifyRow& row) {
           return row.passed() || row.no_core || !row.done;
         });
}

int64_t VerifyReport::failed() const {
  return std::count_if(rows.begin(), rows.end(),
                       [](const VerifyRow& r) { return r.done && !r.passed(); });
}

namespace {

std::string_view yes(bool b) { return b ? "yes" : "NO"; }

double rate(const VerifyRow& r) {
  return r.seconds > 0 ? static_cast<double>(r.rtl_cycles) / r.seconds : 0;
}

std::string notes(const VerifyRow& r) {
  std::string out;
  if (!r.same.empty())
    out += fmt::format("  also {} more layer{}", r.same.size(), r.same.size() == 1 ? "" : "s");
  if (!r.cut.empty()) out += "  cut: " + r.cut;
  return out;
}

}  // namespace

std::string to_text(const VerifyReport& report) {
  size_t name = 5, shape = 5;
  for (const VerifyRow& r : report.rows) {
    name = std::max(name, r.name.size());
    shape = std::max(shape, r.shape.size());
  }
  std::string out = fmt::format("{:<{}}  {:<{}}  {:>9}  {:>9}  {:>12}  {:>12}  {:>10}  {:>8}\n",
                                "layer", name, "shape", shape, "commands", "bit-exact",
                                "RTL cycles", "model cycles", "difference", "kHz");
  VerifyRow total;
  for (const VerifyRow& r : report.rows) {
    if (!r.done) continue;
    if (!r.error.empty()) {
      out += fmt::format("{:<{}}  {:<{}}  not run: {}\n", r.name, name, r.shape, shape, r.error);
      continue;
    }
    out += fmt::format("{:<{}}  {:<{}}  {:>9}  {:>9}  {:>12}  {:>12}  {:>10}  {:>8.0f}{}\n", r.name,
                       name, r.shape, shape, r.commands, yes(r.values_equal), r.rtl_cycles,
                       r.model_cycles, r.rtl_cycles - r.model_cycles, rate(r) / 1000, notes(r));
    if (!r.difference.empty()) out += "    first difference: " + r.difference + "\n";
    total.commands += r.commands;
    total.rtl_cycles += r.rtl_cycles;
    total.model_cycles += r.model_cycles;
    total.seconds += r.seconds;
  }
  out += fmt::format("{:<{}}  {:<{}}  {:>9}  {:>9}  {:>12}  {:>12}  {:>10}  {:>8.0f}\n", "total",
                     name, fmt::format("{} of {} equal", report.passed(), report.rows.size()),
                     shape, total.commands, yes(report.failed() == 0), total.rtl_cycles,
                     total.model_cycles, total.rtl_cycles - total.model_cycles, rate(total) / 1000);
  if (report.interrupted)
    out += fmt::format("interrupted: {} of {} programs were run\n",
                       report.passed() + report.failed(), report.rows.size());
  return out;
}

std::string to_json(const VerifyReport& report) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const VerifyRow& r : report.rows)
    rows.push_back({{"name", r.name},
                    {"shape", r.shape},
                    {"mapping", r.mapping},
                    {"done", r.done},
                    {"passed", r.passed()},
                    {"commands", r.commands},
                    {"bit_exact", r.values_equal},
                    {"rtl_cycles", r.rtl_cycles},
                    {"model_cycles", r.model_cycles},
                    {"difference", r.rtl_cycles - r.model_cycles},
                    {"cycles_per_second", rate(r)},
                    {"first_difference", r.difference},
                    {"cut", r.cut},
                    {"same", r.same},
                    {"error", r.error}});
  const nlohmann::ordered_json out = {
      {"schema", "accsim.verify/1"},       {"hw", report.hw},           {"model", report.model},
      {"programs", report.rows.size()},    {"passed", report.passed()}, {"failed", report.failed()},
      {"interrupted", report.interrupted}, {"rows", std::move(rows)}};
  return out.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace accsim::sim
