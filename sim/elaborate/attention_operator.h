#pragma once
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>

#include "sim/elaborate/attention_nodes.h"
#include "sim/elaborate/rotary.h"
#include "sim/operators/node_view.h"

namespace accsim::sim {

/// What several attentions of a network share, with the names of the tensors.
struct AttentionMemory {
  SharedMasks masks;
  /// By the mask of padded keys, what it adds and the type: what scores get.
  std::map<std::tuple<TensorId, double, DType>, std::pair<TensorId, std::string>> paddings;
  RotaryAngles& angles;
};

/// One form of attention on its way to the nodes that it stands for. A form reads its inputs'
/// sizes and attributes first, when the node itself is in the graph, and then adds the nodes in its
/// place.
class AttentionOperator {
 public:
  /// All of them must outlive it.
  AttentionOperator(const NodeCall& call, GraphBuilder& builder, Budget& budget,
                    AttentionMemory& memory)
      : builder_(builder), budget_(budget), memory_(memory), nodes_(call, builder, budget) {}
  virtual ~AttentionOperator() = default;
  AttentionOperator(const AttentionOperator&) = delete;
  AttentionOperator& operator=(const AttentionOperator&) = delete;

  /// Reads the node, to which the operator's rule has agreed; false where it isn't spelled out.
  bool plan(const NodeView& node);
  /// The operator's outputs, kNoTensor for those that nobody wants.
  Result<TensorIds> spell_out();

 protected:
  /// Sizes: `past` keys lie in front of `fresh` ones. q_heads and kv_heads of one size, values of
  /// another.
  struct Sizes {
    int64_t batch = 0, q_heads = 0, kv_heads = 0, queries = 0, fresh = 0, past = 0;
    int64_t head = 0, v_head = 0;
    int64_t total() const { return past + fresh; }
  };

  virtual bool plan_form(const NodeView& node) = 0;
  /// Sets what `a_` lacks: queries, keys, values, masks.
  virtual void add_operands() = 0;

  const NodeCall& call() const { return nodes_.call(); }
  bool has_input(size_t i) const { return call().input(i) != kNoTensor; }
  bool wants(int output) const { return call().wants_output(static_cast<size_t>(output)); }
  /// Does each query see a key? Rows of nothing but -inf have no softmax.
  bool sees_keys() const;

  /// Batch x length x (heads x size), which stays as it is in four dims, as batch x heads x length
  /// x size. `output`: of the operator, if it is one.
  TensorId split_heads(const std::string& what, TensorId x, int64_t heads, int64_t size,
                       int output = AddedNodes::kInner);
  /// New keys or values behind those of input `past`: what output `output` gives. `heads`, `size`
  /// are those of split_heads().
  TensorId append(const std::string& what, size_t past, TensorId fresh, int64_t size, int output);
  /// Adds two masks, either of which may be kNoTensor.
  TensorId sum_of_masks(TensorId a, TensorId b);
  /// What scores get where a mask of so many dims is 0: `filter`, else 0.
  TensorId padding(TensorId mask, const Dims& to, double filter);

  GraphBuilder& builder_;
  Budget& budget_;
  AttentionMemory& memory_;
  AddedNodes nodes_;
  Sizes s_;
  DType type_ = DType::undefined;  ///< of queries, keys and values
  bool heads_first_ = false;       ///< the result has four dims
  AttentionTensors a_;
  TensorIds outputs_;
};

/// The form of a call; nullptr: it is none, or one that is never spelled out.
std::unique_ptr<AttentionOperator> attention_of_call(const NodeCall& call, GraphBuilder& builder,
                                                     Budget& budget, AttentionMemory& memory);

// Forms, each in a file of its own.
/// That of Attention of ai.onnx.
std::unique_ptr<AttentionOperator> onnx_attention(const NodeCall& call, GraphBuilder& builder,
                                                  Budget& budget, AttentionMemory& memory);
/// com.microsoft MultiHeadAttention.
std::unique_ptr<AttentionOperator> multi_head_attention(const NodeCall& call, GraphBuilder& builder,
                                                        Budget& budget, AttentionMemory& memory);
/// com.microsoft Attention, which projects its input itself.
std::unique_ptr<AttentionOperator> projected_attention(const NodeCall& call, GraphBuilder& builder,
                                                       Budget& budget, AttentionMemory& memory);
/// com.microsoft GroupQueryAttention.
std::unique_ptr<AttentionOperator> group_query_attention(const NodeCall& call,
                                                         GraphBuilder& builder, Budget& budget,
                                                         AttentionMemory& memory);

}  // namespace accsim::sim
