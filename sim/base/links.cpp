#include "sim/base/links.h"

#include <filesystem>
#include <system_error>

namespace accsim::sim {

std::string resolve_links(const std::string& path) {
  constexpr int kMostLinks = 40;
  std::filesystem::path out(path);
  std::error_code error;
  for (int i = 0; i < kMostLinks; ++i) {
    if (!std::filesystem::is_symlink(out, error)) return out.string();
    const std::filesystem::path next = std::filesystem::read_symlink(out, error);
    if (error) return path;
    out = out.parent_path() / next;  // or `next` alone, when it is absolute
  }
  return "";
}

}  // namespace accsim::sim
