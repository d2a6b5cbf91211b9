#pragma once
#include <array>
#include <random>
#include <utility>
#include <vector>

#include "hw/program/program.h"

namespace accsim::test {

/// Puts heads of layers, marks and waits for marks into a random program: marks anywhere outside of
/// loops, also in the middle of a tile, heads where the array's queue holds no operand; waits
/// anywhere, also where no mark stands before them or no command behind. The verifier may refuse
/// what comes out: a store's mark may be on a tensor of the slower memory.
class RandomLayers {
 public:
  RandomLayers(hw::Program& program, std::mt19937 random) : program_(program), random_(random) {}

  /// `turns`: weight and input stationary by turns.
  void run(bool turns) {
    heads_ = turns ? pick(2, 8) : 0;
    marks_ = pick(2, 12);
    waits_ = pick(2, 20);
    body(program_.body, 0);
  }

 private:
  int64_t pick(int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random_);
  }
  bool one_in(int64_t n) { return n > 0 && pick(1, n) == 1; }
  static size_t at(int index) { return static_cast<size_t>(index); }

  void body(std::vector<hw::Item>& items, int depth) {
    std::vector<hw::Item> out;
    for (hw::Item& item : items) {
      if (one_in(waits_)) out.push_back({hw::Mark{true, queue(), static_cast<int>(pick(0, 2))}});
      if (auto* loop = std::get_if<hw::Loop>(&item.node)) body(loop->body, depth + 1);
      if (const auto* command = std::get_if<hw::Command>(&item.node)) note(*command);
      if (const auto* sync = std::get_if<hw::Sync>(&item.node)) note(*sync);
      out.push_back(std::move(item));
      if (depth > 0) continue;
      if (held_ == 0 && one_in(heads_)) out.push_back({hw::LayerHead{"layer", one_of_two()}});
      for (int several = 0; several < 3 && one_in(marks_); ++several) mark(out);
    }
    items = std::move(out);
  }

  hw::Dataflow one_of_two() {
    return pick(0, 1) == 1 ? hw::Dataflow::weight_stationary : hw::Dataflow::input_stationary;
  }
  hw::Queue queue() {
    constexpr std::array kQueues{hw::Queue::load, hw::Queue::store, hw::Queue::stage};
    return kQueues[static_cast<size_t>(pick(0, 2))];
  }

  void note(const hw::Command& command) {
    used_[hw::queue_of(command)] = true;
    if (const auto* store = std::get_if<hw::StoreCommand>(&command)) last_store_ = store->tensor;
  }

  void note(const hw::Sync& sync) {
    if (sync.queue != hw::Queue::execute || sync.buffer == hw::Buffer::accumulator) return;
    held_ += hw::is_wait(sync.kind) ? 1 : -1;
  }

  /// Of a queue that has done something, on one of program()'s tensors: mostly of the memory to
  /// which the last store went.
  void mark(std::vector<hw::Item>& out) {
    const hw::Queue q = queue();
    if (!used_[q]) return;
    const bool shared = program_.tensors[at(last_store_)].memory == hw::MemoryId::shared;
    const bool any = q != hw::Queue::store || one_in(8);
    const int tensor = static_cast<int>(any ? pick(0, 2) : shared ? 2 : pick(0, 1));
    out.push_back({hw::Mark{false, q, tensor}});
  }

  hw::Program& program_;
  std::mt19937 random_;
  int64_t heads_ = 0, marks_ = 0, waits_ = 0;  ///< one in so many items; 0: none
  hw::PerQueue<bool> used_{};                  ///< by commands before
  int last_store_ = 0;                         ///< tensor
  int held_ = 0;                               ///< operand slots of the array's queue
};

}  // namespace accsim::test
