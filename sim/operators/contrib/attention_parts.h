#pragma once
#include "sim/operators/matmul/attention_rules.h"

namespace accsim::sim {

/// What rules of com.microsoft's attentions share.

inline constexpr int64_t kRotaryOps = 3;  ///< per element that is turned

/// Elementwise work on an operand before it is multiplied, a bias or a rotation; the result is at
/// the internal port `made`, which is returned.
ValuePort prepare_operand(const Access& operand, int64_t ops_per_element, ValuePort made,
                          VectorOp& op);

/// Sequence length of past keys of shape batch x heads x length x head, an error when they have
/// another; 0 when there are none.
Result<int64_t> past_length(const NodeView& node, size_t i, const AttentionPlan& p, int64_t head);

}  // namespace accsim::sim
