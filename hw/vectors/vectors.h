#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "hw/config/hw_config.h"
#include "hw/golden/golden.h"
#include "hw/program/program.h"
#include "hw/vectors/number_file.h"
#include "sim/base/result.h"

namespace accsim::hw {

/// Vectors for RTL that isn't ours: what a program's commands take and give, as files.
/// docs/vectors.md says what stands where.

/// How much is written.
enum class VectorLevel : uint8_t {
  command,  ///< all commands, with descriptors, tokens, cycles and memory
  tile,     ///< operands and results of gemms and posts, for who has an array only
};
/// As the command line spells it: "command", "tile".
std::string_view name(VectorLevel level);

/// What of a program is written, and how.
struct VectorOptions {
  VectorLevel level = VectorLevel::command;
  NumberFormats formats{};
  /// Now and then: commands done and in all. The writing ends when it says false.
  std::function<bool(int64_t done, int64_t of)> progress = nullptr;
};

/// What a manifest tells of where vectors come from.
struct VectorOrigin {
  std::string accsim;   ///< the program's version
  std::string machine;  ///< as the command line names it
  std::string what;     ///< "gemm 100x200x300", "layer conv1 of m.onnx", ...
  uint64_t seed = 1;
};

/// What was written.
struct VectorSummary {
  int64_t commands = 0, tiles = 0, posts = 0, cycles = 0, bytes = 0;
};

/// Runs a verified program on golden and timing model, from `image` on, and writes its vectors into
/// `folder`, which is there and empty. One command is in memory at a time, beside the image, the
/// accumulators and 32 bytes per command. Errors: what golden doesn't run or the core has no
/// descriptor for (Errc::unsupported); the file system's (Errc::io).
Result<VectorSummary> write_vectors(const Program& program, const HwConfig& hw, MemoryImage image,
                                    const VectorOrigin& origin, const VectorOptions& options,
                                    const std::filesystem::path& folder);

/// The folder of program `i`, where there are several: "0003".
std::string folder_of(size_t i);
/// The manifest of a folder with so many programs, which names their folders.
Status write_index(const std::filesystem::path& folder, size_t programs);

/// JSON Schema of manifest.json, and of the lines of the files beside it ($defs).
std::string vectors_schema();

}  // namespace accsim::hw
