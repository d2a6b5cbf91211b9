#include "sim/cost/unit_layers.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "sim/map/residency.h"
#include "sim/operators/names.h"
#include "sim/operators/op_table.h"
#include "sim/operators/pool/pool_rules.h"
#include "sim/operators/reduction/reduction_rules.h"

namespace accsim::sim {
namespace {

constexpr std::string_view kNoOperator = "on lanes: operators that no unit has";
constexpr std::string_view kNoFunction =
    "on lanes: functions that the point-wise unit doesn't have";
constexpr std::string_view kNoWindow = "on lanes: windows that the pooling unit doesn't have";
constexpr std::string_view kNoOperand =
    "on lanes: operands that are neither one nor one per element";
constexpr std::string_view kNoType = "on lanes: other types than activations";

UnitWork lacking(std::string_view what) { return {{}, what}; }

/// Sizes of a tensor as a unit sees it, and how many such images there are.
struct Image {
  int64_t width = 1, height = 1, channels = 1, images = 1;
};

/// [channels], [lines, channels], [images, channels, spatial ...]. Of three dims, which may be
/// [images, positions, channels] as well, the two last ones are whichever makes fewer atoms.
Image image_of(const Dims& dims, const hw::HwConfig& hw) {
  Image out;
  if (dims.empty()) return out;
  if (dims.size() <= 2) {
    out.channels = dims.back();
    out.height = elements(dims, 0, dims.size() - 1);
    return out;
  }
  out.images = dims[0];
  out.channels = dims[1];
  out.width = dims.back();
  out.height = elements(dims, 2, dims.size() - 1);
  const auto atoms = [&](int64_t positions, int64_t channels) {
    return positions * ceil_div(channels, hw.array.cols);
  };
  if (dims.size() == 3 && atoms(dims[1], dims[2]) < atoms(dims[2], dims[1]))
    std::swap(out.width, out.channels);
  return out;
}

/// The nodes whose work a layer does, in order: its own, and those that were merged into it. Empty
/// where they are no chain.
std::vector<const Node*> nodes_of(const Graph& graph, const Layer& layer) {
  const auto node = [&](NodeId id) { return &graph.nodes[static_cast<size_t>(id)]; };
  NodeId first = layer.node;
  std::vector<const Node*> out;
  for (const NodeId id : layer.function.nodes) out.push_back(node(id));
  if (!out.empty()) first = layer.function.nodes.back();
  std::vector<const Node*> merged;
  constexpr size_t kMostMerged = 64;
  for (TensorId at = layer.outputs.front(); merged.size() < kMostMerged;) {
    if (at == kNoTensor || graph.tensor(at).producer == kNoNode) return {};
    const NodeId id = graph.tensor(at).producer;
    if (id == first) {
      if (out.empty()) out.push_back(node(first));
      out.insert(out.end(), merged.rbegin(), merged.rend());
      return out;
    }
    merged.push_back(node(id));
    at = node(id)->inputs.empty() ? kNoTensor : node(id)->inputs.front();
  }
  return {};
}

/// Stages of a point-wise layer as its nodes ask for them.
class Stages {
 public:
  Stages(const Graph& graph, const Layer& layer) : graph_(graph), layer_(layer) {}

  /// What the node does; what is lacking, or "".
  std::string_view add_node(const Node& node);
  std::vector<hw::PointStage> take_stages() { return std::move(stages_); }

 private:
  enum class Part : uint8_t { alu, mul, relu };

  /// The part of a stage that is in line: the open one's, or the next one's.
  void add(Part part, int64_t operand_reads = 0) {
    if (stages_.empty() || part <= last_) stages_.emplace_back();
    last_ = part;
    hw::PointStage& stage = stages_.back();
    stage.alu |= part == Part::alu;
    stage.mul |= part == Part::mul;
    stage.operand_reads += operand_reads;
  }
  std::string_view add_two(const Node& node, Part part);
  std::string_view add_clip(const Node& node);
  bool is_single(TensorId id) const {
    const Tensor& t = graph_.tensor(id);
    return t.constant && elements(t.dims) == 1;
  }

