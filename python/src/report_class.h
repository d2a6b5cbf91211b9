#pragma once
#include <nanobind/nanobind.h>

#include <memory>

#include "python/src/table.h"
#include "sim/cost/cost.h"
#include "sim/report/report.h"

namespace accsim::python {

/// A report as Python holds it.
struct ReportObject {
  std::shared_ptr<const sim::Report> report;
  std::shared_ptr<const sim::CostedNetwork> network;  ///< null for one that was unpickled
  std::shared_ptr<const sim::Graph> graph;            ///< that it was costed of; null likewise
  mutable TablePtr layers;                            ///< made when first asked for
};

/// Adds Report, Row and cost() to the module.
void add_report(nanobind::module_& module);

}  // namespace accsim::python
