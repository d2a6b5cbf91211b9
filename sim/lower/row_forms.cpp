#include "sim/lower/row_forms.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "sim/operators/movement/box_rules.h"
#include "sim/operators/names.h"
#include "sim/operators/op_table.h"
#include "sim/operators/reduction/reduction_rules.h"

namespace accsim::sim {
namespace {

bool is_operator(const Node* node, const char* op) {
  return node && node->domain.empty() && node->op_type == op;
}

/// The one axis along which the node reduces its input, if its result keeps that as a dim of 1.
std::optional<int64_t> kept_axis(const NodeRewrites& r, const Node& node) {
  const NodeView view(r.graph(), node);
  if (view.dims(0).size() != r.dims(node.outputs[0]).size()) return std::nullopt;
  const auto axes = reduced_axes(view);
  return axes && axes->size() == 1 ? std::optional(axes->front()) : std::nullopt;
}

/// Rows of an operator as it is spelled out.
struct Spelled {
  std::vector<NodeId> nodes;
  TensorId of = kNoTensor;
  int64_t axis = 0;
};

/// Adds what makes the exponentials.
bool find_exponentials(const NodeRewrites& r, TensorId e, Spelled& to) {
  const Node* exponential = r.maker_of(e);
  if (!is_operator(exponential, op::kExp)) return false;
  to.of = exponential->inputs[0];
  to.nodes.push_back(r.id_of(*exponential));
  const Node* less = r.maker_of(to.of);
  if (!is_operator(less, op::kSub) || !r.sole_reader_of(to.of)) return true;
  const Node* most = r.maker_of(less->inputs[1]);
  if (!is_operator(most, op::kReduceMax) || most->inputs[0] != less->inputs[0] ||
      !r.sole_reader_of(most->outputs[0]) || kept_axis(r, *most) != to.axis)
    return true;
  to.of = less->inputs[0];
  to.nodes.insert(to.nodes.end(), {r.id_of(*less), r.id_of(*most)});
  return true;
}

/// Of the node that gives the quotients, by the exponentials and what they are divided by.
std::optional<Spelled> find_softmax(const NodeRewrites& r, const Node& last, TensorId e,
                                    TensorId by) {
  Spelled out{{r.id_of(last)}};
  const Node* sum = r.maker_of(by);
  if (is_operator(sum, op::kReciprocal) && r.sole_reader_of(by)) {
    out.nodes.push_back(r.id_of(*sum));
    sum = r.maker_of(sum->inputs[0]);
  } else if (last.op_type != op::kDiv) {
    return std::nullopt;
  }
  if (!is_operator(sum, op::kReduceSum) || sum->inputs[0] != e ||
      !r.sole_reader_of(sum->outputs[0]) || r.readers_of(e).size() != 2 || r.is_output(e))
    return std::nullopt;
  const auto axis = kept_axis(r, *sum);
  if (!axis || r.dims(last.outputs[0]) != r.dims(e)) return std::nullopt;
  out.axis = *axis;
  out.nodes.push_back(r.id_of(*sum));
  return find_exponentials(r, e, out) ? std::optional(std::move(out)) : std::nullopt;
}

// ---- rows of length 1 -------------------------------------------------------------------------

/// What keeps a length from being 0, at most; a row so short is as good as zeros.
constexpr double kLeastLength = 1e-3;

/// The input that isn't a small constant, of a node that adds one or isn't less than one.
TensorId above_floor(const NodeRewrites& r, const Node& node) {
  const bool clip = is_operator(&node, op::kClip);
  if ((!clip && !is_operator(&node, op::kMax) && !is_operator(&node, op::kAdd)) ||
      node.inputs.size() < 2 || (clip && node.inputs.size() > 2 && node.inputs[2] != kNoTensor))
    return kNoTensor;
  for (const size_t of : {size_t{0}, size_t{1}}) {
    const TensorId floor = node.inputs[1 - of];
    if (floor == kNoTensor || (clip && of != 0) || node.inputs.size() > 3) continue;
    const ConstPtr& value = r.graph().tensor(floor).value;
    if (value && value->size() == 1 && value->as_double(0) >= 0 &&
        value->as_double(0) <= kLeastLength)
      return node.inputs[of];
  }
  return kNoTensor;
}

/// Rows divided by their lengths, as it is spelled out.
class LengthFinder {
 public:
  LengthFinder(const NodeRewrites& r, const Node& last) : r_(r), found_{{r.id_of(last)}} {}

