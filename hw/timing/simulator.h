#pragma once
#include <memory>
#include <span>
#include <vector>

#include "hw/timing/loop_history.h"
#include "hw/timing/simulator_state.h"
#include "hw/timing/steps.h"
#include "hw/timing/watcher.h"

namespace accsim::hw {

/// Runs steps event by event and skips loops ahead once they have become periodic (LoopHistory).
/// Memory is used again from run to run.
class Simulator {
 public:
  /// `watcher`, if there is one, is told of everything; the steps that it sees are of `steps`.
  /// `regions`: the slots of each, by its number.
  Timing run(std::span<const Step> steps, const HwConfig& hw, TimingMode mode,
             Watcher* watcher = nullptr, std::span<const int64_t> regions = {}) {
    begin(hw, mode, watcher, regions);
    return go_on(steps);
  }

  /// run() in parts: a machine at rest, on which a network's layers follow one another.
  void begin(const HwConfig& hw, TimingMode mode, Watcher* watcher = nullptr,
             std::span<const int64_t> regions = {});
  /// The next layer's share: its cycle 0 is the end of all before it. Tensor i of its steps' marks
  /// is tensors[i] of the network, or i.
  Timing go_on(std::span<const Step> steps, std::span<const int32_t> tensors = {});
  /// Of what go_on() tells from now on.
  void watch(Watcher* watcher, TimingMode mode) {
    watcher_ = watcher;
    mode_ = mode;
  }

  const SimulatorState& state() const { return state_; }
  /// Back to where it was, in the same run.
  void restore(const SimulatorState& state) { state_ = state; }

 private:
  Timing layer_share() const;
  void begin_with(size_t ring, int64_t slots);
  void run_body(const Step* from, const Step* to);
  void run_loop(const Step& s);
  void run_iterations(const Step& s, int64_t times);
  void watched_loop(const Step& s);
  int64_t skip_periods(const Step& s, const LoopHistory& history, int64_t left);

  int64_t& marks_of(const Step& s);
  int64_t start_command(Queue q, int64_t& free, int64_t ready, int64_t occupancy);
  /// What a transfer has to do with a DRAM's bus: when it is ready (with a reason), and when its
  /// last byte leaves the DRAM. Those of separate channels are ready and have no more to do.
  struct BusTime {
    int64_t ready, end;
    bool held_up;
  };
  BusTime take_bus(const Step& s, int64_t free, int64_t ready);
  /// A transfer as its queue runs it.
  struct Move {
    int64_t begin, end, done;
  };
  Move run_transfer(const Step& s, Queue q, int64_t& free, const BusTime& bus);
  void wait_until(const Step& s, int64_t time);
  void run_mark(const Step& s);
  void run_load(const Step& s);
  void run_gemm(const Step& s);
  void run_gemms(const Step& s, int64_t times);
  void run_drain(const Step& s);
  /// Of the post or the vector unit.
  void run_unit(const Step& s, Queue q);
  void run_store(const Step& s);
  void run_stage(const Step& s);
  void finish_command(const Step& s, Queue q, const Move& at);

  int64_t& at(Moment m) { return state_.moments[static_cast<size_t>(m)]; }

  TimingMode mode_ = TimingMode::periodic;
  Watcher* watcher_ = nullptr;
  int64_t gap_begin_ = 0, gap_why_ = 0;  ///< before the command that starts, for the watcher
  SimulatorState state_;
  std::span<const int32_t> tensors_;  ///< of the network, by those of the layer's steps
  int64_t zero_ = 0;                  ///< cycle 0 of the layer
  CycleSums sums_;                    ///< of the layer
  size_t nesting_ = 0;
  std::vector<std::unique_ptr<LoopHistory>> histories_;  ///< one a nesting depth
};

}  // namespace accsim::hw
