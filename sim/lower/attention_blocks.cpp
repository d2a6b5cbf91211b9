#include "sim/lower/attention_blocks.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "sim/base/sums.h"
#include "sim/lower/attention.h"
#include "sim/operators/movement/box_rules.h"
#include "sim/operators/names.h"
#include "sim/operators/op_table.h"
#include "sim/operators/rules.h"

namespace accsim::sim {
namespace {

/// Versions of ai.onnx in which nodes are added: axes and sizes are attributes there.
constexpr int64_t kOpset = 13, kWithAttributes = 11;
/// Far below every score; -inf of half floats.
constexpr double kLeast = -1e9, kLeastHalf = -60'000;

// ---- cutting ------------------------------------------------------------------------------------

class Cutter {
 public:
  Cutter(const Graph& graph, int64_t keys) : graph_(graph), out_(graph), keys_(keys) {
    out_.nodes.clear();
  }

  Graph cut_attentions() {
    std::map<NodeId, Attention> by_last;
    std::vector<bool> gone(graph_.nodes.size(), false);
    for (const Attention& a : find_attentions(graph_)) {
      if (a.keys / 2 < keys_) continue;
      out_.key_blocks = keys_;
      by_last[a.attended] = a;
      for (const NodeId id : a.between) gone[static_cast<size_t>(id)] = true;
      gone[static_cast<size_t>(a.scores)] = gone[static_cast<size_t>(a.softmax)] = true;
    }
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      if (gone[i]) continue;
      if (const auto found = by_last.find(static_cast<NodeId>(i)); found != by_last.end())
        attend_in_blocks(found->second);
      else
        out_.nodes.push_back(graph_.nodes[i]);
    }
    drop_unread();
    for (Tensor& t : out_.tensors)
      if (t.origin == Tensor::Origin::node) t.producer = kNoNode;
    for (size_t i = 0; i < out_.nodes.size(); ++i)
      for (const TensorId id : out_.nodes[i].outputs)
        if (id != kNoTensor) out_.tensor(id).producer = static_cast<NodeId>(i);
    const auto readers = consumers_by_tensor(out_);
    for (size_t i = 0; i < out_.tensors.size(); ++i) {
      Tensor& t = out_.tensors[i];
      if (t.origin != Tensor::Origin::node || t.producer != kNoNode) continue;
      check(readers[i].empty(), "attention in blocks reads what nothing writes: " + t.name);
      leave_out(t);
    }
    return std::move(out_);
  }

 private:
  const Node& node(NodeId id) const { return graph_.nodes[static_cast<size_t>(id)]; }
  const std::string& attention_module() const { return node(attention_).module; }
  const Dims& dims(TensorId id) const { return out_.tensor(id).dims; }

  /// Ids stay as they are: of what no node writes any more nothing is left but the name.
  static void leave_out(Tensor& t) {
    t.origin = Tensor::Origin::initializer;
    t.dims = {0};
    t.constant = true;
    t.value = nullptr;
    t.quantisation.reset();
  }

  /// Nodes that somebody read, and nobody does now.
  void drop_unread() {
    const auto before = consumers_by_tensor(graph_);
    std::vector<bool> read(out_.tensors.size(), false);
    for (size_t t = 0; t < before.size(); ++t)
      read[t] = graph_.tensors[t].producer != kNoNode && before[t].empty();
    for (const TensorId id : out_.outputs) read[static_cast<size_t>(id)] = true;
    std::vector<Node> kept;
    for (size_t i = out_.nodes.size(); i-- > 0;) {
      const auto is_read = [&](TensorId id) {
        return id != kNoTensor && read[static_cast<size_t>(id)];
      };
      if (std::ranges::none_of(out_.nodes[i].outputs, is_read)) continue;
      for (const TensorId id : out_.nodes[i].inputs)
        if (id != kNoTensor) read[static_cast<size_t>(id)] = true;
      kept.push_back(std::move(out_.nodes[i]));
    }
    std::ranges::reverse(kept);
    out_.nodes = std::move(kept);
  }

