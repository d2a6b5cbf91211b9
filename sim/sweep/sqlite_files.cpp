#include "sim/sweep/sqlite_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <span>
#include <system_error>

#include "sim/base/links.h"

namespace accsim::sim {
namespace {

/// Whether a file begins as SQLite's beside a database do, or holds nothing yet
/// (https://www.sqlite.org/fileformat.html, https://www.sqlite.org/walformat.html).
bool is_sqlites(const std::string& path) {
  // A journal's magic and count of records, zeros until its records are on the disk.
  std::array<unsigned char, 12> head{};
  std::ifstream in(path, std::ios::binary);
  if (!in) return false;
  in.read(reinterpret_cast<char*>(head.data()), head.size());
  constexpr std::array<std::array<unsigned char, 4>, 5> kBegins = {{
      {0xd9, 0xd5, 0x05, 0xf9},  // a journal
      {0x37, 0x7f, 0x06, 0x82},  // a write-ahead log
      {0x37, 0x7f, 0x06, 0x83},
      {0x18, 0xe2, 0x2d, 0x00},  // its index, 3007000 in the computer's order of bytes
      {0x00, 0x2d, 0xe2, 0x18},
  }};
  const auto begins = [&](const auto& with) {
    return std::ranges::equal(with, std::span(head).first(with.size()));
  };
  const bool blank = std::ranges::all_of(head, [](unsigned char byte) { return byte == 0; });
  return blank || std::ranges::any_of(kBegins, begins);
}

}  // namespace

std::vector<std::string> files_beside(const std::string& path) {
  const std::string file = resolve_links(path);
  std::vector<std::string> out;
  for (const char* end : {"-wal", "-shm", "-journal"}) out.push_back(file + end);
  return out;
}

Status check_files_beside(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (fs::exists(path, error) &&
      (!fs::is_regular_file(path, error) || fs::file_size(path, error) > 0))
    return ok();
  for (const std::string& file : files_beside(path)) {
    if (!fs::exists(fs::symlink_status(file, error)) || is_sqlites(file)) continue;
    return Error{Errc::io,
                 fmt::format("is no store yet, but '{}' is there, and making the store would "
                             "delete it; move it away, or name another store",
                             file),
                 path};
  }
  return ok();
}

}  // namespace accsim::sim
