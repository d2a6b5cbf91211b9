#pragma once
#include <string>
#include <string_view>

#include "sim/base/result.h"
#include "sim/report/report.h"

namespace accsim::python {

/// All of a report as bytes: equal for equal reports.
std::string save_report(const sim::Report& report);

/// The report of such bytes. Errc::invalid for those of another version of accsim.
Result<sim::Report> restore_report(std::string_view bytes);

}  // namespace accsim::python
