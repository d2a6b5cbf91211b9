#include "sim/operators/contrib/attention_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/operators/rules.h"
#include "sim/operators/work_counts.h"

namespace accsim::sim {

ValuePort prepare_operand(const Access& operand, int64_t ops_per_element, ValuePort made,
                          VectorOp& op) {
  op.inputs.push_back(operand);
  op.outputs.push_back({made, operand.elements, 0});
  op[VectorClass::elementwise] =
      capped_sum(op[VectorClass::elementwise], capped_product({ops_per_element, operand.elements}));
  return made;
}

Result<int64_t> past_length(const NodeView& node, size_t i, const AttentionPlan& p, int64_t head) {
  if (!node.has_input(i)) return int64_t{0};
  const Dims& past = node.dims(i);
  if (past.size() != 4 || past[0] != p.batch || past[1] != p.kv_heads || past[3] != head)
    return bad_node(node, fmt::format("past key {} must be {}x{}x?x{}", to_string(past), p.batch,
                                      p.kv_heads, head));
  return past[2];
}

int64_t known_total(const NodeView& node, size_t i) {
  const ConstData* total = node.value(i);
  const bool known = total != nullptr && total->is_integer() && total->size() == 1;
  return known ? std::max<int64_t>(total->integers()[0], 0) : 0;
}

int64_t tokens_kept(int64_t tokens, int64_t room, int64_t window) {
  return tokens <= room ? tokens : window + (tokens - window) % (room - window + 1);
}

}  // namespace accsim::sim
