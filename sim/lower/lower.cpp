#include "sim/lower/lower.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "sim/base/sums.h"
#include "sim/lower/functions.h"
#include "sim/lower/logarithms.h"
#include "sim/lower/lower_each.h"
#include "sim/lower/patterns.h"
#include "sim/lower/per_channel.h"
#include "sim/lower/rotations.h"
#include "sim/operators/op_table.h"

namespace accsim::sim {
namespace {

class Lowering {
 public:
  Lowering(const Graph& graph, bool merges)
      : graph_(graph),
        merges_(merges),
        readers_(consumers(graph)),
        owner_(graph.tensors.size(), -1),
        is_output_(graph.tensors.size(), false) {
    if (merges) {
      functions_ = find_functions(graph, readers_);
      logarithms_ = softmax_logarithms(graph);
    }
    for (TensorId id : graph.outputs) is_output_[static_cast<size_t>(id)] = true;
    for (UnaryFunction& f : functions_)
      for (const NodeId id : f.nodes) function_of_[id] = &f;
  }

  Result<Lowered> run() {
    out_.layers.reserve(graph_.nodes.size());
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      out_.layers.push_back(layer(static_cast<NodeId>(i)));
      own_outputs(i);
    }
    if (!errors_.empty()) return std::move(errors_);
    if (const Status fits = check_macs(); !fits) return fits.errors();
    count_parameters(graph_, out_);
    if (!merges_) return std::move(out_);
    merge_patterns(graph_, out_);
    merge_logarithms(graph_, logarithms_, out_);
    merge_rotations(graph_, out_);
    return std::move(out_);
  }

 private:
  /// No machine changes the MACs, so that all who sum them are spared a sum beyond 64 bits here.
  /// Parameters are below 62 bits together, like all tensors of a graph.
  Status check_macs() const {
    int64_t sum = 0;
    for (const Layer& l : out_.layers) sum = add_counts(sum, l.macs);
    if (sum < kBeyond) return ok();
    return Error{Errc::overflow,
                 "the sum of its layers' MACs leaves 64 bits; give smaller sizes with --bind or "
                 "--input-shape",
                 graph_.file};
  }

