#pragma once
#include <string>

namespace accsim {

/// A temporary folder of this process alone; goes with the object.
class PrivateFolder {
 public:
  /// Called accsim-PURPOSE-XXXXXX. path() is empty where none could be made, and errno says why.
  explicit PrivateFolder(const std::string& purpose);
  ~PrivateFolder();
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace accsim
