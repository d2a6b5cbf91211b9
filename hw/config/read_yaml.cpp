#include "hw/config/read_yaml.h"

#include <fmt/format.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "hw/config/yaml_tree.h"

namespace accsim::hw {

Result<std::string> read_yaml(const std::string& path, std::string_view what) {
  std::error_code ec;
  const auto status = std::filesystem::status(path, ec);
  const bool folder = std::filesystem::is_directory(status);
  if (folder || !std::filesystem::exists(status))
    return Error{Errc::io,
                 fmt::format("{}; give the path of a {} (YAML)",
                             folder ? "is a directory" : "no such file", what),
                 path};
  std::ifstream in(path, std::ios::binary);
  if (!in)
    return Error{Errc::io, "can't be opened: " + std::generic_category().message(errno), path};
  // One byte over the limit is enough to see that there are more, whatever the file's real size.
  std::string text(kYamlBytesMax + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad()) return Error{Errc::io, "can't be read", path};
  text.resize(static_cast<size_t>(in.gcount()));
  if (text.size() > kYamlBytesMax)
    return Error{Errc::invalid,
                 fmt::format("larger than {} bytes; this is no {}", kYamlBytesMax, what), path};
  return text;
}

}  // namespace accsim::hw
