#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "sim/base/result.h"

namespace accsim::sim {

/// JSON that somebody else wrote; objects keep the order of their members. Takes time that grows
/// with the text, whatever it holds. Errc::parse, with line and column: text that is no JSON, a
/// number that no double holds, a member that an object has twice. `file` is for messages.
Result<nlohmann::ordered_json> read_json(std::string_view text, const std::string& file);

}  // namespace accsim::sim
