#include "sim/program/layer_weights.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "sim/onnx/weights.h"
#include "sim/operators/node_view.h"
#include "sim/operators/op_table.h"

namespace accsim::sim {
namespace {

/// Index in the stored tensor of (group, kernel tap, channel, output).
using WeightIndex = std::function<int64_t(int64_t g, int64_t tap, int64_t c, int64_t n)>;

std::optional<WeightIndex> stored_weight_index(const Graph& graph, const Layer& layer,
                                               const GemmOp& op, const Tensor& w) {
  const Node& node = graph.nodes[static_cast<size_t>(layer.node)];
  const OpRow* row = find_op(node);
  const int64_t taps = op.kernel[0] * op.kernel[1] * op.kernel[2];
  const int64_t channels = op.channels, outputs = op.outputs;
  if (!row || row->weights == WeightLayout::unknown) return std::nullopt;
  if (elements(w.dims) != op.batch * op.k() * op.outputs) return std::nullopt;
  if (row->weights == WeightLayout::oihw)
    return [=](int64_t g, int64_t tap, int64_t c, int64_t n) {
      return ((g * outputs + n) * channels + c) * taps + tap;
    };
  if (row->weights == WeightLayout::gain)
    return [](int64_t g, int64_t, int64_t, int64_t) { return g; };
  if (op.batch != 1 || taps != 1) return std::nullopt;
  const bool turned = row->weights == WeightLayout::kn_or_nk &&
                      NodeView(graph, node).attr("transB", int64_t{0}) != 0;
  return [=](int64_t, int64_t, int64_t c, int64_t n) {
    return turned ? n * channels + c : c * outputs + n;
  };
}

/// The integers of constants that are changed to reals, or the tensor itself.
const Tensor& stored_tensor(const Graph& graph, TensorId id) {
  const Tensor& t = graph.tensor(id);
  if (t.producer == kNoNode || !t.constant) return t;
  const Node& node = graph.nodes[static_cast<size_t>(t.producer)];
  const OpRow* row = find_op(node);
  return row && row->codes == Codes::takes ? graph.tensor(node.inputs[0]) : t;
}

}  // namespace

std::optional<std::vector<int8_t>> stored_weights(const Graph& graph, const Layer& layer,
                                                  const GemmOp& op) {
  if (!op.b_port.is_within(layer.inputs.size())) return std::nullopt;
  const size_t port = op.b_port.index();
  if (layer.inputs[port] == kNoTensor) return std::nullopt;
  const Tensor& w = stored_tensor(graph, layer.inputs[port]);
  if (w.origin != Tensor::Origin::initializer || (!is_float(w.dtype) && w.dtype != DType::int8))
    return std::nullopt;
  const auto place = stored_weight_index(graph, layer, op, w);
  if (!place) return std::nullopt;
  const auto values = read_weights(graph, w);
  if (!values) return std::nullopt;

  const int64_t taps = op.k() / op.channels;
  std::vector<int8_t> out(values->size());
  const auto each = [&](int64_t g, int64_t n, auto visit) {
    for (int64_t tap = 0; tap < taps; ++tap)
      for (int64_t c = 0; c < op.channels; ++c)
        visit((*values)[static_cast<size_t>((*place)(g, tap, c, n))],
              out[static_cast<size_t>(((g * taps + tap) * op.channels + c) * op.outputs + n)]);
  };
  for (int64_t g = 0; g < op.batch; ++g)
    for (int64_t n = 0; n < op.outputs; ++n) {
      double largest = 0;
      each(g, n, [&](double v, int8_t&) { largest = std::max(largest, std::abs(v)); });
      const double scale = w.dtype == DType::int8 || largest == 0 ? 1 : 127 / largest;
      each(g, n, [&](double v, int8_t& q) {
        q = static_cast<int8_t>(std::clamp(std::nearbyint(v * scale), -128.0, 127.0));
      });
    }
  return out;
}

}  // namespace accsim::sim
