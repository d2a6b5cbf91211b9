#include "sim/elaborate/control_flow.h"

namespace accsim::sim {

ControlFlowRule find_control_flow(const NodeDef& node) {
  if (!node.domain.empty()) return nullptr;
  if (node.op_type == "If") return expand_if;
  if (node.op_type == "Loop") return expand_loop;
  if (node.op_type == "Scan") return expand_scan;
  return nullptr;
}

}  // namespace accsim::sim
