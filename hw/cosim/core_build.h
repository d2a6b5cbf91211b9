#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "sim/base/result.h"

namespace accsim::hw {

/// What who loads a core waits for.
struct BuildStep {
  enum class Kind : uint8_t {
    waits,      ///< until somebody else has built the same core
    verilates,  ///< Verilator translates rtl/ to C++
    compiles,   ///< `done` of `of` parts of it are compiled
    links,
    ended  ///< nothing any more: the core is there, or can't be had
  };
  Kind kind = Kind::ended;
  size_t done = 0, of = 0;
};

/// Where and with what variants of the core are built.
struct VerilatedCoreOptions {
  std::filesystem::path source_dir;  ///< the tree: rtl/ and hw/cosim/ lie in it
  std::filesystem::path cache_dir;   ///< built variants, by the hash of all that went into them,
                                     ///< the processor among it
  /// Files that stand in for those of their names in rtl/ (replaced_files.h).
  std::vector<std::filesystem::path> replaced = {};
  std::string verilator = "verilator";
  std::string compiler = "clang++";
  bool trace = false;       ///< can write waveforms; slower
  bool pe_modules = false;  ///< PEs as modules, what synthesis takes; slower
  bool assertions = false;  ///< those of rtl/ are checked, registers begin random; slower
  bool any_cycles = false;  ///< rtl/ may have other latencies than this program (accsim_pkg)
  const std::atomic<bool>* stop = nullptr;  ///< ends a build that is under way, and waiting for one
  /// Told again and again while a variant is built or waited for, which takes a while; then that
  /// it has ended. Not told of a variant that is there.
  std::function<void(const BuildStep&)> building = nullptr;
};

/// What a variant is built from, beside the files.
struct CoreRecipe {
  std::vector<std::string> parameters;  ///< of rtl/accsim_core.sv, as NAME=VALUE
  int64_t reset_cycles = 0;
  std::string tools;  ///< toolchain_text()
};

/// In the folder of a variant.
inline constexpr const char* kCoreLibrary = "core.so";

/// An error of building or loading a core.
Error core_error(Errc code, std::string message);

/// What a file holds. Errc::io with its name.
Result<std::string> read_core_file(const std::filesystem::path& file);

/// Errc::io with the name of what is there and is of another kind: a folder in a file's place.
Status check_kind(const std::filesystem::path& path, std::filesystem::file_type kind);

/// The tools with their options, and the processor that -march=native stands for: all that the
/// compiler predefines for it. Errc::io when one of them doesn't work.
Result<std::string> toolchain_text(const VerilatedCoreOptions& options);

/// Verilates, compiles on all processors and links in `folder`, which then holds kCoreLibrary,
/// sealed. Errc::io with the log of the failed step.
Status build_core(const CoreRecipe& recipe, const VerilatedCoreOptions& options,
                  const std::filesystem::path& folder);

}  // namespace accsim::hw