  // ---- tensors and nodes ------------------------------------------------------------------------

  TensorId add_tensor(const Tensor& like, std::string name, Dims dims) {
    Tensor t;
    t.name = std::move(name);
    t.dtype = like.dtype;
    t.dims = std::move(dims);
    out_.tensors.push_back(std::move(t));
    return static_cast<TensorId>(out_.tensors.size()) - 1;
  }
  TensorId add_constant(std::string name, DType dtype, Dims dims, ConstData value) {
    Tensor t;
    t.name = std::move(name);
    t.origin = Tensor::Origin::initializer;
    t.dtype = dtype;
    t.dims = std::move(dims);
    t.constant = true;
    t.value = std::make_shared<const ConstData>(std::move(value));
    out_.tensors.push_back(std::move(t));
    return static_cast<TensorId>(out_.tensors.size()) - 1;
  }
  /// A node like another one, of the tensors given; folded where all of these are constant.
  void add_node(const Node& like, std::string name, std::vector<TensorId> inputs,
                std::vector<TensorId> outputs) {
    Node n = like;
    n.part_of = like.name.empty() ? node(attention_).name : like.name;
    n.name = std::move(name);
    n.inputs = std::move(inputs);
    n.outputs = std::move(outputs);
    n.folded = std::ranges::all_of(n.inputs, [&](TensorId id) { return out_.tensor(id).constant; });
    for (const TensorId id : n.outputs) out_.tensor(id).constant = n.folded;
    out_.nodes.push_back(std::move(n));
  }
  TensorId add_operator(const char* op, int64_t opset, const std::string& name,
                        std::vector<TensorId> inputs, Dims result,
                        std::vector<Attribute> attributes) {
    Node like;
    like.op_type = op;
    like.opset = opset;
    like.attributes = std::move(attributes);
    like.module = attention_module();
    const TensorId out = add_tensor(out_.tensor(inputs[0]), name + "_output", std::move(result));
    add_node(like, name, std::move(inputs), {out});
    return out;
  }

  // ---- blocks of tensors ------------------------------------------------------------------------

  using Blocks = std::vector<TensorId>;
  std::string block_name(const std::string& of, size_t b) const {
    return fmt::format("{}/keys_{}_{}", of, starts_[b], starts_[b + 1] - 1);
  }
  Dims block_dims(TensorId id, size_t axis, size_t b) const {
    Dims out = dims(id);
    out[axis] = sizes_[b];
    return out;
  }

  TensorId add_block(TensorId of, size_t b, Dims dims) {
    const Tensor& t = out_.tensor(of);
    return add_tensor(t, block_name(t.name, b), std::move(dims));
  }

  /// A node that only shows or repeats its first input: the axis of that which is its result's.
  struct Shown {
    TensorId id;
    size_t axis, in;
  };

  /// The blocks of a tensor along an axis of keys. What only shows or repeats another one is cut
  /// there, so that products still find whose matrices they are.
  const Blocks& blocks_along(TensorId id, size_t axis) {
    std::vector<Shown> chain;
    std::pair at(id, axis);
    while (!blocks_.contains(at)) {
      const auto in = axis_of_input(at.first, at.second);
      if (!in) {
        blocks_[at] = split_into_blocks(at.first, at.second);
        break;
      }
      chain.push_back({at.first, at.second, *in});
      at = {node(graph_.tensor(at.first).producer).inputs[0], *in};
    }
    for (auto shown = chain.rbegin(); shown != chain.rend(); ++shown) {
      blocks_[{shown->id, shown->axis}] = cut_shown(*shown, blocks_[at]);
      at = {shown->id, shown->axis};
    }
    return blocks_[at];
  }

