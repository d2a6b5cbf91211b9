#pragma once
#include <cstdint>
#include <map>
#include <string>

#include "hw/program/program.h"

namespace accsim::hw {

/// How often something has been run, by what it is: "lane add", "lane b: parameter", "post table",
/// "load to output", "dataflow is". Every command and option has an entry, also when it is 0, so
/// that what random programs miss can be seen.
using Coverage = std::map<std::string, int64_t>;

/// Adds the commands and options of a verified program, each as often as its loops run it.
void add_coverage(const Program& program, Coverage& to);

}  // namespace accsim::hw
