#include "sim/app/output.h"

#include <fcntl.h>

#include <cstdio>

#include "sim/app/cli.h"
#include "sim/report/format.h"
#include "sim/report/write_file.h"

namespace accsim::sim {

void hold_standard_streams() {
  for (const int stream : {0, 1, 2})  // open() takes the lowest number that is free
    if (::fcntl(stream, F_GETFD) < 0)
      static_cast<void>(::open("/dev/null", stream == 0 ? O_WRONLY : O_RDONLY));
}

void print_err(std::string_view text) { print_status(printable(text, "\n\t")); }

void print_status(std::string_view text) {
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), stderr));
}

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

int write_pieces(const std::string& path, const std::function<Status(const TextSink&)>& make) {
  if (path == "-") {
    const Status made = make([](std::string_view text) -> Status {
      const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
      if (written && std::fflush(stdout) == 0) return ok();
      return Error{Errc::io, "can't write to standard output", ""};
    });
    return made ? kExitOk : report_errors(made.errors());
  }
  Result<FileWriter> file = FileWriter::create(path);
  if (!file) return report_errors(file.errors());
  if (const Status made = make([&](std::string_view text) { return file->write(text); }); !made)
    return report_errors(made.errors());
  const Status written = file->commit();
  return written ? kExitOk : report_errors(written.errors());
}

}  // namespace accsim::sim
