#include "sim/map/residency.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "hw/program/byte_places.h"
#include "sim/lower/lane_meaning.h"

namespace accsim::sim {

int64_t element_bytes(const hw::HwConfig& hw, DType dtype) {
  return is_element(dtype) ? hw.activation_bytes() : std::max<int64_t>(1, storage_bytes(dtype, 1));
}

bool is_view(const Layer& layer, const hw::HwConfig& hw) {
  if (layer.work.empty()) return true;
  return hw.computes_int8() && layer.fate == Fate::vector && layer.function.rescales &&
         layer.work.size() == 1;
}

namespace {

/// Numbers by rank, none at first, and sums of those up to a rank (a Fenwick tree); each in time
/// that grows with the logarithm of how many there are.
class RankSums {
 public:
  explicit RankSums(size_t count) : sums_(count + 1, 0) {}

  void add_at_rank(size_t rank, int64_t value) {
    for (size_t i = rank + 1; i < sums_.size(); i += i & (~i + 1)) sums_[i] += value;
  }
  /// How many ranks, from the first on, have numbers that add up to no more than `most`. None is
  /// negative.
  size_t ranks_within(int64_t most) const {
    size_t found = 0;
    for (size_t step = std::bit_floor(sums_.size()); step > 0; step /= 2)
      if (found + step < sums_.size() && sums_[found + step] <= most) {
        found += step;
        most -= sums_[found];
      }
    return found;
  }

 private:
  std::vector<int64_t> sums_;
};

/// The least of numbers between two places (a sparse table).
class RangeLeast {
 public:
  explicit RangeLeast(std::vector<size_t> numbers) {
    levels_.push_back(std::move(numbers));
    const size_t count = levels_[0].size();
    for (size_t width = 1; 2 * width <= count; width *= 2) {
      const std::vector<size_t>& below = levels_.back();
      std::vector<size_t> level(count - 2 * width + 1);
      for (size_t i = 0; i < level.size(); ++i) level[i] = std::min(below[i], below[i + width]);
      levels_.push_back(std::move(level));
    }
  }
  size_t least_between(size_t first, size_t last) const {
    const auto level = static_cast<size_t>(std::bit_width(last - first + 1) - 1);
    return std::min(levels_[level][first], levels_[level][last + 1 - (size_t{1} << level)]);
  }

 private:
  std::vector<std::vector<size_t>> levels_;  ///< by the logarithm of the width
};

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
    out_.sub_tensors.resize(graph.tensors.size());
    out_.addresses.assign(graph.tensors.size(), -1);
    for (size_t id = 0; id < lowered.sub_tensors.size(); ++id)
      set_part(id, lowered.sub_tensors[id]);
  }

  Residency plan_tensors(std::span<const TensorId> in_dram, std::span<const TensorId> kept) {
    for (size_t i = 0; i < lowered_.layers.size(); ++i) note_lives(static_cast<int>(i));
    add_live_bytes();
    keep_in_dram(graph_.outputs);
    keep_in_dram(in_dram);
    select_residents();
    for (const TensorId id : kept) out_.resident[root_of(id)] = true;
    for (size_t id = 0; id < out_.root.size(); ++id)
      out_.resident[id] = out_.resident[static_cast<size_t>(out_.root[id])];
    return std::move(out_);
  }

 private:
  void set_part(size_t id, const SubTensor& p) {
    if (p.whole == kNoTensor) return;
    const int64_t each = element_bytes(hw_, graph_.tensors[id].dtype);
    out_.root[id] = p.whole;
    out_.sub_tensors[id] = {p.offset * each, p.pitch.scaled_by(each)};
  }

  void note_lives(int at) {
    const Layer& l = lowered_.layers[static_cast<size_t>(at)];
    if (l.fate == Fate::folded) return;  // constants, or merged: their producer owns the output
    for (TensorId id : l.inputs)
      if (id != kNoTensor) last_[root_of(id)] = at;
    const bool view = is_view(l, hw_) && !l.inputs.empty() && l.inputs[0] != kNoTensor;
    for (TensorId id : l.outputs) {
      if (id == kNoTensor) continue;
      if (view) {
        show_as_view(id, l.inputs[0]);
        continue;
      }
      const auto lies_there = [&](TensorId in) {
        return in != kNoTensor && root_of(in) == root_of(id);
      };
      if (std::ranges::any_of(l.inputs, lies_there)) continue;  // and is alive
      if (first_[root_of(id)] < 0) first_[root_of(id)] = at;
      last_[root_of(id)] = at;
    }
  }

  /// All of what the input is, or as a layer says that makes a part of it.
  void show_as_view(TensorId id, TensorId input) {
    const auto to = static_cast<size_t>(id);
    const TensorId whole =
        lowered_.sub_tensors.empty() ? kNoTensor : lowered_.sub_tensors[to].whole;
    const TensorId from = whole == kNoTensor ? input : whole;
    if (root_of(id) != root_of(from)) {
      out_.root[to] = out_.root[static_cast<size_t>(from)];
      out_.sub_tensors[to] = out_.sub_tensors[static_cast<size_t>(from)];
    }
    const Tensor &shown = graph_.tensor(id), &all = graph_.tensors[root_of(id)];
    if (elements(shown.dims) == elements(all.dims)) shown_[root_of(id)] = shown.dtype;
  }

