#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "hw/cosim/rtl_layout.h"
#include "hw/program/program.h"

namespace accsim::hw {

/// Numbers a program's marks in the order of its text, as the core counts the commands before them:
/// by queue, stores by memory. Several marks behind one command count once.
class MarkOrder {
 public:
  /// Words of marks_t: how many of each have to be reached.
  using Counts = std::array<uint32_t, rtl::marks::kWords>;

  explicit MarkOrder(const Program& program)
      : program_(program), by_tensor_(program.tensors.size()) {}

  /// A command, wherever it stands in loops.
  void note_command(const Command& c) {
    fresh_[queue_of(c)] = true;
    if (const auto* store = std::get_if<StoreCommand>(&c)) store_ = store->tensor;
  }
  /// A mark that is set behind a command of its queue.
  void note_mark(const Mark& m) {
    const bool shared = program_.tensors[static_cast<size_t>(store_)].memory == MemoryId::shared;
    const size_t kind = m.queue == Queue::load    ? rtl::marks::kLoaded
                        : m.queue == Queue::stage ? rtl::marks::kStaged
                        : shared                  ? rtl::marks::kStoredShared
                                                  : rtl::marks::kStored;
    if (std::exchange(fresh_[m.queue], false)) ++counts_[kind];
    by_tensor_[static_cast<size_t>(m.tensor)][kind] = counts_[kind];
  }
  /// What a wait for a tensor's marks needs that stands here.
  const Counts& counts_wanted(int tensor) const { return by_tensor_[static_cast<size_t>(tensor)]; }

 private:
  const Program& program_;
  Counts counts_{};
  std::vector<Counts> by_tensor_;
  PerQueue<bool> fresh_{};  ///< a command since the queue's last mark
  int store_ = 0;           ///< tensor of the last store
};

/// Raises each count to the other's.
inline void raise_counts(MarkOrder::Counts& to, const MarkOrder::Counts& other) {
  for (size_t i = 0; i < to.size(); ++i) to[i] = std::max(to[i], other[i]);
}

}  // namespace accsim::hw
