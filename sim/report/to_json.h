#pragma once
#include <nlohmann/json.hpp>
#include <variant>

namespace accsim::sim {

/// JSON whose keys keep the order in which they were set.
using Json = nlohmann::ordered_json;

/// Visits a field's value (FieldValue, AttributeValue); nothing to say becomes null.
struct ToJson {
  Json operator()(std::monostate) const { return nullptr; }
  Json operator()(const auto& v) const { return v; }
};

}  // namespace accsim::sim