  size_t root_of(TensorId id) const {
    return static_cast<size_t>(out_.root[static_cast<size_t>(id)]);
  }

  /// Inputs live from the first layer on, outputs to the last.
  void add_live_bytes() {
    const size_t layers = lowered_.layers.size();
    out_.use.assign(layers, {});
    if (layers == 0) return;
    std::vector<int> first = first_, last = last_;
    for (TensorId id : graph_.inputs)
      if (!graph_.tensor(id).constant && last[root_of(id)] >= 0) first[root_of(id)] = 0;
    for (TensorId id : graph_.outputs)
      if (first[root_of(id)] >= 0) last[root_of(id)] = static_cast<int>(layers) - 1;
    // Sums beyond 64 bits wrap; who sums up the traffic of such a network refuses it.
    std::vector<uint64_t> change(layers + 1, 0);
    for (size_t id = 0; id < first.size(); ++id) {
      if (first[id] < 0) continue;
      change[static_cast<size_t>(first[id])] += static_cast<uint64_t>(bytes_of_tensor(id));
      change[static_cast<size_t>(last[id]) + 1] -= static_cast<uint64_t>(bytes_of_tensor(id));
    }
    uint64_t live = 0;
    for (size_t i = 0; i < layers; ++i) out_.use[i].live = static_cast<int64_t>(live += change[i]);
  }

  void keep_in_dram(std::span<const TensorId> tensors) {
    for (TensorId id : tensors) first_[root_of(id)] = -1;
  }

  int64_t bytes_of_tensor(size_t id) const {
    const Tensor& t = graph_.tensors[id];
    return elements(t.dims) * element_bytes(hw_, shown_[id]);
  }

  /// Of the tensors that are alive with a layer, smallest first, those with more than the buffer's
  /// bytes at or below them are out.
  void select_residents() {
    const int64_t capacity = hw_.shared.free_bytes();
    const size_t layers = lowered_.layers.size();
    std::vector<size_t> by_size;
    for (size_t id = 0; id < first_.size(); ++id)
      if (first_[id] >= 0) by_size.push_back(id);
    std::ranges::stable_sort(by_size, {}, [this](size_t id) { return bytes_of_tensor(id); });
    std::vector<std::vector<size_t>> born(layers), gone(layers);  // ranks by size
    RankSums alive(by_size.size());
    for (size_t rank = 0; rank < by_size.size(); ++rank) {
      born[static_cast<size_t>(first_[by_size[rank]])].push_back(rank);
      gone[last_layer(by_size[rank])].push_back(rank);
    }
    // One that is larger than the buffer counts like the smallest of those.
    const auto counted = [&](size_t rank) {
      return std::min(bytes_of_tensor(by_size[rank]), capacity + 1);
    };
    std::vector<size_t> too_large(layers);  // the smallest rank that is out
    for (size_t i = 0; i < layers; ++i) {
      for (const size_t rank : born[i]) alive.add_at_rank(rank, counted(rank));
      too_large[i] = alive.ranks_within(capacity);
      for (const size_t rank : gone[i]) alive.add_at_rank(rank, -counted(rank));
    }
    const RangeLeast least(std::move(too_large));
    std::vector<size_t> fit;
    for (size_t rank = 0; rank < by_size.size(); ++rank) {
      const size_t id = by_size[rank];
      if (capacity > 0 &&
          rank < least.least_between(static_cast<size_t>(first_[id]), last_layer(id)))
        fit.push_back(id);
    }
    place_residents(fit, capacity);
  }

  /// Those that have a place beside the others stay.
  void place_residents(const std::vector<size_t>& ids, int64_t capacity) {
    std::vector<hw::ByteLife> lives;
    for (const size_t id : ids)
      lives.push_back({first_[id], static_cast<int64_t>(last_layer(id)), bytes_of_tensor(id)});
    const hw::BytePlaces places = hw::place_bytes(lives, capacity);
    std::vector<int64_t> change(lowered_.layers.size() + 1, 0);
    for (size_t i = 0; i < ids.size(); ++i) {
      if (places.addresses[i] < 0) continue;
      out_.resident[ids[i]] = true;
      out_.addresses[ids[i]] = places.addresses[i];
      change[static_cast<size_t>(lives[i].first)] += lives[i].bytes;
      change[static_cast<size_t>(lives[i].last) + 1] -= lives[i].bytes;
    }
    int64_t sum = 0;
    for (size_t i = 0; i + 1 < change.size(); ++i) {
      out_.use[i].shared = sum += change[i];
      out_.peak_bytes = std::max(out_.peak_bytes, sum);
    }
    out_.end = places.end;
  }

  /// One that nobody reads lives as long as its layer.
  size_t last_layer(size_t id) const {
    return static_cast<size_t>(std::max(first_[id], last_[id]));
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
  return Planner(graph, lowered, hw).plan_tensors(in_dram, kept);
}

}  // namespace accsim::sim
