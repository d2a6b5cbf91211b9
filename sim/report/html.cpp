#include "sim/report/html.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "hw/program/core_runs.h"
#include "sim/base/json_text.h"
#include "sim/html/page.h"
#include "sim/report/fields.h"
#include "sim/report/format.h"
#include "sim/report/json.h"

namespace accsim::sim {
namespace {

using Json = nlohmann::ordered_json;

Json field_list() {
  Json out = Json::array();
  for (const ReportField& f : report_fields())
    out.push_back({{"key", f.key}, {"unit", f.unit}, {"description", f.description}});
  return out;
}

/// The table for readers without scripts.
std::string fallback_html(const Report& report) {
  std::string out = fmt::format(
      "<p>{} cycles, {:.3f} ms, {:.1f} % of the array, on {}. The charts need a browser that runs "
      "scripts.</p>\n<table>\n<tr><th>layer</th><th>op</th><th>cycles</th><th>utilisation</th>"
      "<th>DRAM bytes</th><th>energy, uJ</th><th>bound</th></tr>\n",
      format_count(report.totals.cycles), report.seconds(report.totals.cycles) * 1e3,
      report.utilization(report.totals) * 100, html_escape(report.hw.name));
  for (const LayerReport& l : report.layers) {
    const Costs& c = l.costs;
    if (c.alone_cycles == 0) continue;
    out += fmt::format(
        "<tr><td>{}</td><td>{}</td><td>{}</td><td>{:.1f} %</td><td>{}</td><td>{:.2f}</td>"
        "<td>{}</td></tr>\n",
        html_escape(l.name), html_escape(l.op_type), format_count(c.cycles),
        report.utilization(c) * 100, format_count(c.dram_read + c.dram_write),
        c.energy.total_pj() * 1e-6, name(l.bound));
  }
  return out + "</table>";
}

/// Why no RTL core exists for the machine; empty: there is one.
std::string core_reason(const hw::HwConfig& hw) {
  const Status core = hw::core_runs(hw);
  return core ? "" : core.errors().front().message;
}

}  // namespace

std::string page_data(const Report& report, const HtmlContext& context) {
  std::string out = "{\"kind\":\"report\",\"version\":" + json_text(context.version);
  out += ",\"command\":" + json_text(context.command) +
         ",\"machine_yaml\":" + json_text(context.machine);
  out += ",\"core_reason\":" + json_text(core_reason(report.hw)) +
         ",\"fields\":" + json_text(field_list());
  if (!context.timeline.empty()) out += ",\"timeline\":" + context.timeline;
  return out + ",\"report\":" + to_json(report) + "}";
}

std::string to_html(const Report& report, const HtmlContext& context) {
  const std::string title = fmt::format("{} on {}", report.model_file, report.hw.name);
  return html_page({.kind = "report",
                    .title = title,
                    .data = page_data(report, context),
                    .fallback = fallback_html(report)});
}

}  // namespace accsim::sim
