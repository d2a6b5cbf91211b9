#pragma once
#include <string>
#include <string_view>

#include "sim/base/result.h"

namespace accsim::sim {

/// All of a file's text, up to hw::kYamlBytesMax bytes. `what` says what is expected there. Errors:
/// io, and invalid when it is larger.
Result<std::string> read_text(const std::string& path, std::string_view what);

}  // namespace accsim::sim
