#include "sim/lower/transposed_convolutions.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "sim/lower/channel_chain.h"
#include "sim/operators/conv/sliding_window.h"
#include "sim/operators/names.h"
#include "sim/operators/op_table.h"

namespace accsim::sim {
namespace {

constexpr int64_t kMostPhases = 16;  ///< that are convolutions of their own

/// One phase along one dim: a convolution of stride 1.
struct Phase {
  std::vector<int64_t> taps;  ///< of the kernel, as the convolution has them
  int64_t before = 0, after = 0;

  friend bool operator==(const Phase&, const Phase&) = default;
};
/// By dim.
using Phases = std::vector<Phase>;

/// Output s q + r of a dim sums up x[q + c - u] w[t + s u] for u < taps, with t = (r + p) mod s and
/// c = (r + p - t) / s. The convolution has the taps from the last one on. nullopt where it reads
/// less than the input at an end, or nothing.
std::optional<Phase> phase_of(int64_t r, int64_t kernel, int64_t stride, int64_t pad) {
  const int64_t t = (r + pad) % stride, c = (r + pad - t) / stride;
  Phase out;
  for (int64_t tap = t; tap < kernel; tap += stride) out.taps.push_back(tap);
  std::ranges::reverse(out.taps);
  out.before = std::ssize(out.taps) - 1 - c;
  out.after = c;
  const bool fits = !out.taps.empty() && out.before >= 0;
  return fits ? std::optional(std::move(out)) : std::nullopt;
}

struct Plan {
  const Node* node = nullptr;
  std::vector<NodeId> behind;  ///< that work on channels
  int64_t groups = 1, outputs = 1;
  std::vector<int64_t> strides;
  std::vector<Phases> phases;  ///< the last dim's innermost
  bool as_one = false;         ///< all phases are one convolution

  int64_t count() const { return std::ssize(phases); }
};

std::optional<Plan> plan_of(const NodeRewrites& r, const Node& node) {
  const NodeView view(r.graph(), node);
  const Dims &x = view.dims(0), &w = view.dims(1), &out = r.dims(node.outputs[0]);
  const size_t rank = x.size() - 2;
  const auto window = window_attrs(view, rank);
  if (!window || window->auto_pad == "SAME_UPPER" || window->auto_pad == "SAME_LOWER" ||
      view.has_attr("output_shape"))
    return std::nullopt;
  Plan plan{&node, {}, view.attr("group", int64_t{1}), out[1], window->strides, {{}}, true};
  for (size_t d = 0; d < rank; ++d) {
    const int64_t n = x[d + 2], kernel = w[d + 2];
    int64_t& stride = plan.strides[d];
    if (n == 1 && window->before[d] == 0 && out[d + 2] == kernel) stride = kernel;
    if (window->dilations[d] != 1 || out[d + 2] != n * stride) return std::nullopt;
    std::vector<Phases> more;
    for (const Phases& so_far : plan.phases)
      for (int64_t i = 0; i < stride; ++i) {
        auto phase = phase_of(i, kernel, stride, window->before[d]);
        if (!phase) return std::nullopt;
        plan.as_one =
            plan.as_one && phase->taps.size() == 1 && phase->before == 0 && phase->after == 0;
        more.push_back(so_far);
        more.back().push_back(std::move(*phase));
      }
    plan.phases = std::move(more);
  }
  plan.as_one = plan.as_one && plan.groups == 1;
  if (!plan.as_one && plan.count() > kMostPhases) return std::nullopt;
  plan.behind = channel_chain_behind(r, node.outputs[0]);
  return plan;
}

class Spelling {
 public:
  Spelling(RebuiltGraph& graph, const Plan& plan)
      : graph_(graph), plan_(plan), node_(*plan.node), x_(graph.dims(node_.inputs[0])) {}

  void add_all() {
    TensorId all = kNoTensor;
    const TensorId weights = forward_weights();
    if (plan_.as_one) {
      all = add_behind(add_convolution(all_weights(weights), plan_.phases[0], ""), "");
    } else {
      std::vector<TensorId> each;
      for (size_t i = 0; i < plan_.phases.size(); ++i) {
        const std::string part = "/phase_" + std::to_string(i);
        each.push_back(add_behind(
            add_convolution(phase_weights(weights, plan_.phases[i], part), plan_.phases[i], part),
            part));
      }
      all = put_together(each, "/phases");
    }
    interleave(all);
  }

 private:
  std::string name_of(const std::string& part) const { return node_.name + part; }
  Dims spatial() const { return {x_.begin() + 2, x_.end()}; }

  /// By output channel, as convolutions have them; their taps still the other way round.
  TensorId forward_weights() {
    const TensorId w = node_.inputs[1];
    const Dims dims = graph_.dims(w);
    const int64_t g = plan_.groups;
    Dims apart{g, dims[0] / g, dims[1]}, back{g * dims[1], dims[0] / g};
    std::vector<int64_t> perm{0, 2, 1};
    for (size_t d = 2; d < dims.size(); ++d) {
      apart.push_back(dims[d]);
      back.push_back(dims[d]);
      perm.push_back(static_cast<int64_t>(d) + 1);
    }
    const TensorId groups = reshaped(graph_, w, apart, name_of("/groups"));
    const TensorId turned = transposed(graph_, groups, perm, name_of("/by_output"));
    return reshaped(graph_, turned, back, name_of("/weights"));
  }

