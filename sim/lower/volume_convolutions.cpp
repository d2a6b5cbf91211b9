#include "sim/lower/volume_convolutions.h"

#include <algorithm>

#include "sim/lower/channel_chain.h"
#include "sim/operators/conv/sliding_window.h"
#include "sim/operators/names.h"
#include "sim/operators/op_table.h"

namespace accsim::sim {
namespace {

/// A Conv over three dims.
struct Volume {
  const Node* node = nullptr;
  WindowAttrs window{};
  Dims x, w, out;

  std::string name_of(const char* part) const { return node->name + part; }
  bool has_bias() const { return node->inputs.size() > 2 && node->inputs[2] != kNoTensor; }
  bool is_padded(size_t d) const { return window.before[d] != 0 || window.after[d] != 0; }
  bool takes_all() const {
    for (size_t d = 0; d < 3; ++d)
      if (is_padded(d) || w[d + 2] != x[d + 2]) return false;
    return true;
  }
  bool is_of_pixels() const {
    for (size_t d = 0; d < 3; ++d)
      if (is_padded(d) || w[d + 2] != 1 || window.strides[d] != 1) return false;
    return true;
  }
  bool takes_planes_once() const {
    return !is_padded(0) && window.strides[0] == w[2] && x[2] % w[2] == 0 &&
           (w[2] == 1 || window.dilations[0] == 1);
  }
};

void add_product(RebuiltGraph& g, const Volume& v) {
  const int64_t k = elements(v.w) / v.w[0];
  const TensorId rows = reshaped(g, v.node->inputs[0], {v.x[0], k}, v.name_of("/rows"));
  const TensorId weights = reshaped(g, v.node->inputs[1], {v.w[0], k}, v.name_of("/weights"));
  std::vector<TensorId> inputs{rows, weights};
  if (v.has_bias()) inputs.push_back(v.node->inputs[2]);
  const TensorId sums =
      g.add_operator(op::kGemm, kPlainOpset, v.name_of("/gemm"), std::move(inputs),
                     {v.x[0], v.w[0]}, {{"transB", "", int64_t{1}}});
  reshape_into(g, sums, v.node->outputs[0], v.node->name);
}

TensorId add_flat(RebuiltGraph& g, const Volume& v, TensorId x, TensorId w, Dims to,
                  std::vector<Attribute> attributes) {
  std::vector<TensorId> inputs{x, w};
  if (v.has_bias()) inputs.push_back(v.node->inputs[2]);
  return g.add_operator(op::kConv, kPlainOpset, v.name_of("/conv"), std::move(inputs),
                        std::move(to), std::move(attributes));
}

/// All planes one below the other.
void add_pixels(RebuiltGraph& g, const Volume& v) {
  const int64_t lines = v.x[2] * v.x[3];
  const TensorId x =
      reshaped(g, v.node->inputs[0], {v.x[0], v.x[1], lines, v.x[4]}, v.name_of("/flat"));
  const TensorId w = reshaped(g, v.node->inputs[1], {v.w[0], v.w[1], 1, 1}, v.name_of("/weights"));
  const TensorId sums = add_flat(g, v, x, w, {v.x[0], v.w[0], lines, v.x[4]}, {});
  reshape_into(g, sums, v.node->outputs[0], v.node->name);
}

/// Groups of planes are images, the planes of each are channels.
void add_planes(RebuiltGraph& g, const Volume& v) {
  const int64_t each = v.w[2], groups = v.x[2] / each;
  const TensorId apart = reshaped(
      g, v.node->inputs[0], {v.x[0], v.x[1], groups, each, v.x[3], v.x[4]}, v.name_of("/apart"));
  const TensorId images = transposed(g, apart, {0, 2, 1, 3, 4, 5}, v.name_of("/images"));
  const TensorId x =
      reshaped(g, images, {v.x[0] * groups, v.x[1] * each, v.x[3], v.x[4]}, v.name_of("/flat"));
  const TensorId w = reshaped(g, v.node->inputs[1], {v.w[0], v.w[1] * each, v.w[3], v.w[4]},
                              v.name_of("/weights"));
  const auto last_two = [](const std::vector<int64_t>& of) {
    return std::vector<int64_t>(of.begin() + 1, of.end());
  };
  std::vector<int64_t> pads = last_two(v.window.before);
  const std::vector<int64_t> after = last_two(v.window.after);
  pads.insert(pads.end(), after.begin(), after.end());
  const TensorId sums = add_flat(g, v, x, w, {v.x[0] * groups, v.w[0], v.out[3], v.out[4]},
                                 {{"strides", "", last_two(v.window.strides)},
                                  {"dilations", "", last_two(v.window.dilations)},
                                  {"pads", "", std::move(pads)}});
  const TensorId volumes =
      reshaped(g, sums, {v.x[0], groups, v.w[0], v.out[3], v.out[4]}, v.name_of("/volumes"));
  const TensorId turned = transposed(g, volumes, {0, 2, 1, 3, 4}, v.name_of("/turned"));
  reshape_into(g, turned, v.node->outputs[0], v.node->name);
}

}  // namespace

void plan_volume_convolutions(NodeRewrites& rewrites) {
  for (const Node& node : rewrites.graph().nodes) {
    if (node.op_type != op::kConv || !node.domain.empty() || node.folded) continue;
    if (rewrites.dims(node.inputs[0]).size() != 5 || !is_fixed_convolution(rewrites.graph(), node))
      continue;
    const NodeView view(rewrites.graph(), node);
    const auto window = window_attrs(view, 3);
    if (!window || window->has_same_padding()) continue;
    Volume v{&node, *window, view.dims(0), view.dims(1), rewrites.dims(node.outputs[0])};
    void (*add)(RebuiltGraph&, const Volume&) = v.takes_all()           ? add_product
                                                : v.is_of_pixels()      ? add_pixels
                                                : v.takes_planes_once() ? add_planes
                                                                        : nullptr;
    if (add)
      rewrites.replace_nodes({rewrites.id_of(node)}, [v, add](RebuiltGraph& g) { add(g, v); });
  }
}

}  // namespace accsim::sim
