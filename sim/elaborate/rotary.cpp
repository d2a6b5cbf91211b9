#include "sim/elaborate/rotary.h"

#include "sim/elaborate/added_nodes.h"
#include "sim/operators/names.h"

namespace accsim::sim {
namespace {

/// Inputs of the operator.
struct Ports {
  size_t ids, cos, sin;
};
Ports ports_of(const NodeCall& call) {
  return call.def.domain == kMicrosoft ? Ports{1, 2, 3} : Ports{3, 1, 2};
}

/// What the operator turns.
struct Rotation {
  bool heads_first = false;  ///< batch, heads, tokens, size of a head; else tokens, then heads
  bool interleaved = false;  ///< neighbours are pairs; else an element of each half
  int64_t batch = 0, tokens = 0, heads = 0, size = 0;
  int64_t half = 0;  ///< angles of a token
  int64_t rotated_size() const { return 2 * half; }
  /// The part that turns, its pairs along a dim of their own.
  Dims pair_dims() const {
    Dims out = heads_first ? Dims{batch, heads, tokens} : Dims{batch, tokens, heads};
    out.push_back(interleaved ? half : 2);
    out.push_back(interleaved ? 2 : half);
    return out;
  }
  int64_t pair_axis() const { return interleaved ? 4 : 3; }
  /// Angles of so many entries of the batch, to be broadcast over those. `doubled`: of
  /// neighbours one for each.
  Dims angle_dims(int64_t entries, bool doubled) const {
    Dims out = heads_first ? Dims{entries, 1, tokens} : Dims{entries, tokens, 1};
    out.push_back(interleaved ? half : 1);
    out.push_back(interleaved ? (doubled ? 2 : 1) : half);
    return out;
  }
};

class Speller {
 public:
  Speller(const NodeCall& call, GraphBuilder& builder, Budget& budget, RotaryAngles& known)
      : call_(call),
        builder_(builder),
        nodes_(call, builder, budget),
        known_(known),
        ports_(ports_of(call)) {}

  Result<TensorId> spell_out() {
    if (!plan_rotation()) return kNoTensor;
    const TensorId x = call_.inputs[0];
    const Dims all = nodes_.dims(x);
    TensorId part = x, rest = kNoTensor;
    if (r_.rotated_size() < r_.size) {
      part = nodes_.add_reshape("heads", x, head_dims(r_.size));
      rest = nodes_.add_slice("rest", part, 3, r_.rotated_size(), r_.size);
      part = nodes_.add_slice("part", part, 3, 0, r_.rotated_size());
    }
    const TensorId pairs = nodes_.add_reshape("pairs", part, r_.pair_dims());
    const int64_t axis = r_.pair_axis();
    const TensorId minus =
        nodes_.add_node(negation_op(), "minus", {nodes_.add_slice("second", pairs, axis, 1, 2)});
    const TensorId turned = nodes_.add_node(op::kConcat, "turned",
                                            {minus, nodes_.add_slice("first", pairs, axis, 0, 1)},
                                            {{"axis", "", axis}});
    const TensorId cos = add_angles(ports_.cos, "cos"), sin = add_angles(ports_.sin, "sin");
    const TensorId of_cos = nodes_.add_node(op::kMul, "of_cos", {pairs, cos});
    const TensorId of_sin = nodes_.add_node(op::kMul, "of_sin", {turned, sin});
    TensorId sum = nodes_.add_node(op::kAdd, "sum", {of_cos, of_sin});
    if (rest != kNoTensor)
      sum = nodes_.add_node(op::kConcat, "both",
                            {nodes_.add_reshape("flat", sum, head_dims(r_.rotated_size())), rest},
                            {{"axis", "", int64_t{3}}});
    const TensorId out = nodes_.add_reshape("result", sum, all, 0);
    if (!nodes_.errors().empty()) return nodes_.errors();
    return out;
  }

 private:
  Dims head_dims(int64_t size) const {
    return r_.heads_first ? Dims{r_.batch, r_.heads, r_.tokens, size}
                          : Dims{r_.batch, r_.tokens, r_.heads, size};
  }
  /// The name of the operator that negates numbers.
  static std::string negation_op() {
    for (const OpRow& row : elementwise_rows())
      if (row.algebra == Algebra::negate) return std::string(row.name);
    return {};
  }

  /// False for what isn't spelled out.
  bool plan_rotation() {
    for (const size_t port : {size_t{0}, ports_.cos, ports_.sin}) {
      const TensorId id = call_.input(port);
      if (id == kNoTensor || builder_.find_sequence(id) || !is_float(nodes_.tensor(id).dtype) ||
          nodes_.tensor(id).dtype != nodes_.tensor(call_.inputs[0]).dtype)
        return false;
    }
    const TensorId ids = call_.input(ports_.ids);
    if (ids != kNoTensor && builder_.find_sequence(ids)) return false;
    if (call_.integer_attribute("is_packed_batching", 0) != 0 || call_.find_attribute("scale"))
      return false;
    return plan_heads() && plan_angles();
  }

