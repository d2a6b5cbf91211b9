#pragma once
#include <string>
#include <utility>
#include <vector>

#include "sim/base/result.h"

namespace accsim::hw {

/// What can be connected to a module of SystemVerilog, as its header says.
struct ModuleHeader {
  std::string name;
  /// That an instance can set; whether it must.
  std::vector<std::pair<std::string, bool>> parameters;
  std::vector<std::pair<std::string, std::string>> ports;  ///< name, direction
};

/// Of a file's modules the one that is called `name`. `file` is for errors. Errc::parse: there is
/// none, its header says no directions, or the preprocessor decides what it has.
Result<ModuleHeader> read_header(const std::string& text, const std::string& name,
                                 const std::string& file);

/// In which names and directions `other` can't be connected as `own` is, a sentence each. Order
/// doesn't matter, nor do parameters that only `other` has, with a default.
std::vector<std::string> header_differences(const ModuleHeader& own, const ModuleHeader& other);

}  // namespace accsim::hw
