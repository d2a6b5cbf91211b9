#pragma once
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>

#include "hw/cosim/verilated_core.h"
#include "tests/support/source.h"

namespace accsim::test {

/// A path beside the test program, wherever it is started from: what tests build stays in the build
/// folder.
inline std::filesystem::path beside_program(const std::string& name) {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / name;
}

/// Options for building variants into the build folder; nothing when a tool is missing.
inline std::optional<hw::VerilatedCoreOptions> rtl_options() {
  const auto there = [](const std::string& tool) {
    return std::system(("command -v " + tool + " > /dev/null").c_str()) == 0;
  };
  hw::VerilatedCoreOptions options{.source_dir = kSource,
                                   .cache_dir = beside_program("rtl_variants")};
  if (!there(options.verilator)) return std::nullopt;
  for (const char* compiler : {"clang++", "clang++-14", "g++"}) {
    if (!there(compiler)) continue;
    options.compiler = compiler;
    return options;
  }
  return std::nullopt;
}

}  // namespace accsim::test