  Blocks split_into_blocks(TensorId id, size_t axis) {
    std::string name = out_.tensor(id).name;
    if (axis + 1 < dims(id).size()) name += fmt::format("/axis_{}", axis);
    Node like;
    like.op_type = op::kSplit;
    like.opset = kWithAttributes;
    like.attributes = {{"axis", "", static_cast<int64_t>(axis)}, {"split", "", sizes_}};
    like.module = attention_module();
    Blocks out;
    for (size_t b = 0; b < sizes_.size(); ++b)
      out.push_back(add_tensor(out_.tensor(id), block_name(name, b), block_dims(id, axis, b)));
    add_node(like, name + "/keys", {id}, out);
    return out;
  }

  std::optional<size_t> axis_of_input(TensorId id, size_t axis) const {
    if (id >= std::ssize(graph_.tensors)) return {};  // one that has been added
    const NodeId producer = graph_.tensor(id).producer;
    if (producer == kNoNode || graph_.tensor(id).constant) return {};
    const Node& n = node(producer);
    if (n.outputs.size() != 1 || n.folded) return {};
    if (is_node(n, op::kTranspose)) {
      const auto perm = permutation_of(NodeView(graph_, n));
      return perm ? std::optional(static_cast<size_t>((*perm)[axis])) : std::nullopt;
    }
    if (is_node(n, op::kExpand)) {
      const Dims &from = dims(n.inputs[0]), &to = dims(id);
      const size_t more = to.size() - from.size();
      if (axis < more || from[axis - more] != to[axis]) return {};
      return axis - more;
    }
    if (is_node(n, op::kReshape) || is_node(n, op::kUnsqueeze))
      return same_axis(dims(n.inputs[0]), dims(id), axis);
    return {};
  }

  Blocks cut_shown(const Shown& shown, const Blocks& from) {
    const Node& n = node(graph_.tensor(shown.id).producer);
    return is_node(n, op::kTranspose) ? transpose_blocks(n, shown, from)
                                      : reshape_blocks(n, shown, from);
  }
  /// The same node for each block.
  Blocks transpose_blocks(const Node& n, const Shown& shown, const Blocks& from) {
    Blocks out;
    for (size_t b = 0; b < from.size(); ++b) {
      out.push_back(add_block(shown.id, b, block_dims(shown.id, shown.axis, b)));
      add_node(n, block_name(n.name, b), {from[b]}, {out.back()});
    }
    return out;
  }
  /// Likewise where an input has the result's dims.
  Blocks reshape_blocks(const Node& n, const Shown& shown, const Blocks& from) {
    Node like = n;
    if (!is_node(n, op::kExpand)) {
      like.op_type = op::kReshape;
      like.opset = kOpset;
      like.attributes.clear();
    }
    Blocks out;
    for (size_t b = 0; b < from.size(); ++b) {
      const Dims to = block_dims(shown.id, shown.axis, b);
      const TensorId shape =
          add_constant(block_name(n.name, b) + "_shape", DType::int64, {std::ssize(to)},
                       ConstData(std::vector<int64_t>(to.begin(), to.end())));
      out.push_back(add_block(shown.id, b, to));
      add_node(like, block_name(n.name, b), {from[b], shape}, {out.back()});
    }
    return out;
  }
  /// The axis of `from` that is axis `axis` of `to`, which has as many elements in another shape.
  static std::optional<size_t> same_axis(const Dims& from, const Dims& to, size_t axis) {
    for (size_t i = 0; i < from.size(); ++i)
      if (from[i] == to[axis] && elements(from, 0, i) == elements(to, 0, axis) &&
          elements(from) == elements(to))
        return i;
    return std::nullopt;
  }

  // ---- attention --------------------------------------------------------------------------------

  void attend_in_blocks(const Attention& a) {
    attention_ = a.softmax;
    const int64_t count = a.keys / keys_;
    sizes_.assign(static_cast<size_t>(count), a.keys / count);
    for (int64_t b = 0; b < a.keys % count; ++b) ++sizes_[static_cast<size_t>(b)];
    starts_.assign(1, 0);
    for (const int64_t size : sizes_) starts_.push_back(starts_.back() + size);
    Blocks logarithms, attended;
    const Blocks values = values_of(a);
    for (size_t b = 0; b < sizes_.size(); ++b) {
      const auto [weights, logarithm] = add_softmax(a, scores_of(a, b), b);
      logarithms.push_back(logarithm);
      const Node& last = node(a.attended);
      attended.push_back(add_block(last.outputs[0], b, dims(last.outputs[0])));
      add_node(last, block_name(last.name, b), {weights, values[b]}, {attended.back()});
    }
    put_together(a, logarithms, attended);
  }

