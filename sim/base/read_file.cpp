#include "sim/base/read_file.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

namespace accsim {

Result<std::string> read_bytes(const std::string& file, const char* kind) {
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (std::filesystem::is_directory(status))
    return Error{Errc::io, fmt::format("is a folder; name {}", kind), file};
  // A device may have no end, a pipe no writer.
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status))
    return Error{Errc::io, fmt::format("is not a regular file; name {}", kind), file};
  std::ifstream in(file, std::ios::binary);
  if (!in) return Error{Errc::io, "can't be opened; check the path", file};
  std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  if (in.bad()) return Error{Errc::io, "can't be read", file};
  return bytes;
}

}  // namespace accsim
