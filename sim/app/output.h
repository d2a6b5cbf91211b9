#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "sim/report/trace.h"

namespace accsim::sim {

/// Holds the numbers of standard streams that the caller closed, so that no file or socket gets
/// them and then what was meant for a stream. To read from or write to such a stream is an error.
void hold_standard_streams();

/// Says something on standard error. What can't be said there can't be said: no failure.
/// Control characters in it don't reach a terminal.
void print_err(std::string_view text);
/// The same for a terminal's line that changes: codes in it do.
void print_status(std::string_view text);

/// Prints to standard output; a full disk or closed pipe is an error, not silence. Exit code.
int print_out(const std::string& text);

/// Writes a result file, or to standard output for "-". Exit code.
int write_result(const std::string& path, const std::string& text);

/// The same for a file that is made piece by piece: `make` is given where its text goes. A file has
/// all or nothing of it.
int write_pieces(const std::string& path, const std::function<Status(const TextSink&)>& make);

}  // namespace accsim::sim
