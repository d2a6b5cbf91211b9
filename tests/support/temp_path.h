#pragma once
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <system_error>

namespace accsim::test {

/// A folder of this process's own, so that tests that run at the same time share no files; gone
/// when the process ends.
class TempFolder {
 public:
  TempFolder() : path_(testing::TempDir() + "accsim_test_" + std::to_string(getpid())) {
    std::filesystem::create_directories(path_);
  }
  ~TempFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// A file's path in that folder.
inline std::string temp_path(const std::string& name) {
  static const TempFolder folder;
  return folder.path() + "/" + name;
}

}  // namespace accsim::test
