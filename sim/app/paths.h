#pragma once
#include <filesystem>
#include <string>

#include "hw/config/hw_config.h"
#include "sim/base/result.h"

namespace accsim::sim {

/// The folder with rtl/, hw/cosim/ and configs/ that belong to this program: the source tree when
/// it runs in its build folder (accsim.tree, beside it, names the tree), what was installed with it
/// otherwise. Errc::io with the places looked at when neither is there.
Result<std::filesystem::path> data_folder();

/// Where Verilated cores are kept unless the user says: beside the program in a build folder, so
/// that a clean build starts clean; an installed one has no folder of its own to write to and takes
/// the user's cache (XDG_CACHE_HOME, else ~/.cache). Errc::io when there is no such folder.
Result<std::filesystem::path> core_cache();

/// configs/ of data_folder(), where the shipped machines lie; "" without it.
std::string machine_folder();

/// hw::machine_file() of what the command line has for a machine.
std::string find_machine(const std::string& given);

/// hw::load_hw(); of a file that find_machine() has for a name, the machine's `file` is that name,
/// wherever it lies on this computer.
Result<hw::HwConfig> load_machine(const std::string& file);

}  // namespace accsim::sim
