#include "sim/lower/attention_blocks.h"

#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "sim/base/sums.h"
#include "sim/lower/attention.h"
#include "sim/lower/key_blocks.h"
#include "sim/operators/names.h"
#include "sim/operators/op_table.h"
#include "sim/operators/work_counts.h"

namespace accsim::sim {
namespace {

/// Versions of ai.onnx in which nodes are added: axes and sizes are attributes there.
constexpr int64_t kOpset = 13, kWithAttributes = 11;
/// Far below every score; -inf of half floats.
constexpr double kLeast = -1e9, kLeastHalf = -60'000;

class Cutter {
 public:
  Cutter(const Graph& graph, int64_t keys) : graph_(graph), keys_(keys), blocks_(graph_) {}

  Graph cut_attentions() {
    const Graph& before = graph_.before();
    std::map<NodeId, Attention> by_last;
    std::vector<bool> gone(before.nodes.size(), false);
    for (const Attention& a : find_attentions(before)) {
      if (a.keys / 2 < keys_) continue;
      by_last[a.attended] = a;
      for (const NodeId id : a.between) gone[static_cast<size_t>(id)] = true;
      gone[static_cast<size_t>(a.scores)] = gone[static_cast<size_t>(a.softmax)] = true;
    }
    for (size_t i = 0; i < before.nodes.size(); ++i) {
      const auto id = static_cast<NodeId>(i);
      if (gone[i]) continue;
      if (const auto found = by_last.find(id); found != by_last.end())
        attend_in_blocks(found->second);
      else
        graph_.keep_node(id);
    }
    Graph out = graph_.take_graph();
    if (!by_last.empty()) out.key_blocks = keys_;
    return out;
  }

 private:
  using Blocks = KeyBlocks::Blocks;

  const Node& node(NodeId id) const { return graph_.node(id); }
  const Dims& dims(TensorId id) const { return graph_.dims(id); }

  void attend_in_blocks(const Attention& a) {
    graph_.begin_part_of(a.softmax);
    blocks_.begin_keys(a.keys, keys_);
    Blocks logarithms, attended;
    const CutProduct sums =
        cut_product(node(a.attended), matrix_product(1, a.rows, a.keys, a.width), GemmDim::channel);
    const CutProduct products =
        cut_product(node(a.scores), matrix_product(1, a.rows, a.depth, a.keys), GemmDim::output);
    for (size_t b = 0; b < blocks_.count(); ++b) {
      const auto [weights, logarithm] = add_softmax(a, scores_of(a, products, b), b);
      logarithms.push_back(logarithm);
      attended.push_back(add_product(sums, weights, b));
    }
    put_together(a, logarithms, attended);
  }

  /// A product of matrices, of which the keys are a dim, and the blocks of its second operand.
  struct CutProduct {
    const Node& node;
    OpSpace space;
    size_t keys;
    const Blocks& second;
  };
  CutProduct cut_product(const Node& n, const GemmOp& op, GemmDim dim) {
    const auto keys = static_cast<size_t>(dim);
    OpSpace space = *space_of(op);
    const size_t axis =
        dims(n.inputs[1]).size() - *space.operand(OperandRole::b)->axis_from_back(keys);
    return {n, std::move(space), keys, blocks_.blocks_along(n.inputs[1], axis)};
  }
  /// It on block `b` of the keys, of this first operand: a part of the results, or where keys are
  /// summed a part of each sum.
  TensorId add_product(const CutProduct& product, TensorId first, size_t b) {
    const auto& [n, space, keys, second] = product;
    SpaceBox box = space.whole_box();
    box[keys] = blocks_.keys_of(b);
    Dims result = dims(n.outputs[0]);
    result.back() = region(space, *space.operand(OperandRole::result), box).back().count;
    const TensorId out = blocks_.add_block(n.outputs[0], b, std::move(result));
    graph_.add_node(n, blocks_.block_name(n.name, b), {first, second[b]}, {out});
    return out;
  }

