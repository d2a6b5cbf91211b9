#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace accsim {

/// JSON as text, `indent` blanks a level deeper; -1: all of it on one line. Bytes that aren't UTF-8
/// become U+FFFD.
std::string json_text(const nlohmann::ordered_json& json, int indent = -1);

}  // namespace accsim
