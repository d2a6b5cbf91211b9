#include "sim/elaborate/node_label.h"

#include <fmt/format.h>

#include <string_view>

namespace accsim::sim {
namespace {

std::string label_of(std::string_view name, std::string_view domain, std::string_view op_type) {
  return domain.empty() ? fmt::format("node '{}' (op {})", name, op_type)
                        : fmt::format("node '{}' (op {}::{})", name, domain, op_type);
}

}  // namespace

std::string node_name(const NodeDef& node, size_t i) {
  const std::string own = node.name.empty() ? fmt::format("{}_{}", node.op_type, i) : node.name;
  return node.module.empty() ? own : node.module + "/" + own;
}

std::string node_label(const NodeDef& node, const std::string& name) {
  return label_of(name, node.domain, node.op_type);
}

std::string node_label(const Node& node) { return label_of(node.name, node.domain, node.op_type); }

Errors put_at(const std::string& place, Errors errors) {
  for (Error& error : errors)
    error.where = error.where.empty() ? place : fmt::format("{}: {}", place, error.where);
  return errors;
}

}  // namespace accsim::sim
