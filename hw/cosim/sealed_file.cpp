#include "hw/cosim/sealed_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "sim/base/hash.h"

namespace accsim::hw {
namespace {

namespace fs = std::filesystem;

fs::path seal_of(const fs::path& file) { return file.string() + ".xxh3"; }

/// Nothing for what isn't a file: a pipe would be waited for.
std::optional<std::string> content_of(const fs::path& file) {
  std::error_code error;
  if (!fs::is_regular_file(file, error)) return std::nullopt;
  std::ifstream in(file, std::ios::binary);
  if (!in) return std::nullopt;
  std::string out(std::istreambuf_iterator<char>(in), {});
  if (in.bad()) return std::nullopt;
  return out;
}

bool flush_to_disk(const fs::path& file) {
  const int fd = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const bool done = ::fsync(fd) == 0;
  ::close(fd);
  return done;
}

}  // namespace

bool seal_file(const fs::path& file) {
  const std::optional<std::string> bytes = content_of(file);
  if (!bytes || bytes->empty()) return false;
  std::ofstream out(seal_of(file), std::ios::binary);
  out << hash_text(*bytes);
  out.close();
  return out && flush_to_disk(file) && flush_to_disk(seal_of(file)) &&
         flush_to_disk(file.parent_path());
}

bool is_intact(const fs::path& file) {
  const std::optional<std::string> stated = content_of(seal_of(file));
  if (!stated) return false;
  const std::optional<std::string> bytes = content_of(file);
  return bytes && hash_text(*bytes) == *stated;
}

bool rename_sealed(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::rename(seal_of(from), seal_of(to), error);
  if (!error) fs::rename(from, to, error);
  return !error;
}

}  // namespace accsim::hw
