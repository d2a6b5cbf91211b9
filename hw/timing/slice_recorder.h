#pragma once
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "hw/timing/timeline.h"
#include "hw/timing/watcher.h"

namespace accsim::hw {

/// What a command does whenever it runs.
struct CommandInfo {
  CommandSet kind = 0;
  PerMemory<int64_t> read, written;  ///< bytes
};

/// How much of a program becomes slices of its own. The text outside all loops has depth 0.
struct Detail {
  static constexpr int64_t kAll = std::numeric_limits<int64_t>::max();
  /// Commands in loops of less depth are slices of their own; of loops of this depth, `iterations`
  /// are put together; deeper ones are parts of these.
  int64_t depth = kAll;
  int64_t iterations = kAll;
};

/// Counts what a simulation has at each depth of loops.
class LoopCounter : public Watcher {
 public:
  /// As much detail as `limit` slices hold; the least there is when they hold none.
  Detail detail_within(int64_t limit) const;

  void on_command(const TimedStep& command) override;
  void begin_loop(const Step& loop) override;
  void end_iteration(const Step& loop) override;
  void on_skip(const Step& loop, int64_t period, int64_t periods, int64_t growth) override;
  void end_loop(const Step& loop) override;

 private:
  struct Level {
    int64_t commands = 0, executions = 0, iterations = 0, skips = 0;
  };
  std::vector<Level> levels_ = {{0, 1, 1, 0}};  ///< by depth
  size_t depth_ = 0;
};

/// Makes slices of a simulation.
class SliceRecorder : public Watcher {
 public:
  /// `commands` by step; both must live as long as this.
  SliceRecorder(std::span<const Step> steps, std::span<const CommandInfo> commands, Detail detail);

  /// The slices, once, after the simulation.
  PerQueue<std::vector<Slice>> take_slices();

  void on_command(const TimedStep& command) override;
  void on_token(const Step& wait, int64_t time) override;
  void begin_loop(const Step& loop) override;
  void end_iteration(const Step& loop) override;
  void on_skip(const Step& loop, int64_t period, int64_t periods, int64_t growth) override;
  void end_loop(const Step& loop) override;

 private:
  using Groups = PerQueue<Slice>;
  static constexpr size_t kRemembered = 8;  ///< iterations: the simulator's longest period
  struct Frame {
    Groups now, all;                      ///< of the iteration under way; of the whole loop so far
    Groups pending;                       ///< of the iterations that aren't slices yet
    int64_t iterations = 0, waiting = 0;  ///< done; pending
    std::array<Groups, kRemembered> last;
  };
  struct Token {
    int64_t time = -1;
    int ring = Slice::kNoToken;
  };

  Frame& top_frame() { return frames_[depth_]; }
  bool at_detail() const { return static_cast<int64_t>(depth_) == detail_.depth; }
  static void append_groups(Groups& to, const Groups& next);
  void flush_pending(Frame& f);
  void emit_slices(const Groups& groups);
  int waited_for(const TimedStep& command);

  const std::span<const Step> steps_;
  const std::span<const CommandInfo> commands_;
  const Detail detail_;
  std::vector<Frame> frames_;
  size_t depth_ = 0;
  std::array<Token, kMoments> tokens_;  ///< the latest that each pending moment has taken
  PerQueue<std::vector<Slice>> out_;
};

}  // namespace accsim::hw