  TensorId phase_weights(TensorId weights, const Phases& phases, const std::string& part) {
    for (size_t d = 0; d < phases.size(); ++d)
      weights = ordered_constant(graph_, weights, static_cast<int64_t>(d) + 2, phases[d].taps,
                                 name_of(part + "/taps_" + std::to_string(d)));
    return weights;
  }

  /// Of all phases, one behind the other.
  TensorId all_weights(TensorId weights) {
    std::vector<TensorId> each;
    for (size_t i = 0; i < plan_.phases.size(); ++i)
      each.push_back(phase_weights(weights, plan_.phases[i], "/phase_" + std::to_string(i)));
    const TensorId out = put_together(each, "/all_weights", 0);
    if (const auto& q = graph_.tensor(weights).quantisation) graph_.set_quantisation(out, *q);
    return out;
  }

  TensorId put_together(const std::vector<TensorId>& each, const std::string& part,
                        int64_t axis = 1) {
    if (each.size() == 1) return each[0];
    Dims to = graph_.dims(each[0]);
    to[static_cast<size_t>(axis)] *= std::ssize(each);
    return graph_.add_operator(op::kConcat, kPlainOpset, name_of(part), each, to,
                               {{"axis", "", axis}});
  }

  /// The channels of all phases that are one.
  std::vector<int64_t> repeated_channels() const {
    std::vector<int64_t> out;
    for (int64_t i = 0; i < plan_.count(); ++i)
      for (int64_t o = 0; o < plan_.outputs; ++o) out.push_back(o);
    return out;
  }

  TensorId add_convolution(TensorId weights, const Phases& phases, const std::string& part) {
    std::vector<TensorId> inputs{node_.inputs[0], weights};
    if (node_.inputs.size() > 2 && node_.inputs[2] != kNoTensor)
      inputs.push_back(plan_.as_one ? ordered_constant(graph_, node_.inputs[2], 0,
                                                       repeated_channels(), name_of("/bias"))
                                    : node_.inputs[2]);
    std::vector<int64_t> pads;
    for (const Phase& p : phases) pads.push_back(p.before);
    for (const Phase& p : phases) pads.push_back(p.after);
    Dims to = x_;
    to[1] = graph_.dims(weights)[0];
    return graph_.add_operator(op::kConv, kPlainOpset, name_of(part + "/conv"), std::move(inputs),
                               std::move(to),
                               {{"group", "", plan_.groups}, {"pads", "", std::move(pads)}});
  }

  /// The nodes behind, on what a phase gives.
  TensorId add_behind(TensorId of, const std::string& part) {
    TensorId was = node_.outputs[0];
    for (const NodeId id : plan_.behind) {
      const Node& n = graph_.node(id);
      std::vector<TensorId> inputs =
          plan_.as_one ? inputs_in_order(graph_, n, was, of, repeated_channels()) : n.inputs;
      std::ranges::replace(inputs, was, of);
      was = n.outputs[0];
      of = graph_.add_tensor(graph_.tensor(was), n.name + part + "_output", graph_.dims(of));
      graph_.add_node(n, n.name + part, std::move(inputs), {of});
    }
    return of;
  }

  /// [image, stride ..., channel, spatial ...] to [image, channel, spatial x stride ...].
  void interleave(TensorId all) {
    const Node& last = plan_.behind.empty() ? node_ : graph_.node(plan_.behind.back());
    const auto rank = static_cast<int64_t>(plan_.strides.size());
    const bool plain = std::ranges::all_of(plan_.strides, [](int64_t s) { return s == 1; });
    Dims apart{x_[0]};
    apart.insert(apart.end(), plan_.strides.begin(), plan_.strides.end());
    apart.push_back(plan_.outputs);
    const Dims in = spatial();
    apart.insert(apart.end(), in.begin(), in.end());
    std::vector<int64_t> perm{0, rank + 1};
    for (int64_t d = 0; d < rank; ++d) perm.insert(perm.end(), {rank + 2 + d, 1 + d});
    if (!plain) {
      all = reshaped(graph_, all, apart, name_of("/apart"));
      all = transposed(graph_, all, perm, name_of("/interleaved"));
    }
    reshape_into(graph_, all, last.outputs[0], last.name);
  }

  RebuiltGraph& graph_;
  const Plan& plan_;
  const Node& node_;
  const Dims x_;
};

bool has_one_scale_at_most(const Graph& graph, TensorId id) {
  const auto& q = graph.tensor(id).quantisation;
  return !q || elements(graph.tensor(q->scale).dims) == 1;
}

}  // namespace

void plan_transposed_convolutions(NodeRewrites& rewrites) {
  const Graph& graph = rewrites.graph();
  for (const Node& node : graph.nodes) {
    if (node.op_type != op::kConvTranspose || !node.domain.empty() || node.folded) continue;
    const bool fixed = std::all_of(node.inputs.begin() + 1, node.inputs.end(), [&](TensorId id) {
      return id == kNoTensor || (graph.tensor(id).constant && has_one_scale_at_most(graph, id));
    });
    if (!fixed || elements(rewrites.dims(node.outputs[0])) == 0) continue;
    const auto plan = plan_of(rewrites, node);
    if (!plan) continue;
    std::vector<NodeId> nodes{rewrites.id_of(node)};
    nodes.insert(nodes.end(), plan->behind.begin(), plan->behind.end());
    rewrites.replace_nodes(nodes, [plan = *plan](RebuiltGraph& g) { Spelling(g, plan).add_all(); });
  }
}

}  // namespace accsim::sim
