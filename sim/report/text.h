#pragma once
#include <string>

#include "sim/report/report.h"

namespace accsim::sim {

/// How to_text() lays a report out.
struct TextOptions {
  int width = 100;          ///< of the terminal; less than 60 counts as 60
  bool colour = false;      ///< with escape codes: only when writing to a terminal
  bool all_layers = false;  ///< views and folded nodes that cost nothing too
  bool unicode = false;     ///< bars of block characters (UTF-8) instead of ASCII
};

/// The report for people: model and machine, the table of layers with the totals last, a summary.
/// Printable ASCII (and colour codes and block characters when asked); no line is wider than the
/// width.
std::string to_text(const Report& report, const TextOptions& options);

}  // namespace accsim::sim
