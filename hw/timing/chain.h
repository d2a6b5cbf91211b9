#pragma once
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "hw/timing/chain_memory.h"
#include "hw/timing/simulator.h"

namespace accsim::hw {

/// Times the programs of a network one behind the other on one machine, which never drains: what
/// simulate() says of all of them as one program, in shares. A program that comes again while the
/// machine is in the same state, seen from there, isn't simulated again.
///
/// Why that is exact: times only enter maxima and sums, so a state that is later by a constant
/// makes everything later by it. Times before the `floor`, the earliest that a command of what
/// follows can begin, are as good as the floor itself: no maximum that decides a beginning is below
/// it. Each queue of a program that loads first waits, at least through others, for a load or
/// store of it; so the floor is when the load or the store queue is free, the earlier of the two.
class Chain {
 public:
  /// `loads_first`: no program has a vector command before its first load. Else the vector unit
  /// counts for the floor, too. Programs may stage in regions of one slot each (kStageRegions),
  /// with a load from DRAM before the first stage and another one behind the last. So loads and
  /// stages are done with DRAM's channel when the next program begins. `memory`, if there is one,
  /// has what earlier chains found out, and keeps what this one finds.
  explicit Chain(const HwConfig& hw, bool loads_first = true, ChainMemory* memory = nullptr);
  Chain(const Chain&) = delete;
  Chain& operator=(const Chain&) = delete;

  /// The next program's share: from the end of all before it to its own end. Its steps must live,
  /// unchanged, as long as the chain; tensor i of their marks is tensors[i] of the network.
  Timing add_program(std::span<const Step> steps, std::span<const int32_t> tensors);

  /// Where the chain is, to go back to and on from otherwise. Going back takes time by what has
  /// been added since; places behind it are none any more.
  struct Place {
    int32_t number;
    int64_t base, total;
    size_t changes;
  };
  Place current_place() const { return {number_, base_, total_, changes_.size()}; }
  void go_back(const Place& place);

  /// Until the end of all programs so far; stops at kBeyond (sim/base/sums.h).
  int64_t total_cycles() const { return total_; }
  /// What it has done since it began.
  struct Done {
    int64_t added = 0;      ///< programs
    int64_t simulated = 0;  ///< of them
    int64_t steps = 0;      ///< of those
  };
  const Done& done() const { return done_; }

 private:
  using Known = ChainMemory::Known;

  int32_t program_number(std::span<const Step> steps);
  void simulate_program(std::span<const Step> steps, std::span<const int64_t> marks, Known& out);
  const Known& go_on(std::span<const Step> steps, std::span<const int32_t> tensors);
  void set_mark(size_t tensor, int64_t time);
  void move_base();
  int64_t floor_of(const SimulatorState& s) const;

  const bool loads_first_;
  Simulator simulator_;
  int32_t number_ = 0;  ///< of its state in the memory, from the floor on, but for its marks
  int64_t base_ = 0;    ///< the floor, from some cycle on
  int64_t total_ = 0;
  std::vector<int64_t> marks_;  ///< by tensor of the network: when all its marks are reached
  /// What marks were, one after the other.
  struct Change {
    size_t tensor;
    int64_t before;
  };
  std::vector<Change> changes_;
  std::vector<int64_t> key_;  ///< of state and program, and the marks of its tensors
  ChainMemory own_;
  ChainMemory& memory_;
  std::unordered_map<const Step*, int32_t> programs_;  ///< their numbers in the memory
  Done done_;
};

}  // namespace accsim::hw
