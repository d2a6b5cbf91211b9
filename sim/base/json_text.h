#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace accsim {

/// JSON as text, `indent` blanks a level deeper; -1: all of it on one line. Bytes that aren't UTF-8
/// become U+FFFD.
std::string json_text(const nlohmann::ordered_json& json, int indent = -1);

/// The same characters, bytes that aren't UTF-8 as U+FFFD.
std::string utf8_text(std::string_view bytes);

}  // namespace accsim
