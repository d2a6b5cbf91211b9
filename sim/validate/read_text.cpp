#include "sim/validate/read_text.h"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>

#include "hw/config/yaml_tree.h"

namespace accsim::sim {

Result<std::string> read_text(const std::string& path, std::string_view what) {
  std::error_code ec;
  const auto status = std::filesystem::status(path, ec);
  if (!std::filesystem::is_regular_file(status))
    return Error{Errc::io, fmt::format("no such file; give the path of {}", what), path};
  std::ifstream in(path, std::ios::binary);
  std::string text(hw::kYamlBytesMax + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad() || !in.is_open()) return Error{Errc::io, "can't be read", path};
  text.resize(static_cast<size_t>(in.gcount()));
  if (text.size() > hw::kYamlBytesMax)
    return Error{Errc::invalid,
                 fmt::format("larger than {} bytes; this is not {}", hw::kYamlBytesMax, what),
                 path};
  return text;
}

}  // namespace accsim::sim