  bool plan_heads() {
    const Dims& x = nodes_.dims(call_.inputs[0]);
    const Dims& cos = nodes_.dims(call_.input(ports_.cos));
    if ((x.size() != 3 && x.size() != 4) || cos.empty() || elements(x) == 0) return false;
    r_.interleaved = call_.integer_attribute("interleaved", 0) != 0;
    r_.half = cos.back();
    r_.batch = x[0];
    r_.heads_first = x.size() == 4;
    r_.tokens = x[r_.heads_first ? 2 : 1];
    const int64_t stated = call_.integer_attribute("num_heads", 0);
    if (!r_.heads_first && stated == 0 && call_.def.domain != kMicrosoft) return false;
    if (r_.half < 1 || r_.half > x.back() / 2) return false;
    // Without heads stated, two angles' width is the head, as the caches were made for it.
    const int64_t heads = stated == 0 ? x.back() / (2 * r_.half) : stated;
    r_.heads = r_.heads_first ? x[1] : heads;
    if (r_.heads < 1) return false;
    r_.size = r_.heads_first ? x[3] : x[2] / r_.heads;
    if (!r_.heads_first && r_.heads * r_.size != x[2]) return false;
    const int64_t part = call_.integer_attribute("rotary_embedding_dim", 0);
    return r_.rotated_size() <= r_.size && r_.rotated_size() == (part == 0 ? r_.size : part);
  }

  bool plan_angles() {
    const Dims &cos = nodes_.dims(call_.input(ports_.cos)),
               &sin = nodes_.dims(call_.input(ports_.sin));
    const TensorId ids = call_.input(ports_.ids);
    if (cos != sin) return false;
    if (ids == kNoTensor)
      return cos == Dims{r_.batch, r_.tokens, r_.half} && call_.def.domain != kMicrosoft;
    if (cos.size() != 2 || is_float(nodes_.tensor(ids).dtype)) return false;
    const int64_t count = elements(nodes_.dims(ids));
    return count == r_.batch * r_.tokens || (count == 1 && r_.tokens == 1);
  }

  /// A row a token of a cache, to be broadcast.
  TensorId add_angles(size_t port, const std::string& what) {
    const TensorId cache = call_.input(port), ids = call_.input(ports_.ids);
    const bool one = ids != kNoTensor && elements(nodes_.dims(ids)) == 1;
    const bool doubled = r_.interleaved && nodes_.tensor(cache).constant;  // once and for all
    const Dims shape = r_.angle_dims(one ? 1 : r_.batch, doubled);
    const std::tuple key(cache, ids, shape);
    if (const auto at = known_.find(key); at != known_.end())
      if (const auto& [id, of] = at->second; is_there(id, of)) return id;
    TensorId rows = doubled ? add_doubled(what, cache) : cache;
    if (ids != kNoTensor)
      rows = nodes_.add_node(op::kGather, what + "_rows", {rows, ids}, {{"axis", "", int64_t{0}}});
    const TensorId out = nodes_.add_reshape(what, rows, shape);
    if (out != kNoTensor) known_.insert_or_assign(key, std::pair(out, nodes_.tensor(out).name));
    return out;
  }

  /// Each angle twice, for both elements of a pair of neighbours.
  TensorId add_doubled(const std::string& what, TensorId angles) {
    Dims dims = nodes_.dims(angles), column = dims, pairs = dims;
    column.push_back(1);
    pairs.push_back(2);
    dims.back() *= 2;
    const TensorId each = nodes_.add_reshape(what + "_each", angles, column);
    const TensorId shape = nodes_.add_integers(what + "_pairs_shape", {std::ssize(pairs)},
                                               {pairs.begin(), pairs.end()});
    return nodes_.add_reshape(what + "_twice",
                              nodes_.add_node(op::kExpand, what + "_pairs", {each, shape}), dims);
  }

  /// Has the builder still got the tensor? What is added for a try is taken back.
  bool is_there(TensorId id, const std::string& of) const {
    return nodes_.has_tensor(id) && nodes_.tensor(id).name == of;
  }

  const NodeCall& call_;
  GraphBuilder& builder_;
  AddedNodes nodes_;
  RotaryAngles& known_;
  const Ports ports_;
  Rotation r_;
};

}  // namespace

bool is_rotary(const NodeCall& call) {
  const bool known = call.def.domain.empty() || call.def.domain == kMicrosoft;
  return known && call.def.op_type == op::kRotaryEmbedding && call.wants_output(0);
}

Result<TensorId> spell_out_rotary(const NodeCall& call, GraphBuilder& builder, Budget& budget,
                                  RotaryAngles& known) {
  return Speller(call, builder, budget, known).spell_out();
}

}  // namespace accsim::sim
