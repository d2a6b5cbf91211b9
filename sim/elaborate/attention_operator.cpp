#include "sim/elaborate/attention_operator.h"

#include <algorithm>

#include "sim/operators/names.h"

namespace accsim::sim {

bool AttentionOperator::plan(const NodeView& node) {
  for (const TensorId id : call().inputs)
    if (id != kNoTensor && !nodes_.has_tensor(id)) return false;  // a sequence
  if (!node.has_input(0) || !node.has_output(0)) return false;
  type_ = node.dtype(0);
  if (!is_float(type_) || !plan_form(node)) return false;
  const bool full = std::min({s_.batch, s_.q_heads, s_.kv_heads, s_.queries, s_.fresh, s_.head,
                              s_.v_head, a_.keys}) > 0;
  return full && sees_keys();
}

bool AttentionOperator::sees_keys() const {
  const KeyWindow& w = a_.window;
  return (!w.behind || w.own + *w.behind >= 0) &&
         (!w.before || w.own + s_.queries - 1 - *w.before < a_.keys);
}

Result<TensorIds> AttentionOperator::spell_out() {
  outputs_.assign(call().def.outputs.size(), kNoTensor);
  add_operands();
  if (!nodes_.errors().empty()) return nodes_.errors();
  const TensorId all =
      add_attention(a_, nodes_, memory_.masks, heads_first_ ? 0 : AddedNodes::kInner);
  outputs_[0] = all;
  if (!heads_first_) {
    const TensorId turned = nodes_.add_transpose("tokens", all, {0, 2, 1, 3});
    outputs_[0] =
        nodes_.add_reshape("joined", turned, {s_.batch, s_.queries, s_.q_heads * s_.v_head}, 0);
  }
  if (!nodes_.errors().empty()) return nodes_.errors();
  return outputs_;
}

TensorId AttentionOperator::split_heads(const std::string& what, TensorId x, int64_t heads,
                                        int64_t size, int output) {
  if (!nodes_.errors().empty()) return kNoTensor;
  const Dims d = nodes_.dims(x);
  if (d.size() == 4) {
    if (output == AddedNodes::kInner || !wants(output)) return x;
    return nodes_.add_node(op::kIdentity, what + "_given", {x}, {}, output);
  }
  const TensorId split = nodes_.add_reshape(what + "_split", x, {d[0], d[1], heads, size});
  return nodes_.add_transpose(what + "_by_heads", split, {0, 2, 1, 3}, output);
}

TensorId AttentionOperator::append(const std::string& what, size_t past, TensorId fresh,
                                   int64_t size, int output) {
  if (!has_input(past)) {
    const TensorId out = split_heads(what, fresh, s_.kv_heads, size, output);
    if (wants(output)) outputs_[static_cast<size_t>(output)] = out;
    return out;
  }
  const TensorId split = split_heads(what, fresh, s_.kv_heads, size);
  const TensorId out =
      nodes_.add_concat(what + "_appended", {call().input(past), split}, 2, output);
  if (wants(output)) outputs_[static_cast<size_t>(output)] = out;
  return out;
}

TensorId AttentionOperator::sum_of_masks(TensorId a, TensorId b) {
  if (a == kNoTensor || b == kNoTensor) return a == kNoTensor ? b : a;
  return nodes_.add_node(op::kAdd, "masks", {a, b});
}

TensorId AttentionOperator::padding(TensorId mask, const Dims& to, double filter) {
  const std::tuple key(mask, filter, type_);
  if (const auto at = memory_.paddings.find(key); at != memory_.paddings.end())
    if (const auto& [id, name] = at->second;
        nodes_.has_tensor(id) && nodes_.tensor(id).name == name)
      return id;
  const TensorId shown = nodes_.add_reshape("padding_shown", mask, to);
  const TensorId kept = nodes_.add_node(op::kCast, "padding_kept", {shown},
                                        {{"to", "", static_cast<int64_t>(type_)}});
  const TensorId gone =
      nodes_.add_node(op::kSub, "padding_gone", {nodes_.add_real("padding_one", type_, 1), kept});
  const TensorId out = nodes_.add_node(op::kMul, "padding",
                                       {gone, nodes_.add_real("padding_filter", type_, filter)});
  if (nodes_.errors().empty())
    memory_.paddings.insert_or_assign(key, std::pair(out, nodes_.tensor(out).name));
  return out;
}

std::unique_ptr<AttentionOperator> attention_of_call(const NodeCall& call, GraphBuilder& builder,
                                                     Budget& budget, AttentionMemory& memory) {
  const auto is = [&](std::string_view domain, std::string_view op_type) {
    return call.def.domain == domain && call.def.op_type == op_type;
  };
  if (is("", op::kAttention)) return onnx_attention(call, builder, budget, memory);
  if (is(kMicrosoft, op::kAttention)) return projected_attention(call, builder, budget, memory);
  if (is(kMicrosoft, op::kMultiHeadAttention))
    return multi_head_attention(call, builder, budget, memory);
  if (is(kMicrosoft, op::kGroupQueryAttention))
    return group_query_attention(call, builder, budget, memory);
  return nullptr;
}

}  // namespace accsim::sim
