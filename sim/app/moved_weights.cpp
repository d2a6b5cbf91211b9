#include "sim/app/moved_weights.h"

#include <fmt/format.h>

#include <filesystem>

namespace accsim::sim {

std::vector<std::string> moved_weights(const std::vector<std::string>& external,
                                       const std::string& model, const std::string& output) {
  std::error_code error;
  const auto folder = [&](const std::string& file) {
    return std::filesystem::weakly_canonical(std::filesystem::absolute(file, error), error)
        .parent_path();
  };
  std::vector<std::string> out;
  if (external.empty() || folder(model) == folder(output)) return out;
  for (const std::string& file : external)
    out.push_back(fmt::format("weights in '{}' are now looked for beside {}", file, output));
  return out;
}

}  // namespace accsim::sim
