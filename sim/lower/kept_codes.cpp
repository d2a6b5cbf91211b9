#include "sim/lower/kept_codes.h"

#include <cmath>
#include <cstddef>
#include <optional>
#include <vector>

#include "sim/operators/names.h"

namespace accsim::sim {
namespace {

/// A known tensor's one number.
std::optional<double> number_of(const Graph& graph, TensorId id) {
  if (id == kNoTensor) return std::nullopt;
  const ConstPtr& value = graph.tensor(id).value;
  return value && value->size() == 1 ? std::optional(value->as_double(0)) : std::nullopt;
}

/// What integers stand for: scale (code - zero_point).
struct Steps {
  double scale = 0, zero_point = 0;
  DType type = DType::undefined;  ///< of the zero point, if there is one
};

std::optional<Steps> steps_of(const Graph& graph, TensorId id) {
  const auto& q = graph.tensor(id).quantisation;
  if (!q || q->times != kNoTensor) return std::nullopt;
  const auto scale = number_of(graph, q->scale);
  const auto zero =
      q->zero_point == kNoTensor ? std::optional(0.0) : number_of(graph, q->zero_point);
  if (!scale || !zero || !(*scale > 0)) return std::nullopt;
  const bool typed = q->zero_point != kNoTensor;
  return Steps{*scale, *zero, typed ? graph.tensor(q->zero_point).dtype : DType::undefined};
}

/// The real number that a constant of one element is, or stands for.
std::optional<double> factor_of(const Graph& graph, TensorId id) {
  const Tensor& constant = graph.tensor(id);
  const auto number = number_of(graph, id);
  if (!number || !constant.constant) return std::nullopt;
  if (!constant.quantisation) return number;
  const auto steps = steps_of(graph, id);
  return steps ? std::optional(steps->scale * (*number - steps->zero_point)) : std::nullopt;
}

/// How far an integer of 16 bits is from its zero, at most.
constexpr double kFarthest = 65'536;

/// Do the codes of a tensor stay what they are where its numbers times `factor` are rounded anew?
bool keeps_codes(const Steps& before, double factor, const Steps& after) {
  const double change = before.scale * factor / after.scale;
  return before.zero_point == after.zero_point && before.type == after.type &&
         std::abs(change - 1) * kFarthest < 0.5;
}

/// What the file stores of a constant. It is read no more, but of the network's parameters.
std::vector<TensorId> stored_of(const Graph& graph, TensorId constant) {
  std::vector<TensorId> out, left{constant};
  while (!left.empty()) {
    const TensorId id = left.back();
    left.pop_back();
    if (id == kNoTensor) continue;
    const Tensor& t = graph.tensor(id);
    if (t.origin == Tensor::Origin::initializer) out.push_back(id);
    if (t.quantisation)
      left.insert(left.end(), {t.quantisation->scale, t.quantisation->zero_point});
    if (t.producer == kNoNode) continue;
    const std::vector<TensorId>& from = graph.nodes[static_cast<size_t>(t.producer)].inputs;
    left.insert(left.end(), from.begin(), from.end());
  }
  return out;
}

/// The port whose integers the node gives.
std::optional<size_t> kept_port(const NodeRewrites& r, const Node& node) {
  const bool mul = node.op_type == op::kMul;
  if (!node.domain.empty() || (!mul && node.op_type != op::kDiv) || node.inputs.size() != 2)
    return std::nullopt;
  const TensorId out = node.outputs[0];
  const auto after = steps_of(r.graph(), out);
  if (!after) return std::nullopt;
  for (size_t port = 0; port < (mul ? size_t{2} : size_t{1}); ++port) {
    const TensorId in = node.inputs[port];
    if (in == kNoTensor || r.graph().tensor(in).constant || r.dims(in) != r.dims(out)) continue;
    const auto before = steps_of(r.graph(), in);
    const auto by = factor_of(r.graph(), node.inputs[1 - port]);
    if (before && by && keeps_codes(*before, mul ? *by : 1 / *by, *after)) return port;
  }
  return std::nullopt;
}

}  // namespace

bool have_same_codes(const Graph& graph, TensorId a, TensorId b) {
  if (!graph.tensor(a).quantisation && !graph.tensor(b).quantisation) return true;
  const auto before = steps_of(graph, a), after = steps_of(graph, b);
  return before && after && keeps_codes(*before, 1, *after);
}

void plan_kept_codes(NodeRewrites& rewrites) {
  for (const Node& node : rewrites.graph().nodes) {
    if (node.folded) continue;
    const auto port = kept_port(rewrites, node);
    if (!port) continue;
    rewrites.replace_nodes({rewrites.id_of(node)}, [&node, at = *port](RebuiltGraph& g) {
      Node kept = g.new_operator(op::kIdentity, kPlainOpset, {});
      kept.quantisation = node.quantisation;
      for (const TensorId id : stored_of(g.before(), node.inputs[1 - at]))
        kept.quantisation.push_back(id);
      g.add_node(kept, node.name, {node.inputs[at]}, node.outputs);
    });
  }
}

}  // namespace accsim::sim
