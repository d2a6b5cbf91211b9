#include "sim/report/write_folder.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace accsim::sim {
namespace {

namespace fs = std::filesystem;

Error folder_error(const fs::path& path, const std::string& why) {
  return {Errc::io, why, path.string()};
}

/// Without what stands behind its last name: "x/" is "x".
fs::path without_slash(const std::string& path) {
  const fs::path out(path);
  return out.has_filename() ? out : out.parent_path();
}

}  // namespace

Result<FolderWriter> FolderWriter::create(const std::string& path, const std::string& mark) {
  std::error_code error;
  FolderWriter out;
  out.target_ = without_slash(path);
  const fs::path& target = out.target_;
  if (fs::exists(target, error)) {
    if (!fs::is_directory(target, error)) return folder_error(target, "is a file, not a folder");
    if (!fs::is_empty(target, error) && !fs::exists(target / mark, error))
      return Error{Errc::usage,
                   fmt::format("is a folder with other files (no {}): name a new one", mark),
                   target.string()};
  }
  const fs::path parent = target.has_parent_path() ? target.parent_path() : fs::path(".");
  fs::create_directories(parent, error);
  if (error) return folder_error(parent, error.message());
  std::string name = (parent / fmt::format(".{}-XXXXXX", target.filename().string())).string();
  if (!mkdtemp(name.data())) return folder_error(parent, std::strerror(errno));
  out.temporary_ = name;
  // As mkdir would make it; mkdtemp's is for its owner alone.
  fs::permissions(out.temporary_, fs::perms(0755), error);
  return out;
}

FolderWriter& FolderWriter::operator=(FolderWriter&& other) noexcept {
  if (this == &other) return *this;
  discard_folder();
  target_ = std::exchange(other.target_, {});
  temporary_ = std::exchange(other.temporary_, {});
  return *this;
}

void FolderWriter::discard_folder() {
  std::error_code ignored;
  if (!temporary_.empty()) fs::remove_all(temporary_, ignored);
  temporary_.clear();
}

Status FolderWriter::commit() {
  std::error_code error;
  // Renamed over an empty folder, a folder takes its place; one that isn't empty goes first.
  const fs::path old = temporary_.string() + ".old";
  const bool replaces = fs::exists(target_, error);
  if (replaces) fs::rename(target_, old, error);
  if (!error) fs::rename(temporary_, target_, error);
  if (error) {
    std::error_code ignored;
    if (replaces && !fs::exists(target_, ignored)) fs::rename(old, target_, ignored);
    return folder_error(target_, error.message());
  }
  temporary_.clear();
  if (replaces) fs::remove_all(old, error);
  return ok();
}

}  // namespace accsim::sim
