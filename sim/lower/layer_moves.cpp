#include "sim/lower/layer_moves.h"

#include <algorithm>

namespace accsim::sim {
namespace {

/// Items of a layer that are looked through for those of a tensor; of more there is an index.
constexpr size_t kFewItems = 16;

/// What a memory op reads and writes of its layer's operands.
std::vector<TensorId> moved_by(const Layer& l, size_t item) {
  const auto& op = std::get<MemoryOp>(l.work[item]);
  std::vector<TensorId> out;
  const auto add = [&](const std::vector<Access>& side, const std::vector<TensorId>& ids) {
    for (const Access& a : side)
      if (a.port.is_within(ids.size()) && ids[a.port.index()] != kNoTensor)
        out.push_back(ids[a.port.index()]);
  };
  add(op.inputs, l.inputs);
  add(op.outputs, l.outputs);
  return out;
}

bool moves_tensor(const Layer& l, size_t item, TensorId id) {
  const std::vector<TensorId> all = moved_by(l, item);
  return std::ranges::find(all, id) != all.end();
}

}  // namespace

bool is_move(const MemoryOp& op) {
  return op.inputs.size() == 1 && op.outputs.size() == 1 && op.inputs[0].port >= 0 &&
         op.outputs[0].port >= 0;
}

std::vector<size_t> LayerMoves::items_of(const Layer& l, TensorId id) {
  std::vector<size_t> out;
  if (l.work.size() > kFewItems) {
    const Items& items = index_of(l);
    out = items.others;
    if (const auto own = items.moves.find(id); own != items.moves.end())
      out.insert(out.end(), own->second.begin(), own->second.end());
    return out;
  }
  for (size_t i = 0; i < l.work.size(); ++i)
    if (!std::holds_alternative<MemoryOp>(l.work[i]) || moves_tensor(l, i, id)) out.push_back(i);
  return out;
}

const LayerMoves::Items& LayerMoves::index_of(const Layer& l) {
  const auto [at, fresh] = items_.try_emplace(&l);
  if (!fresh) return at->second;
  for (size_t i = 0; i < l.work.size(); ++i) {
    if (!std::holds_alternative<MemoryOp>(l.work[i]))
      at->second.others.push_back(i);
    else
      for (const TensorId id : moved_by(l, i)) at->second.moves[id].push_back(i);
  }
  return at->second;
}

void LayerMoves::begin_to_leave_out(const Layer& l) {
  left_out_.assign(l.work.size(), false);
  leaving_out_ = &l;
}

void LayerMoves::erase_left_out(Layer& l) {
  leaving_out_ = nullptr;
  items_.erase(&l);
  // Each is asked about where it has always been.
  const WorkItem* const first = l.work.data();
  std::erase_if(
      l.work, [&](const WorkItem& item) { return left_out_[static_cast<size_t>(&item - first)]; });
}

}  // namespace accsim::sim
