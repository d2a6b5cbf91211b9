#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "hw/cosim/core_build.h"
#include "sim/base/result.h"

namespace accsim::hw {

/// The file that a name in rtl/ stands for: the tree's, or the one that stands in for it.
std::filesystem::path rtl_file(const VerilatedCoreOptions& options, const std::string& name);

/// Can the files of `options.replaced` stand in for those of their names: each has one of a list of
/// rtl/, once, and a module has the parameters and ports of the tree's? Widths are only known of a
/// machine: replaced_wrong().
Status check_replaced(const VerilatedCoreOptions& options);

/// What Verilator reads in rtl/, as text of a list (-f): the tree's lists with replaced files, and
/// `witness`, which has Verilator say which of these are in the core.
Result<std::string> core_list(const VerilatedCoreOptions& options,
                              const std::filesystem::path& witness);
/// The text of `witness`: a module beside each replaced one, bound to it.
std::string witness_text(const VerilatedCoreOptions& options);

/// Whether all replaced modules are in the core that Verilator has translated, with ports as wide
/// as the core's; `log`: all that it said.
Status replaced_wrong(const VerilatedCoreOptions& options, const std::string& log);

}  // namespace accsim::hw
