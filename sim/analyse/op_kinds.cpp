#include "sim/analyse/op_kinds.h"

namespace accsim::sim {

OpKind kind_of(const Node& node) {
  const OpRow* row = find_op(node);
  return row ? row->kind : OpKind::other;
}

bool works_in_place(const Node& node) {
  const OpRow* row = find_op(node);
  return row && row->in_place;
}

int shift_port(const Node& node) {
  const OpRow* row = find_op(node);
  return row ? row->port_of(PortRole::shift) : kNoPort;
}

std::string op_label(const Node& node) {
  const bool own = node.domain.empty() || node.domain == "ai.onnx";
  return own ? node.op_type : node.domain + "." + node.op_type;
}

}  // namespace accsim::sim