  /// Is `by` the length of rows of x?
  bool is_length(TensorId by, TensorId x) {
    const Node* node = part(by);
    if (is_operator(node, op::kExpand)) node = part(node->inputs[0]);
    node = behind_floor(node);
    if (is_operator(node, op::kReduceL2)) return is_of(*node, x);
    if (!is_operator(node, op::kSqrt)) return false;
    node = behind_floor(part(node->inputs[0]));
    if (is_operator(node, op::kReduceSumSquare)) return is_of(*node, x);
    if (!is_operator(node, op::kReduceSum)) return false;
    const Node* square = part(node->inputs[0]);
    return square && is_square(*square, x) && is_of(*node, square->outputs[0]);
  }
  /// The same of its reciprocal.
  bool is_inverse(TensorId factor, TensorId x) {
    const Node* node = part(factor);
    return is_operator(node, op::kReciprocal) && is_length(node->inputs[0], x);
  }
  Spelled take(TensorId x) {
    found_.of = x;
    return std::move(found_);
  }

 private:
  /// The maker of a tensor that nobody else reads; it goes.
  const Node* part(TensorId id) {
    const Node* node = r_.maker_of(id);
    if (node == nullptr || node->outputs.size() != 1 || r_.is_output(id)) return nullptr;
    const std::vector<NodeId>& readers = r_.readers_of(id);
    if (readers.size() != 1) return nullptr;
    found_.nodes.push_back(r_.id_of(*node));
    return node;
  }
  /// What comes before floors, and before one Transpose.
  const Node* behind_floor(const Node* node) {
    while (node != nullptr) {
      TensorId above = above_floor(r_, *node);
      if (is_operator(node, op::kTranspose) && perm_.empty()) {
        above = node->inputs[0];
        perm_ = permutation(*node);
      }
      if (above == kNoTensor) return node;
      node = part(above);
    }
    return node;
  }
  /// Is it of x, or of what x is the Transpose of as the lengths are?
  bool is_of(const Node& reduction, TensorId x) {
    const auto axis = kept_axis(r_, reduction);
    if (!axis) return false;
    found_.axis = *axis;
    if (perm_.empty()) return reduction.inputs[0] == x;
    const Node* turned = r_.maker_of(x);
    found_.axis = std::ranges::find(perm_, *axis) - perm_.begin();
    return is_operator(turned, op::kTranspose) && turned->inputs[0] == reduction.inputs[0] &&
           permutation(*turned) == perm_;
  }
  std::vector<int64_t> permutation(const Node& transpose) const {
    const auto perm = permutation_of(NodeView(r_.graph(), transpose));
    return perm ? *perm : std::vector<int64_t>{};
  }
  bool is_square(const Node& node, TensorId x) const {
    if (node.inputs.size() != 2 || node.inputs[0] != x) return false;
    if (is_operator(&node, op::kMul)) return node.inputs[1] == x;
    const ConstPtr& power = r_.graph().tensor(node.inputs[1]).value;
    return is_operator(&node, op::kPow) && power && power->size() == 1 && power->as_double(0) == 2;
  }

  const NodeRewrites& r_;
  Spelled found_;
  std::vector<int64_t> perm_;  ///< of a Transpose of the lengths
};

std::optional<Spelled> find_unit_rows(const NodeRewrites& r, const Node& last) {
  const TensorId a = last.inputs[0], b = last.inputs[1];
  const auto fits = [&](TensorId x) { return r.dims(last.outputs[0]) == r.dims(x); };
  if (is_operator(&last, op::kDiv)) {
    LengthFinder finder(r, last);
    return fits(a) && finder.is_length(b, a) ? std::optional(finder.take(a)) : std::nullopt;
  }
  for (const auto& [x, factor] : {std::pair{a, b}, std::pair{b, a}}) {
    LengthFinder finder(r, last);
    if (fits(x) && finder.is_inverse(factor, x)) return finder.take(x);
  }
  return std::nullopt;
}

}  // namespace

void plan_unit_rows(NodeRewrites& rewrites) {
  for (const Node& node : rewrites.graph().nodes) {
    if (node.folded || (!is_operator(&node, op::kDiv) && !is_operator(&node, op::kMul))) continue;
    const auto found = find_unit_rows(rewrites, node);
    if (!found) continue;
    rewrites.replace_nodes(found->nodes, [s = *found, &node](RebuiltGraph& g) {
      g.add_node(g.new_operator(op::kLpNormalization, kPlainOpset,
                                {{"axis", "", s.axis}, {"p", "", int64_t{2}}}),
                 node.name, {s.of}, {node.outputs[0]});
    });
  }
}

void plan_softmaxes(NodeRewrites& rewrites) {
  for (const Node& node : rewrites.graph().nodes) {
    if (node.folded || (!is_operator(&node, op::kDiv) && !is_operator(&node, op::kMul))) continue;
    auto found = find_softmax(rewrites, node, node.inputs[0], node.inputs[1]);
    if (!found && node.op_type == op::kMul)
      found = find_softmax(rewrites, node, node.inputs[1], node.inputs[0]);
    if (!found) continue;
    rewrites.replace_nodes(found->nodes, [s = *found, &node](RebuiltGraph& g) {
      g.add_node(g.new_operator(op::kSoftmax, kPlainOpset, {{"axis", "", s.axis}}), node.name,
                 {s.of}, {node.outputs[0]});
    });
  }
}

}  // namespace accsim::sim
