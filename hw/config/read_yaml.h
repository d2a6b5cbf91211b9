#pragma once
#include <string>
#include <string_view>

#include "sim/base/result.h"

namespace accsim::hw {

/// All of a file's text, for parse_yaml(): at most kYamlBytesMax bytes. `what` says what is
/// expected there, as in "give the path of a sweep (YAML)" and "this is no sweep". Errors: io, and
/// invalid when it is larger.
Result<std::string> read_yaml(const std::string& path, std::string_view what);

}  // namespace accsim::hw
