#include "sim/base/json_text.h"

#include <nlohmann/json.hpp>

namespace accsim {

std::string json_text(const nlohmann::ordered_json& json, int indent) {
  return json.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string utf8_text(std::string_view bytes) {
  return nlohmann::ordered_json::parse(json_text(bytes)).get<std::string>();
}

}  // namespace accsim