  Layer layer(NodeId id) {
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
      unsupported(node, l);
    } else if (!join_function(id, l) && !merge(node, *row, l)) {
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
    // A normalisation that the array does is no product of the network's.
    if (row.kind != OpKind::normalization) l.macs = macs_of(l.work);
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

  void unsupported(const Node& node, Layer& l) {
    l.fate = Fate::unsupported;
    out_.unsupported.push_back(fmt::format("{} ({})", node.name, node.op_type));
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

  // ---- merging
  // -----------------------------------------------------------------------------------

  void own_outputs(size_t layer) {
    const Layer& l = out_.layers[layer];
    if (l.work.empty()) return;
    for (TensorId id : l.outputs)
      if (id != kNoTensor) owner_[static_cast<size_t>(id)] = static_cast<int>(layer);
  }

  /// The layer whose only reader of its first output is `node`'s input `port`; nullptr if none.
  Layer* sole_producer(const Node& node, size_t port) {
    if (port >= node.inputs.size() || node.inputs[port] == kNoTensor) return nullptr;
    const auto id = static_cast<size_t>(node.inputs[port]);
    if (owner_[id] < 0 || is_output_[id] || readers_[id].size() != 1) return nullptr;
    Layer& l = out_.layers[static_cast<size_t>(owner_[id])];
    if (logarithms_.contains(l.node)) return nullptr;  // a softmax' second output as it is
    return l.outputs[0] == node.inputs[port] ? &l : nullptr;
  }

  bool merge(const Node& node, const OpRow& row, Layer& l) {
    if (!merges_) return false;
    Layer* into = nullptr;
    if (row.fusion == Fusion::affine) into = merge_affine(node);
    if (row.fusion == Fusion::bias) {
      into = merge_bias(node);
      if (!into) into = merge_residual(node);
    }
    if (row.fusion == Fusion::clip) into = merge_clip(node);
    if (row.fate == Fate::view) into = merge_rows(node);
    if (!into && passes_on(node)) into = merge_before_clip(node);
    if (!into) return false;
    l.fate = Fate::folded;
    l.merged_into = static_cast<int>(into - out_.layers.data());
    into->outputs[0] = node.outputs[0];
    owner_[static_cast<size_t>(node.outputs[0])] = l.merged_into;
    return true;
  }

  /// The layer's product when it ends in one.
  static GemmOp* last_product(Layer* l) {
    return l && !l->work.empty() ? std::get_if<GemmOp>(&l->work.back()) : nullptr;
  }
  /// The same when nothing has been merged into it that goes on with rounded results.
  static GemmOp* product(Layer* l) {
    return l && !l->relu && l->residual < 0 && l->function.empty() ? last_product(l) : nullptr;
  }

  bool constant(const Node& node, size_t port) const {
    return port < node.inputs.size() && node.inputs[port] != kNoTensor &&
           graph_.tensor(node.inputs[port]).constant;
  }

  /// A bias port for products that had none: any port will do, the bias is read with the weights.
  static void give_bias(GemmOp& gemm) {
    if (gemm.bias_port < 0) gemm.bias_port = gemm.b_port;
  }

  /// A BatchNormalization, say: gain and shift per channel, from constants.
  Layer* merge_affine(const Node& node) {
    Layer* l = sole_producer(node, 0);
    GemmOp* gemm = product(l);
    if (!gemm || node.outputs.size() > 1) return nullptr;
    const Node& producer = graph_.nodes[static_cast<size_t>(l->node)];
    const OpRow* product_row = find_op(producer);
    // Its channels are dim 1, the columns of a matrix product the last.
    if (!product_row || product_row->weights == WeightLayout::kn) return nullptr;
    if (!constant(producer, static_cast<size_t>(gemm->b_port))) return nullptr;
    for (size_t port = 1; port < node.inputs.size(); ++port)
      if (!constant(node, port)) return nullptr;
    give_bias(*gemm);
    return l;
  }

  /// A product + a constant vector over its columns, or over the channels of a convolution.
  Layer* merge_bias(const Node& node) {
    for (const size_t port : {size_t{0}, size_t{1}}) {
      Layer* l = sole_producer(node, port);
      GemmOp* gemm = product(l);
      if (!gemm || gemm->bias_port >= 0 || !constant(node, 1 - port)) continue;
      if (graph_.tensor(node.outputs[0]).dims != graph_.tensor(node.inputs[port]).dims) continue;
      if (!one_a_channel(node.inputs[1 - port], *l, *gemm)) continue;
      give_bias(*gemm);
      return l;
    }
    return nullptr;
  }

  /// Is a constant one number an output channel of the layer's product?
  bool one_a_channel(TensorId id, const Layer& l, const GemmOp& gemm) const {
    return is_per_channel(graph_.tensor(id).dims, graph_.tensor(l.outputs[0]).dims,
                          graph_.nodes[static_cast<size_t>(l.node)], gemm);
  }

  /// A sum with a tensor that is there when the product runs: of the two products that a sum can
  /// be part of, the later one's.
  Layer* merge_residual(const Node& node) {
    Layer* best = nullptr;
    size_t best_port = 0;
    for (const size_t port : {size_t{0}, size_t{1}}) {
      Layer* l = sole_producer(node, port);
      if (!last_product(l) || l->residual >= 0 || !can_be_added(node, port, *l)) continue;
      if (best && best->node > l->node) continue;
      best = l;
      best_port = port;
    }
    if (!best) return nullptr;
    best->residual = static_cast<int>(best->inputs.size());
    best->inputs.push_back(node.inputs[1 - best_port]);
    return best;
  }

  /// May the other input of a sum be added to the results of layer `l`, its input `port`?
  bool can_be_added(const Node& node, size_t port, const Layer& l) const {
    const TensorId id = node.inputs[1 - port];
    if (node.inputs.size() != 2 || id == kNoTensor || id == node.inputs[port]) return false;
    const Tensor &sum = graph_.tensor(node.outputs[0]), &other = graph_.tensor(id);
    const Tensor& mine = graph_.tensor(node.inputs[port]);
    if (other.constant || !is_float(sum.dtype) || other.dtype != sum.dtype) return false;
    if (other.dims != sum.dims || mine.dims != sum.dims) return false;
    return other.producer < l.node;  // kNoNode, of inputs, is less than all
  }

  /// A matrix product's rows under other dims, where what reads them can be part of the product: a
  /// function of each element, or a sum with what is there by then. Exporters that know products of
  /// two dims only put such a Reshape behind them.
  Layer* merge_rows(const Node& node) {
    Layer* l = sole_producer(node, 0);
    const GemmOp* gemm = product(l);
    if (!gemm || l->work.size() != 1 || gemm->batch != 1 || node.outputs.size() != 1)
      return nullptr;
    const OpRow* row = find_op(graph_.nodes[static_cast<size_t>(l->node)]);
    const Dims &from = graph_.tensor(node.inputs[0]).dims,
               &to = graph_.tensor(node.outputs[0]).dims;
    if (!row || row->weights == WeightLayout::oihw || from.empty() || to.empty()) return nullptr;
    if (from.back() != gemm->n() || to.back() != gemm->n()) return nullptr;
    return elements(from) == elements(to) && joins_product(node.outputs[0], *l) ? l : nullptr;
  }

  bool joins_product(TensorId id, Layer& l) const {
    const auto& readers = readers_[static_cast<size_t>(id)];
    if (is_output_[static_cast<size_t>(id)] || readers.empty()) return false;
    const auto function = function_of_.find(readers[0]);
    if (function != function_of_.end() && function->second->of == id)
      return std::ranges::all_of(readers, [&](NodeId reader) {
        return std::ranges::count(function->second->nodes, reader) > 0;
      });
    const Node& sum = graph_.nodes[static_cast<size_t>(readers[0])];
    const OpRow* row = find_op(sum);
    if (readers.size() != 1 || !row || row->fusion != Fusion::bias || sum.folded) return false;
    const size_t port = sum.inputs[0] == id ? 0 : 1;
    if (!constant(sum, 1 - port)) return can_be_added(sum, port, l);
    return last_product(&l)->bias_port < 0 &&
           one_a_channel(sum.inputs[1 - port], l, *last_product(&l));
  }

  /// Does it give the numbers that it reads, as an Identity does?
  bool passes_on(const Node& node) const {
    const OpRow* row = find_op(node);
    return row && row->pointwise && row->fate == Fate::view && !node.folded;
  }

  /// What passes on the results of vector work to a clip, which is to be part of that.
  Layer* merge_before_clip(const Node& node) {
    Layer* l = sole_producer(node, 0);
    return l && l->fate == Fate::vector && leads_to_clip(node.outputs[0]) ? l : nullptr;
  }

  /// Is a clip all that reads the tensor, maybe behind nodes that pass it on?
  bool leads_to_clip(TensorId id) {
    std::vector<TensorId> passed;
    bool found = false;
    while (id != kNoTensor) {
      if (const auto known = leads_to_clip_.find(id); known != leads_to_clip_.end()) {
        found = known->second;
        break;
      }
      passed.push_back(id);
      const auto& readers = readers_[static_cast<size_t>(id)];
      if (is_output_[static_cast<size_t>(id)] || readers.size() != 1) break;
      const Node& reader = graph_.nodes[static_cast<size_t>(readers[0])];
      if (!passes_on(reader)) {
        const OpRow* row = find_op(reader);
        found = row && row->fusion == Fusion::clip && !reader.folded;
        break;
      }
      id = reader.outputs[0];
    }
    for (const TensorId each : passed) leads_to_clip_[each] = found;
    return found;
  }

  Layer* merge_clip(const Node& node) {
    Layer* l = sole_producer(node, 0);
    if (!l || l->work.empty()) return nullptr;
    for (size_t port = 1; port < node.inputs.size(); ++port)
      if (node.inputs[port] != kNoTensor && !constant(node, port)) return nullptr;
    if (last_product(l)) {
      if (!clips_at_zero(graph_, node) || (!l->function.empty() && l->residual < 0)) return nullptr;
      bool& clips = l->residual >= 0 ? l->clips_sum : l->relu;
      return std::exchange(clips, true) ? nullptr : l;
    }
    auto* vector = std::get_if<VectorOp>(&l->work.back());
    if (!vector || l->fate != Fate::vector) return nullptr;
    (*vector)[VectorClass::elementwise] += elements(graph_.tensor(node.outputs[0]).dims);
    return l;
  }

  // ---- functions
  // ---------------------------------------------------------------------------------

  /// Makes the node part of its function, whose last node brings what it costs.
  bool join_function(NodeId id, Layer& l) {
    const auto found = function_of_.find(id);
    if (found == function_of_.end()) return false;
    UnaryFunction& f = *found->second;
    const bool last = id == f.nodes.back();
    if (is_only_a_clip(f) && !product_of(f)) return false;
    if (!last && leave_clip(id, f)) return false;
    Layer* product = last ? product_of(f) : nullptr;
    l.in_function = !last || product;
    l.fate = l.in_function ? Fate::folded : Fate::vector;
    if (!last) return true;
    const auto at = product ? product - out_.layers.data() : std::ssize(out_.layers);
    for (const NodeId node : f.nodes) {
      Layer& part = node == id ? l : out_.layers[static_cast<size_t>(node)];
      if (part.in_function) part.merged_into = static_cast<int>(at);
    }
    if (product)
      append_function(*product, f, l.outputs[0]);
    else
      be_function(l, f);
    return true;
  }

  /// Is all that it does its last node's clip?
  bool is_only_a_clip(const UnaryFunction& f) {
    const auto [at, fresh] = only_a_clip_.try_emplace(&f);
    if (fresh) at->second = finds_only_a_clip(f);
    return at->second;
  }
  bool finds_only_a_clip(const UnaryFunction& f) const {
    const auto node = [this](NodeId id) -> const Node& {
      return graph_.nodes[static_cast<size_t>(id)];
    };
    const auto before = std::span(f.nodes).first(f.nodes.size() - 1);
    return find_op(node(f.nodes.back()))->fusion == Fusion::clip &&
           std::ranges::all_of(before, [&](NodeId id) { return passes_on(node(id)); });
  }

  /// Leaves a clip that is all that reads the argument to the product before it.
  bool leave_clip(NodeId id, UnaryFunction& f) {
    const Node& node = graph_.nodes[static_cast<size_t>(id)];
    Layer* l = sole_producer(node, 0);
    if (id != f.nodes.front() || !l || !clips_at_zero(graph_, node)) return false;
    if (!last_product(l) || !l->function.empty() || (l->residual >= 0 ? l->clips_sum : l->relu))
      return false;
    UnaryFunction rest = f;
    rest.nodes.erase(rest.nodes.begin());
    rest.of = node.outputs[0];
    rest.work = work_of(graph_, rest);
    if (rest.work.ops == VectorOp{}.ops) return false;
    f = std::move(rest);
    only_a_clip_.erase(&f);
    return true;
  }

  /// The layer of the product whose results are the function's argument, and nobody else's.
  Layer* product_of(const UnaryFunction& f) {
    const auto id = static_cast<size_t>(f.of);
    if (owner_[id] < 0 || is_output_[id]) return nullptr;
    Layer& l = out_.layers[static_cast<size_t>(owner_[id])];
    const GemmOp* gemm = last_product(&l);
    if (!gemm || l.work.size() > 1 || l.residual >= 0 || !l.function.empty()) return nullptr;
    if (l.outputs[0] != f.of) return nullptr;
    if (gemm->batch * gemm->m() * gemm->n() != elements(graph_.tensor(f.of).dims)) return nullptr;
    const bool alone = std::ranges::all_of(readers_[id], [&](NodeId reader) {
      return std::ranges::find(f.nodes, reader) != f.nodes.end();
    });
    return alone ? &l : nullptr;
  }

  bool all_affine(std::span<const NodeId> nodes) const {
    return std::ranges::all_of(nodes, [this](NodeId id) {
      return is_affine(graph_, graph_.nodes[static_cast<size_t>(id)]);
    });
  }

  void append_function(Layer& l, UnaryFunction f, TensorId result) {
    const Node& last = graph_.nodes[static_cast<size_t>(f.nodes.back())];
    f.affine = !l.relu && all_affine(f.nodes);
    const auto before = std::span(f.nodes).first(f.nodes.size() - 1);
    if (!l.relu && !before.empty() && all_affine(before) && clips_at_zero(graph_, last)) {
      f.affine = l.relu = true;
      f.nodes.pop_back();
      f.work = work_of(graph_, f);
    }
    auto& gemm = std::get<GemmOp>(l.work.back());
    const TensorId b = l.inputs[static_cast<size_t>(gemm.b_port)];
    if (f.affine && graph_.tensor(b).constant) give_bias(gemm);
    l.function = std::move(f);
    l.outputs[0] = result;
    owner_[static_cast<size_t>(result)] = static_cast<int>(&l - out_.layers.data());
  }

  /// A layer of its own, at the function's last node.
  void be_function(Layer& l, const UnaryFunction& f) {
    l.inputs = {f.of};
    l.work = {f.work};
    l.function = f;
    l.function.affine = all_affine(f.nodes);
    l.function.rescales = is_rescaling(graph_, f);
  }

  const Graph& graph_;
  const bool merges_;
  const std::vector<std::vector<NodeId>> readers_;
  std::vector<int> owner_;  ///< layer that writes a tensor, -1: none that does work
  std::vector<bool> is_output_;
  std::vector<UnaryFunction> functions_;
  std::map<NodeId, NodeId> logarithms_;
  std::map<NodeId, UnaryFunction*> function_of_;
  std::map<const UnaryFunction*, bool> only_a_clip_;  ///< of those asked for
  std::map<TensorId, bool> leads_to_clip_;            ///< likewise
  Lowered out_;
  Errors errors_;
};

}  // namespace

int64_t macs_of(const Work& work) {
  int64_t sum = 0;
  for (const WorkItem& item : work)
    if (const auto* gemm = std::get_if<GemmOp>(&item)) sum = add_counts(sum, gemm->macs());
  return sum;
}

Result<Lowered> lower(const Graph& graph) { return Lowering(graph, true).run(); }

Result<Lowered> lower_each(const Graph& graph) { return Lowering(graph, false).run(); }

}  // namespace accsim::sim