  TensorId scores_of(const Attention& a, size_t b) {
    const Node& product = node(a.scores);
    const size_t last = dims(product.outputs[0]).size() - 1;
    const TensorId keys = blocks_along(product.inputs[1], last)[b];
    TensorId out = add_result_block(product, b);
    add_node(product, block_name(product.name, b), {product.inputs[0], keys}, {out});
    for (size_t i = a.between.size(); i-- > 0;) {
      const Node& n = node(a.between[i]);
      const TensorId from = node(i + 1 < a.between.size() ? a.between[i + 1] : a.scores).outputs[0];
      std::vector<TensorId> inputs;
      for (const TensorId id : n.inputs)
        inputs.push_back(id == from ? out : operand_block(finite_operand(n, id), last, a.keys, b));
      out = add_result_block(n, b);
      add_node(n, block_name(n.name, b), std::move(inputs), {out});
    }
    return out;
  }
  /// The block of what a node that works on scores gives.
  TensorId add_result_block(const Node& n, size_t b) {
    const TensorId id = n.outputs[0];
    return add_block(id, b, block_dims(id, dims(id).size() - 1, b));
  }
  /// What takes scores away whole, where a block may have no others: of -inf alone no softmax is
  /// a number. A finite one takes away as much.
  TensorId finite_operand(const Node& n, TensorId id) {
    const OpRow* row = find_op(n);
    const bool takes = row->algebra == Algebra::add || row->algebra == Algebra::select;
    const Tensor& t = out_.tensor(id);
    const bool known = t.value && t.value->size() == 1;
    if (!takes || !is_float(t.dtype) || (known && std::isfinite(t.value->as_double(0)))) return id;
    const auto [at, fresh] = floors_.try_emplace(id, kNoTensor);
    if (!fresh) return at->second;
    const double least = t.dtype == DType::float16 ? kLeastHalf : kLeast;
    const TensorId constant =
        add_constant(t.name + "/least", t.dtype, {}, ConstData(std::vector<double>{least}));
    if (known) return at->second = constant;
    const std::string name = out_.tensor(id).name + "/finite";
    return at->second = add_operator(op::kMax, kOpset, name, {id, constant}, dims(id), {});
  }

  /// Of an operand beside scores of `rank` + 1 dims: all of it, where it is the same for all keys.
  TensorId operand_block(TensorId id, size_t rank, int64_t keys, size_t b) {
    const Dims& d = dims(id);
    if (d.empty() || d.back() != keys || d.size() > rank + 1) return id;
    return blocks_along(id, d.size() - 1)[b];
  }

  Blocks values_of(const Attention& a) {
    const TensorId values = node(a.attended).inputs[1];
    return blocks_along(values, dims(values).size() - 2);
  }

  struct Weighted {
    TensorId weights, logarithm;
  };
  Weighted add_softmax(const Attention& a, TensorId scores, size_t b) {
    const Node& n = node(a.softmax);
    Weighted out{add_result_block(n, b), kNoTensor};
    add_node(n, block_name(n.name, b), {scores}, {out.weights});
    Dims rows = dims(scores);
    rows.back() = 1;
    out.logarithm = add_operator(op::kReduceLogSumExp, kOpset, block_name(n.name, b) + "/logarithm",
                                 {scores}, rows, {{"axes", "", std::vector<int64_t>{-1}}});
    return out;
  }

