#pragma once
#include <string>
#include <utility>
#include <vector>

#include "hw/vectors/vectors.h"

namespace accsim::hw {

/// What a manifest is of.
struct Described {
  const Program& program;
  const HwConfig& hw;
  const VectorOrigin& origin;
  const VectorOptions& options;
};
/// manifest.json of a program's vectors, written into the folder; `files` are closed. Adds up the
/// bytes of their numbers in `summary`. Errc::io.
Status write_manifest(const Described& of,
                      const std::vector<std::pair<std::string, NumberFile*>>& files,
                      const std::filesystem::path& folder, VectorSummary& summary);

/// The file of a tensor's bytes, without its ending: "memory_before/003". `when`: before, after.
std::string memory_file(std::string_view when, size_t tensor);

}  // namespace accsim::hw
