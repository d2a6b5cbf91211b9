#include "sim/lower/lower.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/base/sums.h"
#include "sim/lower/function_joiner.h"
#include "sim/lower/layer_merger.h"
#include "sim/lower/layers_so_far.h"
#include "sim/lower/lower_each.h"
#include "sim/lower/passes.h"
#include "sim/operators/op_table.h"

namespace accsim::sim {
namespace {

class Lowering {
 public:
  Lowering(const Graph& graph, bool merges)
      : graph_(graph),
        merges_(merges),
        layers_(graph),
        functions_(layers_, merges ? find_functions(graph, layers_.lowered().readers)
                                   : std::vector<UnaryFunction>()),
        merger_(layers_, functions_) {}

  Result<Lowered> lower_graph() {
    for (size_t i = 0; i < graph_.nodes.size(); ++i)
      layers_.add_layer(lower_node(static_cast<NodeId>(i)));
    if (!errors_.empty()) return std::move(errors_);
    Lowered& out = layers_.lowered();
    if (const Status fits = check_macs(out); !fits) return fits.errors();
    return std::move(out);
  }

 private:
  /// No machine changes the MACs, so that all who sum them are spared a sum beyond 64 bits here.
  /// Parameters are below 62 bits together, like all tensors of a graph.
  Status check_macs(const Lowered& lowered) const {
    int64_t sum = 0;
    for (const Layer& l : lowered.layers) sum = add_counts(sum, l.macs);
    if (sum < kBeyond) return ok();
    return Error{Errc::overflow,
                 "the sum of its layers' MACs leaves 64 bits; give smaller sizes with --bind or "
                 "--input-shape",
                 graph_.file};
  }

  Layer lower_node(NodeId id) {
    const Node& node = graph_.nodes[static_cast<size_t>(id)];
    Layer l;
    l.node = id;
    l.name = node.name;
    l.op_type = node.file_op();
    l.inputs = node.inputs;
    l.outputs = node.outputs;
    const OpRow* row = find_op(node.domain, node.op_type);
    if (node.folded) {
      l.fate = Fate::folded;
    } else if (!row) {
      take_unsupported(node, l);
    } else if (!merges_ || (!functions_.join_node(id, l) && !merger_.merge_node(node, *row, l))) {
      take_work(node, *row, l);
    }
    return l;
  }

  void take_work(const Node& node, const OpRow& row, Layer& l) {
    l.fate = row.fate;
    if (!row.cost) return;
    Result<Work> work = row.cost(NodeView(graph_, node));
    if (!work) {
      for (Error e : work.errors()) {
        e.where = fmt::format("{}: node '{}' (op {})", graph_.file, node.name, node.op_type);
        errors_.push_back(std::move(e));
      }
      return;
    }
    l.work = std::move(work).value();
    std::erase_if(l.work, [](const WorkItem& item) { return is_nothing(item); });
    l.fate = fate_of(l.work);
    // What the array does of a normalisation, say, is no product of the network's.
    if (row.kind != OpKind::normalization && !stands_for_no_product(node)) l.macs = macs_of(l.work);
  }

  /// The unit that the work mostly is for: rows whose work varies (Einsum, Transpose) have the fate
  /// of what they turned out to do.
  static Fate fate_of(const Work& work) {
    Fate fate = Fate::view;
    for (const WorkItem& item : work) {
      if (std::holds_alternative<GemmOp>(item)) return Fate::gemm;
      const bool vector = std::holds_alternative<VectorOp>(item);
      if (vector || fate == Fate::view) fate = vector ? Fate::vector : Fate::memory;
    }
    return fate;
  }

  /// Ops on empty tensors (a zero dim) do nothing.
  static bool is_nothing(const WorkItem& item) {
    const auto none = [](const std::vector<Access>& side) {
      return std::all_of(side.begin(), side.end(), [](const Access& a) { return a.elements == 0; });
    };
    if (const auto* gemm = std::get_if<GemmOp>(&item)) return gemm->macs() == 0;
    // What writes nothing, at an internal port neither, needn't read.
    if (const auto* vector = std::get_if<VectorOp>(&item)) return none(vector->outputs);
    return none(std::get<MemoryOp>(item).outputs);
  }

  void take_unsupported(const Node& node, Layer& l) {
    l.fate = Fate::unsupported;
    layers_.lowered().unsupported.push_back(fmt::format("{} ({})", node.name, node.op_type));
    MemoryOp move;
    const auto all = [&](const std::vector<TensorId>& ids, std::vector<Access>& side) {
      for (size_t i = 0; i < ids.size(); ++i)
        if (ids[i] != kNoTensor)
          side.push_back({static_cast<int>(i), elements(graph_.tensor(ids[i]).dims), 0});
    };
    all(node.inputs, move.inputs);
    all(node.outputs, move.outputs);
    if (!is_nothing(move)) l.work = {move};
  }

  const Graph& graph_;
  const bool merges_;
  LayersSoFar layers_;
  FunctionJoiner functions_;
  LayerMerger merger_;
  Errors errors_;
};

Result<Lowered> lower_to(PassStage last, const Graph& graph) {
  Result<Lowered> out = lower_nodes(graph);
  if (out) run_passes(lowering_passes(), last, graph, *out);
  return out;
}

}  // namespace

int64_t macs_of(const Work& work) {
  int64_t sum = 0;
  for (const WorkItem& item : work)
    if (const auto* gemm = std::get_if<GemmOp>(&item)) sum = add_counts(sum, gemm->macs());
  return sum;
}

Result<Lowered> lower_nodes(const Graph& graph) { return Lowering(graph, true).lower_graph(); }

Result<Lowered> lower(const Graph& graph) { return lower_to(PassStage::merging, graph); }

Result<Lowered> lower_in_memory(const Graph& graph) {
  return lower_to(PassStage::in_memory, graph);
}

Result<Lowered> lower_each(const Graph& graph) {
  Result<Lowered> out = Lowering(graph, false).lower_graph();
  if (out) count_parameters(graph, *out);
  return out;
}

}  // namespace accsim::sim
