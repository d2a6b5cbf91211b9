#include "hw/random/tensor_drawer.h"

#include <algorithm>

namespace accsim::hw {

std::vector<ProgramTensor> TensorDrawer::all_tensors() const {
  const MemoryId near = has_shared() ? MemoryId::shared : MemoryId::dram;
  const auto written = [](int64_t bytes) { return std::max<int64_t>(1, bytes); };
  std::vector<ProgramTensor> out = {{"in", MemoryId::dram, kInBytes},
                                    {"in, shared", near, kInBytes},
                                    {"parameters", MemoryId::dram, kInBytes},
                                    {"indices", MemoryId::dram, kInBytes},
                                    {"out", MemoryId::dram, written(stored_[0])},
                                    {"out, shared", near, written(stored_[1])},
                                    {"parameters of rows", MemoryId::dram, 0},
                                    {"staged", MemoryId::dram, written(staged_[0])},
                                    {"staged, shared", near, written(staged_[1])},
                                    {"level", MemoryId::dram, kLevelBytes}};
  out.insert(out.end(), regions_.begin(), regions_.end());
  return out;
}

MemoryId TensorDrawer::memory_of(int tensor) const {
  if (tensor >= kTensors) return region_tensor(tensor).memory;
  return tensor == kInShared || tensor == kStagedShared ? MemoryId::shared : MemoryId::dram;
}

bool TensorDrawer::fits_in_shared(int64_t bytes) const {
  return stored_[1] + staged_[1] + reserved_ + bytes <=
         hw_.memory(MemoryId::shared).bytes - 2 * kInBytes;
}

// ---- regions ----------------------------------------------------------------------------------

/// A ring in memory for parts of so many bytes; -1 when there are too many.
int TensorDrawer::draw_region(MemoryId memory, int64_t bytes) {
  if (regions_.size() == kMostRegions) return -1;
  const int64_t slots = dice_.one_in(8) ? dice_.pick(4, kMostRegionSlots) : dice_.pick(1, 3);
  const int64_t slot = bytes + (dice_.one_in(2) ? dice_.pick(0, 9) : dice_.pick(0, 90));
  if (memory == MemoryId::shared) {
    if (!fits_in_shared(slots * slot)) return -1;
    reserve_shared(slots * slot);
  }
  regions_.push_back({"region", memory, slots * slot, slots});
  return kTensors + static_cast<int>(regions_.size()) - 1;
}

std::vector<int> TensorDrawer::draw_chain(int64_t bytes) {
  std::vector<int> out;
  bool shared = has_shared() && !dice_.one_in(3);
  for (int64_t most = has_shared() && dice_.one_in(2) ? dice_.pick(2, 3) : 1; most > 0; --most) {
    const int next = draw_region(shared ? MemoryId::shared : MemoryId::dram, bytes);
    if (next < 0) break;
    out.push_back(next);
    shared = !shared;
  }
  return out;
}

// ---- places -----------------------------------------------------------------------------------

/// In a tensor, at a multiple of `unit`, `step` further with each iteration.
Affine TensorDrawer::draw_place(int64_t bytes, int64_t unit, int64_t step,
                                const TileText& at) const {
  const int64_t room = kInBytes - bytes - step * TileText::kMostIterations;
  Affine out(dice_.pick(0, room / unit) * unit);
  if (step > 0) out.add_term(at.loop, step);
  return out;
}

Affine TensorDrawer::aligned_source(int64_t bytes, const TileText& at) const {
  return draw_place(bytes, kParameterBytes, at.loop < 0 ? 0 : kParameterBytes, at);
}

Affine TensorDrawer::draw_source(int tensor, int64_t bytes, const TileText& at) const {
  if (tensor < kTensors) return draw_place(bytes, 1, at.loop < 0 ? 0 : dice_.pick(0, 50), at);
  const int64_t room = region_tensor(tensor).slot_bytes() - bytes;
  const int64_t step = at.loop < 0 ? 0 : dice_.pick(0, room / TileText::kMostIterations);
  Affine out(dice_.pick(0, room - step * TileText::kMostIterations));
  if (step > 0) out.add_term(at.loop, step);
  return out;
}

Affine TensorDrawer::next_place(int64_t& used, int64_t bytes, const TileText& at) {
  Affine out(used);
  if (at.loop >= 0) out.add_term(at.loop, bytes);
  used += bytes * at.iterations;
  return out;
}

}  // namespace accsim::hw
