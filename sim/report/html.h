#pragma once
#include <string>

#include "sim/report/report.h"

namespace accsim::sim {

/// What a report's page shows beside the report.
struct HtmlContext {
  std::string command;   ///< the command line that makes this page again
  std::string version;   ///< of the program
  std::string machine;   ///< the effective machine as YAML
  std::string timeline;  ///< JSON of the network's timeline; empty: none
};

/// The page's data as JSON: `report` as to_json() has it, `fields` (key, unit, description) of the
/// field list, why no RTL core exists for the machine (`core_reason`, else empty), and the context.
std::string page_data(const Report& report, const HtmlContext& context);

/// The report as one HTML file that needs no network.
std::string to_html(const Report& report, const HtmlContext& context);

}  // namespace accsim::sim