  /// What the blocks have attended to, in the parts that their sums are of all.
  void put_together(const Attention& a, const Blocks& logarithms, const Blocks& attended) {
    const std::string name = node(a.softmax).name + "/blocks";
    const auto count = static_cast<int64_t>(logarithms.size());
    // Of a tensor of blocks each has its own place, so that nothing is copied to put them together.
    Blocks first;
    for (size_t b = 0; b < logarithms.size(); ++b)
      first.push_back(in_front(logarithms[b], block_name(name + "/logarithm", b)));
    Dims rows = dims(first[0]);
    rows[0] = count;
    const TensorId all = add_operator(op::kConcat, kOpset, name + "/logarithms", first, rows,
                                      {{"axis", "", int64_t{0}}});
    // Blocks innermost and back.
    const auto rank = static_cast<int64_t>(rows.size());
    std::vector<int64_t> in(rows.size()), out(rows.size());
    std::iota(in.begin(), in.end(), 1);
    in.back() = 0;
    std::iota(out.begin(), out.end(), -1);
    out.front() = rank - 1;
    Dims turned(rows.begin() + 1, rows.end());
    turned.push_back(count);
    const TensorId by_row =
        add_operator(op::kTranspose, kOpset, name + "/by_row", {all}, turned, {{"perm", "", in}});
    const TensorId parts = add_operator(op::kSoftmax, kOpset, name + "/parts", {by_row}, turned,
                                        {{"axis", "", int64_t{-1}}});
    const TensorId factors = add_operator(op::kTranspose, kOpset, name + "/by_block", {parts}, rows,
                                          {{"perm", "", out}});
    Blocks stacked;
    Dims one = dims(attended[0]);
    one.insert(one.begin(), 1);
    for (size_t b = 0; b < attended.size(); ++b)
      stacked.push_back(add_operator(op::kUnsqueeze, kWithAttributes, block_name(name, b),
                                     {attended[b]}, one, {{"axes", "", std::vector<int64_t>{0}}}));
    Dims stack = one;
    stack[0] = count;
    const TensorId of_all = add_operator(op::kConcat, kOpset, name + "/attended", stacked, stack,
                                         {{"axis", "", int64_t{0}}});
    const TensorId weighted =
        add_operator(op::kMul, kOpset, name + "/weighted", {of_all, factors}, stack, {});
    Node sum;
    sum.op_type = op::kReduceSum;
    sum.opset = kWithAttributes;
    sum.attributes = {{"axes", "", std::vector<int64_t>{0}}, {"keepdims", "", int64_t{0}}};
    sum.module = attention_module();
    add_node(sum, name + "/sum", {weighted}, {node(a.attended).outputs[0]});
  }

  /// With a dim of 1 before all others.
  TensorId in_front(TensorId id, const std::string& name) {
    Dims to = dims(id);
    to.insert(to.begin(), 1);
    return add_operator(op::kUnsqueeze, kWithAttributes, name, {id}, to,
                        {{"axes", "", std::vector<int64_t>{0}}});
  }

  const Graph& graph_;
  Graph out_;
  const int64_t keys_;
  NodeId attention_ = kNoNode;   ///< the softmax of the one in work
  std::vector<int64_t> sizes_;   ///< of its blocks
  std::vector<int64_t> starts_;  ///< their first keys, and behind the last one
  /// By tensor and axis; how long that is says what the blocks are.
  std::map<std::pair<TensorId, size_t>, Blocks> blocks_;
  std::map<TensorId, TensorId> floors_;  ///< finite ones, by what is added to scores or chosen
};

}  // namespace

int64_t nodes_in_key_blocks(const Graph& graph, int64_t keys) {
  constexpr int64_t kNodesOfABlock = 12;  // or fewer, with those that cut what it reads
  int64_t nodes = std::ssize(graph.nodes);
  for (const Attention& a : find_attentions(graph))
    nodes = add_counts(nodes, a.keys / keys * kNodesOfABlock);
  return nodes;
}

Graph in_key_blocks(const Graph& graph, int64_t keys) {
  return Cutter(graph, keys).cut_attentions();
}

}  // namespace accsim::sim
