#pragma once
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "hw/timing/bus.h"
#include "hw/timing/steps.h"
#include "hw/timing/watcher.h"

namespace accsim::hw {

/// Runs steps event by event and skips loops ahead once they have become periodic. Memory is used
/// again from run to run.
///
/// Why skipping is exact: within an iteration every time written is a maximum of sums of earlier
/// times and constants, x' = A (x) x in max-plus algebra, which commutes with adding a constant to
/// every entry. Let W be the entries that the body writes. If all of W has grown by the same L > 0
/// over one period, and the body reads nothing but W, then the next period starts from a state that
/// differs from this one's by the constant L, so it adds L again, and so on for ever: x(i + p) =
/// x(i) + L. Pending moments that are 0 stay out of it: 0 never is the maximum, because no time is
/// negative. The bus of a DRAM isn't a maximum, but it too commutes with adding a constant
/// (Bus), and times before all that a body's queues can still ask for don't matter to it. A body
/// that reads an entry which it doesn't write (`stale`) must show the same growth over two periods
/// in a row: then that entry, which doesn't grow, wasn't the maximum in the second, and never will
/// be again. Reasons (see stamp()) ride in the lowest bits of the times and so obey the same
/// maximum; busy and waiting cycles are differences of times, equal in every period.
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

 private:
  /// Slots of a buffer or region; hw/config and verify() allow no more.
  static constexpr size_t kMostTokens = kMostRegionSlots;
  /// Tokens of one kind under way, oldest first.
  struct Ring {
    std::array<int64_t, kMostTokens> events;
    uint32_t head, size;
    int64_t& at(uint32_t i) { return events[(head + i) % kMostTokens]; }
    int64_t at(uint32_t i) const { return events[(head + i) % kMostTokens]; }
  };

 public:
  /// All that what comes next depends on.
  struct State {
    std::array<int64_t, kMoments> moments;
    std::array<Ring, kRings> rings;
    Bus bus;                           ///< of a DRAM that reads and writes share
    std::vector<int64_t> marks;        ///< by tensor: when all of its marks are reached
    std::optional<Dataflow> dataflow;  ///< of the gemm before
    int64_t end = 0;
  };
  const State& state() const { return state_; }
  /// Back to where it was, in the same run.
  void restore(const State& state) { state_ = state; }

 private:
  static constexpr int kLongestPeriod = 8;
  static constexpr int kDepth = 2 * kLongestPeriod + 1;
  /// By queue: busy, hidden, waits by reason.
  static constexpr size_t kSums = kQueues * (2 + kWaits);

  /// The state at the end of an iteration, and when the last of its commands ends; of the rings
  /// those that the loop writes.
  struct Snapshot {
    std::array<int64_t, kMoments> moments;
    std::array<Ring, kRings> rings;
    Bus bus;
    int64_t end;
    std::array<int64_t, kSums> sums;
  };
  using History = std::array<Snapshot, kDepth>;

  Timing layer_share() const;
  void begin_with(size_t ring, int64_t slots);
  void run_body(const Step* from, const Step* to);
  void run_loop(const Step& s);
  void run_iterations(const Step& s, int64_t times);
  void watched_loop(const Step& s);
  void record_snapshot(const Step& s, Snapshot& to);
  bool has_begun(const Step& s, const Snapshot& at) const;
  static bool has_grown(const Step& s, const Snapshot& now, const Snapshot& before, int64_t growth);
  static bool bus_grown(const Step& s, const Snapshot& now, const Snapshot& before, int64_t growth);
  static int64_t bus_floor(const Step& s, const Snapshot& at);
  int64_t skip_periods(const Step& s, const History& history, int64_t done);
  void move_ahead(const Step& s, const Snapshot& now, const Snapshot& before, int64_t periods);

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
  /// Moments of the post and of the vector unit.
  struct Unit {
    Queue queue;
    Moment free, pending, done, release;
  };
  void run_unit(const Step& s, const Unit& u);
  void run_store(const Step& s);
  void run_stage(const Step& s);
  void finish_command(const Step& s, Queue q, const Move& at);

  int64_t& at(Moment m) { return state_.moments[static_cast<size_t>(m)]; }

  TimingMode mode_ = TimingMode::periodic;
  Watcher* watcher_ = nullptr;
  int64_t gap_begin_ = 0, gap_why_ = 0;  ///< before the command that starts, for the watcher
  State state_;
  std::span<const int32_t> tensors_;  ///< of the network, by those of the layer's steps
  int64_t zero_ = 0;                  ///< cycle 0 of the layer
  std::array<int64_t, kSums> sums_;   ///< of the layer; << kWhyBits
  size_t nesting_ = 0;
  std::vector<std::unique_ptr<History>> histories_;  ///< one a nesting depth
};

}  // namespace accsim::hw
