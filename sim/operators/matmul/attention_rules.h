#pragma once
#include <optional>

#include "sim/operators/node_view.h"
#include "sim/work/work.h"

namespace accsim::sim {

/// Scaled dot-product attention, after heads have been split and past keys put in front.
struct AttentionPlan {
  int64_t batch = 0, q_heads = 0, kv_heads = 0;
  int64_t q_len = 0, kv_len = 0, total_len = 0;  ///< total: past and new
  int64_t head = 0, v_head = 0;                  ///< sizes of one head
  ValuePort q_port = 0, k_port = 1, v_port = 2;
  ValuePort mask_port = ValuePort::none();  ///< added to the scores
  int scores_output = -1;                   ///< node output that gets the scores; -1: none
  bool softcap = false;

  Dims score_dims() const { return {batch, q_heads, q_len, total_len}; }
  Dims present_key() const { return {batch, kv_heads, total_len, head}; }
  Dims present_value() const { return {batch, kv_heads, total_len, v_head}; }
};

/// Q K^T, softmax (with mask and softcap), and the product with V. Query heads that share keys are
/// rows of one product.
Work attention_work(const NodeView& node, const AttentionPlan& plan);
/// The work before it, then attention_work(); an error when it is too large (checked_work()).
Result<Work> attention_after(const NodeView& node, Work before, const AttentionPlan& plan);
/// The softmax between the two as a command of rows; nullopt where it has a cap, gives the scores,
/// or has a mask that doesn't reach over all keys.
std::optional<RowMeaning> rows_between(const NodeView& node, const AttentionPlan& plan);
/// A copy that appends new keys (values) to the past ones; nothing when output `present` is unused.
/// `fresh`: the port of the new ones.
void append_cache(const NodeView& node, ValuePort fresh, int64_t fresh_elements, size_t past,
                  size_t present, Work& work);
/// An error when heads or head sizes don't divide.
Status check_heads(const NodeView& node, const AttentionPlan& plan);
/// hidden / heads; an error when it isn't whole.
Result<int64_t> head_size(const NodeView& node, int64_t hidden, int64_t heads);

/// Attention (ai.onnx): Q, K, V of rank 3 or 4 to the output, present keys and values, scores.
/// Errors when they don't agree.
Status attention_rule(InferContext& node);
/// The caches, then attention_work().
Result<Work> attention_cost(const NodeView& node);
/// The softmax between the products, unless it has more than a mask: causality, windows, a cap,
/// scores that are wanted.
std::optional<RowMeaning> attention_rows(const NodeView& node);
/// LinearAttention: output 0 is B x S x (heads * value), the last state B x kv_heads x key x value.
/// Errors when heads, keys, values and gates don't agree.
Status linear_attention_rule(InferContext& node);
/// A step at a time: the state's update as vector work, the queries' product with it, and with
/// a delta rule a product that recalls the key.
Result<Work> linear_attention_cost(const NodeView& node);

/// x rotated in pairs by cached angles; `ids` is the port of the position ids, `cos` of the
/// cosines, `sin` of the sines.
Result<Work> rotary_cost_at(const NodeView& node, size_t ids, size_t cos, size_t sin);

}  // namespace accsim::sim
