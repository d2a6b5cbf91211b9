#pragma once
#include <filesystem>
#include <string>

#include "hw/config/hw_config.h"
#include "sim/base/result.h"

namespace accsim::sim {

/// The folder with this program's rtl/, hw/cosim/ and configs/. In a build folder that is the
/// source tree, which accsim.tree beside the program names. Else it is what was installed with the
/// program. Errc::io, with the places that were tried, when there is neither.
Result<std::filesystem::path> data_folder();

/// Where Verilated cores are kept unless the user says. In a build folder they lie beside the
/// program, so a clean build starts clean. An installed program has no folder to write to, and
/// takes the user's cache (XDG_CACHE_HOME, else ~/.cache). Errc::io when there is no such folder.
Result<std::filesystem::path> core_cache();

/// configs/ of data_folder(), where the shipped machines lie; "" without it.
std::string machine_folder();

/// hw::machine_file() of what the command line has for a machine.
std::string find_machine(const std::string& given);

/// hw::load_hw(); of a file that find_machine() has for a name, the machine's `file` is that name,
/// wherever it lies on this computer.
Result<hw::HwConfig> load_machine(const std::string& file);

}  // namespace accsim::sim
