#include "sim/elaborate/control_flow.h"

#include "sim/operators/op_table.h"

namespace accsim::sim {

ControlFlowRule find_control_flow(const NodeDef& node) {
  const OpRow* row = find_op(node.domain, node.op_type);
  switch (row == nullptr ? ControlFlow::none : row->control_flow) {
    case ControlFlow::branch:
      return expand_if;
    case ControlFlow::loop:
      return expand_loop;
    case ControlFlow::scan:
      return expand_scan;
    case ControlFlow::none:
      break;
  }
  return nullptr;
}

}  // namespace accsim::sim
