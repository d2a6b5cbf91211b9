#include "sim/map/residency.h"

#include <algorithm>
#include <numeric>

namespace accsim::sim {

int64_t element_bytes(const hw::HwConfig& hw, DType dtype) {
  const bool machine_type = is_float(dtype) || dtype == DType::int8 || dtype == DType::uint8;
  return machine_type ? hw.activation_bytes() : std::max(1, bits(dtype) / 8);
}

bool is_view(const Layer& layer, const hw::HwConfig& hw) {
  if (layer.work.empty()) return true;
  const bool scales = hw.types.activation == DType::int8 && !is_float(hw.types.accumulator);
  return scales && layer.fate == Fate::vector && layer.function.rescales && layer.work.size() == 1;
}

namespace {

class Planner {
 public:
  Planner(const Graph& graph, const Lowered& lowered, const hw::HwConfig& hw)
      : graph_(graph),
        lowered_(lowered),
        hw_(hw),
        first_(graph.tensors.size(), -1),
        last_(graph.tensors.size(), -1) {
    out_.resident.assign(graph.tensors.size(), false);
    out_.root.resize(graph.tensors.size());
    std::iota(out_.root.begin(), out_.root.end(), 0);
    for (const Tensor& t : graph.tensors) shown_.push_back(t.dtype);
    out_.parts.resize(graph.tensors.size());
    for (size_t id = 0; id < lowered.parts.size(); ++id) set_part(id, lowered.parts[id]);
  }

  Residency run(std::span<const TensorId> in_dram, std::span<const TensorId> kept) {
    for (size_t i = 0; i < lowered_.layers.size(); ++i) lives(static_cast<int>(i));
    add_live_bytes();
    keep_in_dram(graph_.outputs);
    keep_in_dram(in_dram);
    select();
    for (const TensorId id : kept) out_.resident[root(id)] = true;
    for (size_t id = 0; id < out_.root.size(); ++id)
      out_.resident[id] = out_.resident[static_cast<size_t>(out_.root[id])];
    return std::move(out_);
  }

 private:
  void set_part(size_t id, const Part& p) {
    if (p.whole == kNoTensor) return;
    const int64_t each = element_bytes(hw_, graph_.tensors[id].dtype);
    out_.root[id] = p.whole;
    out_.parts[id] = {p.offset * each, p.pitch.times(each)};
  }

  void lives(int at) {
    const Layer& l = lowered_.layers[static_cast<size_t>(at)];
    if (l.fate == Fate::folded) return;  // constants, or merged: their producer owns the output
    for (TensorId id : l.inputs)
      if (id != kNoTensor) last_[root(id)] = at;
    const bool view = is_view(l, hw_) && !l.inputs.empty() && l.inputs[0] != kNoTensor;
    for (TensorId id : l.outputs) {
      if (id == kNoTensor) continue;
      if (view) {
        show(id, l.inputs[0]);
        continue;
      }
      const auto lies_there = [&](TensorId in) { return in != kNoTensor && root(in) == root(id); };
      if (std::ranges::any_of(l.inputs, lies_there)) continue;  // and is alive
      if (first_[root(id)] < 0) first_[root(id)] = at;
      last_[root(id)] = at;
    }
  }

  /// All of what the input is, or as a layer says that makes a part of it.
  void show(TensorId id, TensorId input) {
    const auto to = static_cast<size_t>(id);
    const TensorId whole = lowered_.parts.empty() ? kNoTensor : lowered_.parts[to].whole;
    const TensorId from = whole == kNoTensor ? input : whole;
    if (root(id) != root(from)) {
      out_.root[to] = out_.root[static_cast<size_t>(from)];
      out_.parts[to] = out_.parts[static_cast<size_t>(from)];
    }
    const Tensor &shown = graph_.tensor(id), &all = graph_.tensors[root(id)];
    if (elements(shown.dims) == elements(all.dims)) shown_[root(id)] = shown.dtype;
  }

  size_t root(TensorId id) const { return static_cast<size_t>(out_.root[static_cast<size_t>(id)]); }

  /// Inputs live from the first layer on, outputs to the last.
  void add_live_bytes() {
    const size_t layers = lowered_.layers.size();
    out_.use.assign(layers, {});
    if (layers == 0) return;
    std::vector<int> first = first_, last = last_;
    for (TensorId id : graph_.inputs)
      if (!graph_.tensor(id).constant && last[root(id)] >= 0) first[root(id)] = 0;
    for (TensorId id : graph_.outputs)
      if (first[root(id)] >= 0) last[root(id)] = static_cast<int>(layers) - 1;
    // Sums beyond 64 bits wrap; who sums up the traffic of such a network refuses it.
    std::vector<uint64_t> change(layers + 1, 0);
    for (size_t id = 0; id < first.size(); ++id) {
      if (first[id] < 0) continue;
      change[static_cast<size_t>(first[id])] += static_cast<uint64_t>(bytes(id));
      change[static_cast<size_t>(last[id]) + 1] -= static_cast<uint64_t>(bytes(id));
    }
    uint64_t live = 0;
    for (size_t i = 0; i < layers; ++i) out_.use[i].live = static_cast<int64_t>(live += change[i]);
  }

  void keep_in_dram(std::span<const TensorId> tensors) {
    for (TensorId id : tensors) first_[root(id)] = -1;
  }

  int64_t bytes(size_t id) const {
    const Tensor& t = graph_.tensors[id];
    return elements(t.dims) * element_bytes(hw_, shown_[id]);
  }

  /// Walks the layers with the tensors alive there, smallest first; a tensor with more than the
  /// buffer's bytes at or below it anywhere in its life is out.
  void select() {
    struct Live {
      int64_t bytes;
      size_t id;
      auto operator<=>(const Live&) const = default;
    };
    const int64_t capacity = hw_.shared.free_bytes();
    std::vector<std::vector<size_t>> born(lowered_.layers.size());
    for (size_t id = 0; id < first_.size(); ++id)
      if (first_[id] >= 0) {
        born[static_cast<size_t>(first_[id])].push_back(id);
        out_.resident[id] = capacity > 0;
      }
    std::vector<Live> live;
    std::vector<std::vector<Live>> at(lowered_.layers.size());
    for (size_t i = 0; i < lowered_.layers.size(); ++i) {
      for (size_t id : born[i]) {
        const Live l{bytes(id), id};
        live.insert(std::lower_bound(live.begin(), live.end(), l), l);
      }
      int64_t sum = 0;
      for (const Live& l : live) {
        sum += l.bytes;
        if (sum > capacity) out_.resident[l.id] = false;
      }
      at[i] = live;
      std::erase_if(live, [&](const Live& l) { return last_[l.id] <= static_cast<int>(i); });
    }
    for (size_t i = 0; i < at.size(); ++i) {
      int64_t& sum = out_.use[i].shared;
      for (const Live& l : at[i])
        if (out_.resident[l.id]) sum += l.bytes;
      out_.peak_bytes = std::max(out_.peak_bytes, sum);
    }
  }

  const Graph& graph_;
  const Lowered& lowered_;
  const hw::HwConfig& hw_;
  /// By tensor id: the type in which its bytes lie. Integers that are given as floats are a view's.
  std::vector<DType> shown_;
  std::vector<int> first_, last_;  ///< first and last layer of a tensor's life; -1: not on chip
  Residency out_;
};

}  // namespace

Residency plan_residency(const Graph& graph, const Lowered& lowered, const hw::HwConfig& hw,
                         std::span<const TensorId> in_dram, std::span<const TensorId> kept) {
  return Planner(graph, lowered, hw).run(in_dram, kept);
}

}  // namespace accsim::sim
