#pragma once
#include <nlohmann/json.hpp>
#include <variant>

#include "hw/config/fields.h"

namespace accsim::sim {

/// JSON whose keys keep the order in which they were set.
using Json = nlohmann::ordered_json;

/// Visits a field's value (FieldValue, AttributeValue); nothing to say becomes null.
struct ToJson {
  Json operator()(std::monostate) const { return nullptr; }
  Json operator()(const auto& v) const { return v; }
};

/// What a field of a machine holds; a mode is an object of its keys.
Json value_json(const hw::Field& field, const hw::HwConfig& hw);

}  // namespace accsim::sim
