#include "sim/elaborate/scope.h"

#include <memory>
#include <utility>
#include <variant>

#include "sim/elaborate/node_label.h"

namespace accsim::sim {

const TensorId* Scope::find(std::string_view name) const {
  for (const Scope* scope = this; scope != nullptr; scope = scope->parent) {
    const auto found = scope->names.find(name);
    if (found != scope->names.end()) return &found->second;
  }
  return nullptr;
}

Scope Scope::inner_scope(std::string inner_prefix) const {
  Scope inner;
  inner.parent = this;
  inner.frame = frame;
  inner.prefix = std::move(inner_prefix);
  return inner;
}

const Attribute* NodeCall::find_attribute(std::string_view wanted) const {
  for (const Attribute& attribute : attributes)
    if (attribute.name == wanted) return &attribute;
  return nullptr;
}

const GraphDef* NodeCall::graph_attribute(std::string_view wanted) const {
  const auto* graph = held_value<std::shared_ptr<const GraphDef>>(find_attribute(wanted));
  return graph == nullptr ? nullptr : graph->get();
}

int64_t NodeCall::integer_attribute(std::string_view wanted, int64_t fallback) const {
  const auto* value = held_value<int64_t>(find_attribute(wanted));
  return value == nullptr ? fallback : *value;
}

std::vector<int64_t> NodeCall::integers_attribute(std::string_view wanted) const {
  const auto* values = held_value<std::vector<int64_t>>(find_attribute(wanted));
  return values == nullptr ? std::vector<int64_t>{} : *values;
}

Error NodeCall::error_at_node(Errc code, std::string message) const {
  return Error{code, std::move(message), node_label(def, name)};
}

Errors NodeCall::errors_at_node(Errors found) const {
  return put_at(node_label(def, name), std::move(found));
}

std::vector<Attribute> resolve_attributes(const std::vector<Attribute>& attributes,
                                          const CallFrame* frame) {
  std::vector<Attribute> out;
  out.reserve(attributes.size());
  for (const Attribute& attribute : attributes) {
    if (attribute.ref.empty()) {
      out.push_back(attribute);
      continue;
    }
    if (frame == nullptr) continue;
    for (const Attribute& given : frame->attributes)
      if (given.name == attribute.ref) out.push_back({attribute.name, "", given.value});
  }
  return out;
}

}  // namespace accsim::sim