  TensorId scores_of(const Attention& a, const CutProduct& product, size_t b) {
    const size_t last = dims(product.node.outputs[0]).size() - 1;
    TensorId out = add_product(product, product.node.inputs[0], b);
    for (size_t i = a.between.size(); i-- > 0;) {
      const Node& n = node(a.between[i]);
      const TensorId from = node(i + 1 < a.between.size() ? a.between[i + 1] : a.scores).outputs[0];
      std::vector<TensorId> inputs;
      for (const TensorId id : n.inputs)
        inputs.push_back(id == from ? out : operand_block(finite_operand(n, id), last, a.keys, b));
      out = add_result_block(n, b);
      graph_.add_node(n, blocks_.block_name(n.name, b), std::move(inputs), {out});
    }
    return out;
  }
  /// The block of what a node that works on scores gives.
  TensorId add_result_block(const Node& n, size_t b) {
    const TensorId id = n.outputs[0];
    return blocks_.add_block_along(id, dims(id).size() - 1, b);
  }
  /// What takes scores away whole, where a block may have no others: of -inf alone no softmax is
  /// a number. A finite one takes away as much.
  TensorId finite_operand(const Node& n, TensorId id) {
    const OpRow* row = find_op(n);
    const bool takes = row->algebra == Algebra::add || row->algebra == Algebra::select;
    const Tensor& t = graph_.tensor(id);
    const bool known = t.value && t.value->size() == 1;
    if (!takes || !is_float(t.dtype) || (known && std::isfinite(t.value->as_double(0)))) return id;
    const auto [at, fresh] = floors_.try_emplace(id, kNoTensor);
    if (!fresh) return at->second;
    const double least = t.dtype == DType::float16 ? kLeastHalf : kLeast;
    const TensorId constant =
        graph_.add_constant(t.name + "/least", t.dtype, {}, ConstData(std::vector<double>{least}));
    if (known) return at->second = constant;
    const std::string name = graph_.tensor(id).name + "/finite";
    return at->second = graph_.add_operator(op::kMax, kOpset, name, {id, constant}, dims(id), {});
  }

  /// Of an operand beside scores of `rank` + 1 dims: all of it, where it is the same for all keys.
  TensorId operand_block(TensorId id, size_t rank, int64_t keys, size_t b) {
    const Dims& d = dims(id);
    if (d.empty() || d.back() != keys || d.size() > rank + 1) return id;
    return blocks_.blocks_along(id, d.size() - 1)[b];
  }

  struct Weighted {
    TensorId weights, logarithm;
  };
  Weighted add_softmax(const Attention& a, TensorId scores, size_t b) {
    const Node& n = node(a.softmax);
    Weighted out{add_result_block(n, b), kNoTensor};
    graph_.add_node(n, blocks_.block_name(n.name, b), {scores}, {out.weights});
    Dims rows = dims(scores);
    rows.back() = 1;
    out.logarithm = graph_.add_operator(op::kReduceLogSumExp, kOpset,
                                        blocks_.block_name(n.name, b) + "/logarithm", {scores},
                                        rows, {{"axes", "", std::vector<int64_t>{-1}}});
    return out;
  }

  /// What the blocks have attended to, in the parts that their sums are of all.
  void put_together(const Attention& a, const Blocks& logarithms, const Blocks& attended) {
    const std::string name = node(a.softmax).name + "/blocks";
    const auto count = static_cast<int64_t>(logarithms.size());
    // Of a tensor of blocks each has its own place, so that nothing is copied to put them together.
    Blocks first;
    for (size_t b = 0; b < logarithms.size(); ++b)
      first.push_back(in_front(logarithms[b], blocks_.block_name(name + "/logarithm", b)));
    Dims rows = dims(first[0]);
    rows[0] = count;
    const TensorId all = graph_.add_operator(op::kConcat, kOpset, name + "/logarithms", first, rows,
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
    const TensorId by_row = graph_.add_operator(op::kTranspose, kOpset, name + "/by_row", {all},
                                                turned, {{"perm", "", in}});
    const TensorId parts = graph_.add_operator(op::kSoftmax, kOpset, name + "/parts", {by_row},
                                               turned, {{"axis", "", int64_t{-1}}});
    const TensorId factors = graph_.add_operator(op::kTranspose, kOpset, name + "/by_block",
                                                 {parts}, rows, {{"perm", "", out}});
    Blocks stacked;
    Dims one = dims(attended[0]);
    one.insert(one.begin(), 1);
    for (size_t b = 0; b < attended.size(); ++b)
      stacked.push_back(graph_.add_operator(op::kUnsqueeze, kWithAttributes,
                                            blocks_.block_name(name, b), {attended[b]}, one,
                                            {{"axes", "", std::vector<int64_t>{0}}}));
    Dims stack = one;
    stack[0] = count;
    const TensorId of_all = graph_.add_operator(op::kConcat, kOpset, name + "/attended", stacked,
                                                stack, {{"axis", "", int64_t{0}}});
    const TensorId weighted =
        graph_.add_operator(op::kMul, kOpset, name + "/weighted", {of_all, factors}, stack, {});
    const Node sum =
        graph_.new_operator(op::kReduceSum, kWithAttributes,
                            {{"axes", "", std::vector<int64_t>{0}}, {"keepdims", "", int64_t{0}}});
    graph_.add_node(sum, name + "/sum", {weighted}, {node(a.attended).outputs[0]});
  }

  /// With a dim of 1 before all others.
  TensorId in_front(TensorId id, const std::string& name) {
    Dims to = dims(id);
    to.insert(to.begin(), 1);
    return graph_.add_operator(op::kUnsqueeze, kWithAttributes, name, {id}, to,
                               {{"axes", "", std::vector<int64_t>{0}}});
  }

  RebuiltGraph graph_;
  const int64_t keys_;
  KeyBlocks blocks_;
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
