#pragma once
#include <stdlib.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace accsim::test {

/// A new, empty folder that goes with the object, and all that is in it: the one way in which tests
/// in C++ write files. Nobody else has it, so tests may run side by side, and nothing that an
/// earlier test left can be read by accident.
class TempFolder {
 public:
  TempFolder() : path_((std::filesystem::temp_directory_path() / "accsim_test_XXXXXX").string()) {
    if (::mkdtemp(path_.data()) == nullptr) throw std::runtime_error("no folder: " + path_);
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all, ignored);
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string path(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

/// A file's path in a folder that lasts as long as the process.
inline std::string temp_path(const std::string& name) {
  static const TempFolder folder;
  return folder.path(name);
}

/// Writes a file into that folder and gives its path.
inline std::string write_temp(const std::string& name, std::string_view bytes) {
  std::string path = temp_path(name);
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

}  // namespace accsim::test