  const Graph& graph_;
  const Layer& layer_;
  std::vector<hw::PointStage> stages_;
  Part last_ = Part::relu;
};

/// Of several tensors the first that isn't a constant is the layer's, and the others are operands.
std::string_view Stages::add_two(const Node& node, Part part) {
  const Dims& whole = graph_.tensor(layer_.outputs.front()).dims;
  bool is_first = true;
  for (const TensorId id : node.inputs) {
    if (id == kNoTensor) continue;
    const Tensor& t = graph_.tensor(id);
    if (is_first && !t.constant) {
      if (t.dims != whole) return kNoOperand;
      is_first = false;
    } else if (is_single(id)) {
      add(part);
    } else if (t.dims == whole) {
      add(part, 1);
    } else {
      return kNoOperand;
    }
  }
  return "";
}

/// ReLU where the lower bound is 0, and a minimum before it; else a maximum and a minimum.
std::string_view Stages::add_clip(const Node& node) {
  const NodeView view(graph_, node);
  const bool of_inputs = node.opset >= 11;
  const auto has = [&](size_t input, std::string_view name) {
    return of_inputs ? view.has_input(input) : view.has_attr(name);
  };
  bool from_zero = false;
  if (of_inputs && view.has_input(1)) {
    const ConstData* low = view.value(1);
    from_zero = low && low->size() == 1 && low->as_double(0) == 0;
  }
  if (!of_inputs) from_zero = view.attr("min", -1.0) == 0;
  if (has(2, "max")) add(Part::alu);
  if (has(1, "min")) add(from_zero ? Part::relu : Part::alu);
  return "";
}

std::string_view Stages::add_node(const Node& node) {
  const std::string& op = node.op_type;
  const OpRow* row = find_op(node);
  if (!row || !node.domain.empty()) return kNoFunction;
  if (row->fate == Fate::view || op == op::kCast) return "";
  if (op == op::kRelu) return add(Part::relu), "";
  if (op == op::kClip) return add_clip(node);
  if (op == op::kLeakyRelu || op == op::kNeg) return add(Part::mul), "";
  if (op == op::kAdd || op == op::kSum || op == op::kMax || op == op::kMin)
    return add_two(node, Part::alu);
  if (op == op::kMul || op == op::kPRelu) return add_two(node, Part::mul);
  // What is subtracted or divided by must be turned into what is added or multiplied by.
  const bool turns = (op == op::kSub || op == op::kDiv) && is_single(node.inputs.back());
  if (turns) return add_two(node, op == op::kSub ? Part::alu : Part::mul);
  return kNoFunction;
}

/// Does the node make one element of all positions of a channel?
bool pools_all(const NodeView& view) {
  const std::string& op = view.node().op_type;
  if (op == op::kGlobalAveragePool || op == op::kGlobalMaxPool) return true;
  if (op != op::kReduceMean && op != op::kReduceMax && op != op::kReduceMin) return false;
  const Result<std::vector<int64_t>> axes = reduced_axes(view);
  if (!axes || view.rank(0) < 3) return false;
  std::vector<int64_t> positions(static_cast<size_t>(view.rank(0) - 2));
  std::iota(positions.begin(), positions.end(), 2);
  return *axes == positions;
}

bool is_pooling(const NodeView& view) {
  const std::string& op = view.node().op_type;
  return op == op::kMaxPool || op == op::kAveragePool || pools_all(view);
}

/// A pooling node's layer; nothing where the windows are others than the unit's.
std::optional<UnitRun> pooling_of(const NodeView& view) {
  const Dims& dims = view.dims(0);
  if (view.has_output(1) || dims.size() < 3 || dims.size() > 4) return std::nullopt;
  hw::PoolLayer out;
  out.channels = dims[1];
  out.width = dims.back();
  out.height = dims.size() == 4 ? dims[2] : 1;
  if (pools_all(view)) {
    out.kernel_width = out.width;
    out.kernel_height = out.height;
    return UnitRun{std::move(out), dims[0]};
  }
  const Result<SlidingWindow> window = pool_window(view, false);
  if (!window || std::ranges::any_of(window->dilation, [](int64_t d) { return d != 1; }))
    return std::nullopt;
  out.kernel_width = window->kernel[2];
  out.kernel_height = window->kernel[1];
  out.stride_x = window->stride[2];
  out.stride_y = window->stride[1];
  out.pad_left = window->pad[2];
  out.pad_top = window->pad[1];
  out.out_width = window->out[2];
  out.out_height = window->out[1];
  return UnitRun{std::move(out), dims[0]};
}

/// Are all that the layer reads and writes, but for its own constants, activations?
bool has_activations(const Graph& graph, const Layer& layer, const hw::HwConfig& hw) {
  const auto is_one = [&](TensorId id) {
    if (id == kNoTensor) return true;
    const Tensor& t = graph.tensor(id);
    return (t.constant && elements(t.dims) == 1) ||
           element_bytes(hw, t.dtype) == hw.activation_bytes();
  };
  return std::ranges::all_of(layer.inputs, is_one) && std::ranges::all_of(layer.outputs, is_one);
}

}  // namespace

UnitWork unit_work(const Graph& graph, const Layer& layer, const hw::HwConfig& hw) {
  const auto vectors = std::ranges::count_if(
      layer.work, [](const WorkItem& item) { return std::holds_alternative<VectorOp>(item); });
  const auto outputs =
      std::ranges::count_if(layer.outputs, [](TensorId id) { return id != kNoTensor; });
  if (vectors != 1 || outputs != 1) return lacking(kNoOperator);
  const std::vector<const Node*> nodes = nodes_of(graph, layer);
  if (nodes.empty()) return lacking(kNoOperator);
  if (!has_activations(graph, layer, hw)) return lacking(kNoType);
  const Image whole = image_of(graph.tensor(layer.outputs.front()).dims, hw);
  UnitWork out;
  const NodeView first(graph, *nodes.front());
  const bool pools = is_pooling(first), normalises = nodes.front()->op_type == op::kLRN;
  if (pools) {
    std::optional<UnitRun> run = pooling_of(first);
    if (!run) return lacking(kNoWindow);
    out.runs.push_back(*std::move(run));
  } else if (normalises) {
    out.runs.push_back(
        {hw::LrnLayer{whole.width, whole.height, whole.channels, false}, whole.images});
  } else if (!find_op(*nodes.front()) || !find_op(*nodes.front())->pointwise) {
    return lacking(kNoOperator);
  }
  Stages stages(graph, layer);
  for (size_t i = pools || normalises ? 1 : 0; i < nodes.size(); ++i)
    if (const std::string_view lacks = stages.add_node(*nodes[i]); !lacks.empty())
      return lacking(lacks);
  hw::PointLayer point{whole.width, whole.height, whole.channels, stages.take_stages()};
  if (!point.stages.empty() || out.runs.empty())
    out.runs.push_back({std::move(point), whole.images});
  return out;
}

}  // namespace accsim::sim
