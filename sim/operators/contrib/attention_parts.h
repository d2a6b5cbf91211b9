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

/// A total sequence length, if it is known; 0: it isn't.
int64_t known_total(const NodeView& node, size_t i);

/// Tokens that a cache of GroupQueryAttention with sliding_window_cache keeps after `tokens`, in
/// its first rows: all while there is room, which isn't less than the window. When there is none
/// the window is moved to its beginning.
int64_t tokens_kept(int64_t tokens, int64_t room, int64_t window);

}  // namespace accsim::sim
