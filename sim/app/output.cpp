#include "sim/app/output.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <cstdio>

#include "sim/app/cli.h"
#include "sim/report/write_file.h"

namespace accsim::sim {

int print_out(const std::string& text) {
  const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (written && std::fflush(stdout) == 0) return kExitOk;
  return report_errors({{Errc::io, "can't write to standard output", ""}});
}

int write_result(const std::string& path, const std::string& text) {
  if (path == "-") return print_out(text);
  const Status written = write_file_atomically(path, text);
  return written ? kExitOk : report_errors(written.errors());
}

int terminal_width() {
  winsize size{};
  const bool known = isatty(STDOUT_FILENO) && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0;
  return known && size.ws_col > 0 ? size.ws_col : 160;
}

}  // namespace accsim::sim
