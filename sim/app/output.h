#pragma once
#include <string>

namespace accsim::sim {

/// Prints to standard output; a full disk or closed pipe is an error, not silence. Exit code.
int print_out(const std::string& text);

/// Writes a result file, or to standard output for "-". Exit code.
int write_result(const std::string& path, const std::string& text);

/// Columns of the terminal that standard output goes to; a wide page when it goes to a file.
int terminal_width();

}  // namespace accsim::sim
