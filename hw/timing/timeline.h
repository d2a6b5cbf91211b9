#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "hw/program/program.h"
#include "hw/timing/simulator.h"
#include "hw/timing/timing.h"

namespace accsim::hw {

/// What a command does, as a bit of a set: loads by buffer and memory, array, post and vector unit,
/// stores by memory.
using CommandSet = uint32_t;
/// The commands of a set as people read them: "load weight", "gemm", "post", "load activation +
/// load weight", "store to shared".
std::string command_names(CommandSet commands);

/// Commands that one queue ran one after the other: one, or a summarised group. In cycles.
struct Slice {
  int64_t start = 0;    ///< first cycle of the first command
  int64_t end = 0;      ///< end of the last command's occupancy
  int64_t visible = 0;  ///< the cycle in which the last result is visible
  int64_t busy = 0;     ///< sum of occupancies; of one command end - start
  int64_t count = 0;    ///< commands
  CommandSet commands = 0;
  int token = kNoToken;                  ///< that one command waited for: a buffer_ring() index
  std::array<int64_t, kWaits> waits{};   ///< gaps before each of the commands, by reason
  PerMemory<int64_t> read{}, written{};  ///< bytes
  static constexpr int kNoToken = -1;

  /// Puts what the queue runs next into the group; an empty one becomes that.
  void append(const Slice& next);
};
/// What a queue waits for by the token of a ring: "a full weight slot", "a free output slot".
std::string token_name(int ring);

/// Where a program's queues are when. By queue: slices in order that don't overlap; together they
/// are every command once, so that busy, waits, counts and bytes add up to the program's.
struct Timeline {
  PerQueue<std::vector<Slice>> queues;
  Cycles total;                ///< as Timing has it: the largest `visible`
  bool summarised = false;     ///< some slice is a group
  PerQueue<int64_t> hidden{};  ///< busy cycles under the programs before
};

/// Timelines of the programs of a network one behind the other, as Chain times them. What begins
/// under the programs before has slices before their end.
class ChainTimeline {
 public:
  /// `regions`: slots of the regions that the programs have.
  explicit ChainTimeline(const HwConfig& hw, std::span<const int64_t> regions = {}) : hw_(hw) {
    simulator_.begin(hw, TimingMode::periodic, nullptr, regions);
  }

  /// The next program's timeline: `program` is that of the steps, with all or none of their marks.
  /// Cycles are the network's, but `total`, which is the program's share. `tensors` as
  /// Chain::add_program() has them, `limit` as timeline() has it.
  Timeline next_timeline(const Program& program, std::span<const Step> steps,
                         std::span<const int32_t> tensors, int64_t limit);
  /// The next program without a timeline.
  void skip_program(std::span<const Step> steps, std::span<const int32_t> tensors) {
    simulator_.watch(nullptr, TimingMode::periodic);
    simulator_.go_on(steps, tensors);
  }

 private:
  const HwConfig& hw_;
  Simulator simulator_;
};

/// The timeline of a verified program. A program of more than `limit` commands is summarised to at
/// most `limit` slices, but at least one per queue. As many of its loops as fit are written out.
/// Inside them whole iterations become one slice, and so do repetitions of a periodic loop. Slices
/// are where their commands are, to the cycle. Takes the time of simulate() and of `limit` steps.
Timeline timeline(const Program& program, const HwConfig& hw, int64_t limit);

}  // namespace accsim::hw
