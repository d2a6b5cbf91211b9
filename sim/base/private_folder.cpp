#include "sim/base/private_folder.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace accsim {
namespace fs = std::filesystem;

PrivateFolder::PrivateFolder(const std::string& purpose) {
  std::error_code error;
  path_ = (fs::temp_directory_path(error) / ("accsim-" + purpose + "-XXXXXX")).string();
  if (error || ::mkdtemp(path_.data()) == nullptr) path_.clear();
}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);
}

}  // namespace accsim
