#pragma once
#include <string>
#include <string_view>

#include "hw/cosim/verilated_core.h"
#include "sim/report/verify.h"

namespace accsim::sim {

/// What help says of --cache.
inline constexpr std::string_view kCacheAbout =
    "Folder of the Verilated cores; default: beside accsim if that is in a build folder, else "
    "~/.cache/accsim/verilated";

/// How cores are built from this tree, or another one, and kept in this folder; "": as by default.
/// Progress of a build is shown, and Ctrl-C ends it.
Result<hw::VerilatedCoreOptions> core_variant(const std::string& source, const std::string& cache);

/// The exit code of what was verified; says on standard error why there was no core.
int exit_code_of(const VerifyReport& report);

}  // namespace accsim::sim
