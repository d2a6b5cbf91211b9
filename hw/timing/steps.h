#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "hw/dram/cost.h"
#include "hw/program/program.h"
#include "hw/timing/timing.h"

namespace accsim::hw {

/// Moments that later commands build on, besides the tokens. A "loaded" one, in Buffer's order, is
/// when all loads so far into that buffer have arrived, from any memory. A "pending" one is when
/// the tokens let a queue's next command start. It returns to 0 when the command starts. The
/// pending moment for full tokens (of regions and indices) and marks is a part of what a load waits
/// for. "Marks" stands for the marks of all tensors, which Simulator keeps. "Bus" is the bus of a
/// DRAM that reads and writes share. A "read by" or "written by" one is when a queue lets another
/// queue use that channel of DRAM.
enum class Moment : uint8_t {
  load_free,
  preload_free,
  stream_free,
  drain_free,
  post_free,
  vector_free,
  store_free,
  stage_free,
  activation_loaded,
  weight_loaded,
  parameter_loaded,
  accumulator_loaded,
  output_loaded,
  held_read,
  result,
  post_done,
  post_release,
  vector_done,
  vector_release,
  store_release,
  store_done,
  stage_done,
  marks,
  bus,
  read_by_load,
  read_by_stage,
  written_by_store,
  written_by_stage,
  pending_load,
  pending_preload,
  pending_stream,
  pending_post,
  pending_vector,
  pending_store,
  pending_stage,
  pending_load_full,
};
inline constexpr size_t kMoments = static_cast<size_t>(Moment::pending_load_full) + 1;
inline constexpr size_t kFirstPending = static_cast<size_t>(Moment::pending_load);

/// The times of state that commands of one queue read and write.
struct QueueMoments {
  Moment free;     ///< its next command can't begin before
  Moment pending;  ///< what that one waits for
  Moment done;     ///< its result, or what it has moved, is there
  Moment release;  ///< it has read what it reads
  bool for_slot;   ///< whoever waits for its release waits for a slot, and not for its own reason
};
/// The list of engines in time. A load's result is a buffer's: loaded_moment().
inline constexpr PerQueue<QueueMoments> kQueueMoments = {{{
    {Moment::load_free, Moment::pending_load, Moment::load_free, Moment::load_free, true},
    {Moment::stream_free, Moment::pending_stream, Moment::result, Moment::stream_free, true},
    {Moment::post_free, Moment::pending_post, Moment::post_done, Moment::post_release, false},
    {Moment::vector_free, Moment::pending_vector, Moment::vector_done, Moment::vector_release,
     false},
    {Moment::store_free, Moment::pending_store, Moment::store_done, Moment::store_release, false},
    {Moment::stage_free, Moment::pending_stage, Moment::stage_done, Moment::stage_free, false},
}}};

/// When all loads so far into a buffer have arrived.
constexpr Moment loaded_moment(Buffer b) {
  return static_cast<Moment>(static_cast<size_t>(Moment::activation_loaded) +
                             static_cast<size_t>(b));
}
static_assert(loaded_moment(Buffer::output) == Moment::output_loaded);

/// A ring of tokens: full or free ones of a buffer, primed ones of the output slots, full or free
/// ones of a region.
inline constexpr size_t kRings = 2 * kBuffers + 1 + 2 * kMostRegions;
inline constexpr size_t kPrimedRing = 2 * kBuffers;
/// The index, below kPrimedRing, of a buffer's full or free tokens.
constexpr size_t buffer_ring(Buffer b, bool full) {
  return 2 * static_cast<size_t>(b) + (full ? 1 : 0);
}
/// The index, above kPrimedRing, of the full or free tokens of a region, by its number.
constexpr size_t region_ring(size_t region, bool full) {
  return kPrimedRing + 1 + 2 * region + (full ? 1 : 0);
}

/// Slots of the regions that the programs of a network may stage in, whichever there are.
inline constexpr std::array<int64_t, kMostRegions> kStageRegions = {1, 1, 1, 1, 1, 1, 1, 1};

/// What Step::ring says of marks, which aren't used up and so have none.
inline constexpr uint8_t kMarks = kRings;

/// Moments and rings as bits: moment m is bit m, ring r bit kMoments + r.
using TouchSet = uint64_t;
/// The set of one moment.
constexpr TouchSet touch(Moment m) { return TouchSet{1} << static_cast<size_t>(m); }
/// The set of one ring, by its buffer_ring() index.
constexpr TouchSet touch_ring(size_t r) { return TouchSet{1} << (kMoments + r); }
constexpr TouchSet kAllRings = ((TouchSet{1} << kRings) - 1) << kMoments;
static_assert(kMoments + kRings <= 64);

/// Times carry the reason why they aren't earlier in their lowest bits, so that a maximum keeps it.
inline constexpr int kWhyBits = 3;
/// A time in cycles with its reason in the low bits.
constexpr int64_t stamp(int64_t time, Wait why) {
  return (time << kWhyBits) | static_cast<int64_t>(why);
}
/// The cycles of a stamped time.
constexpr int64_t time_of(int64_t stamped) { return stamped >> kWhyBits; }
/// The reason of a stamped time, as an index of Wait.
constexpr size_t why_of(int64_t stamped) {
  return static_cast<size_t>(stamped & ((1 << kWhyBits) - 1));
}
static_assert(kDramTicks == 1 << kWhyBits, "stamped times are ticks of a DRAM's bus");
/// The stamped time with reason 0, so that differences compare times alone.
constexpr int64_t without_why(int64_t stamped) { return stamped & -(int64_t{1} << kWhyBits); }

/// A command, token operation or loop reduced to what time depends on.
struct Step {
  enum class Kind : uint8_t {
    loop,
    load,
    gemm,
    drain,
    post,
    vector,
    store,
    stage,
    wait,
    signal,
    mark,
    wait_marks
  };
  Kind kind = Kind::wait;
  Wait memory = Wait::array;  ///< load, store, stage: the reason that waiting for it has
  /// load: what it adds to; waits: the pending one; signal, mark: when what it is about is done.
  Moment moment = Moment::load_free;
  uint8_t ring = 0;                                 ///< wait, signal
  Dataflow dataflow = Dataflow::weight_stationary;  ///< gemm
  bool slot_free = false;         ///< signal: whoever waits for it waits for a slot
  bool filled = false;            ///< signal: of a slot that loads have filled
  bool to_read = false;           ///< wait: the next load reads what the token stands for
  bool shares = false;            ///< load, store: on a channel that the stage queue uses too
  bool stale = false;             ///< loop: reads a moment that its body doesn't write
  std::array<uint8_t, 6> none{};  ///< so that equal steps are equal bytes
  TouchSet writes = 0;            ///< loop: what its body writes
  int32_t span = 0;               ///< loop: steps of its body
  int32_t tensor = 0;             ///< mark, wait_marks
  int64_t count = 0, work = 0;    ///< loop: iterations, and steps that one of them runs
  /// Commands, times << kWhyBits: occupancy of the queue, at least; gemm: preload, drain: drain;
  /// from the end of the occupancy (drain: of the drain) to the visible result.
  int64_t occupancy = 0, fill = 0, latency = 0;
  int64_t read_behind = 0;  ///< gemm: from the end of the preload until its operand has been read
  /// load, store, stage, with a DRAM's bus: ticks of it, and of the turns of a banked one to this
  /// direction and back. Then `fill` is what of the occupancy comes behind the transfer.
  int64_t bus = 0;
  int32_t turn_to = 0, turn_from = 0;
};

/// By how much a transfer's first byte moves with a loop around it, from iteration to iteration.
struct LoopStride {
  size_t loop;    ///< of those that are open, the outermost 0
  int64_t bytes;  ///< strides of the same loop add up
};
/// Those of all loops: without one, the place is always the same.
using LoopStrides = InlineVector<LoopStride, 16>;

/// Writes the steps of a program: command by command, in text order. Loops that can't be told apart
/// in time are merged (a loop that is all that its outer loop does).
class StepWriter {
 public:
  /// Starts a new program; memory of the last one is used again.
  void start_program(const HwConfig& hw, Dataflow dataflow);
  /// A layer whose gemms have this dataflow.
  void begin_layer(Dataflow dataflow) { dataflow_ = dataflow; }
  /// The program has a StageCommand.
  void share_channels() { stages_ = true; }
  void add_region(int64_t slots) { regions_.push_back(slots); }

  void open_loop(int64_t count);
  void close_loop();

  void load(Buffer to, MemoryId from, const Walk& walk, const LoopStrides& strides = {});
  /// The same, where indices say.
  void load_gathered(Buffer to, MemoryId from, const Walk& walk);
  /// Matrices that are transposed, as LoadCommand has them; elements of `element` bytes.
  void load_transposed(Buffer to, MemoryId from, const Walk& walk, const LoopStrides& strides,
                       int64_t element);
  void store(MemoryId to, const Walk& walk, const LoopStrides& strides = {});
  void gemm(int64_t m, int64_t k, int64_t n);
  /// A layer of an engine of dot products, all of it: no load begins meanwhile.
  void engine(int64_t cycles);
  void drain();
  void post(int64_t rows, int64_t cols, int64_t groups = 1);
  void vector(const VectorCommand& c);
  void lane(const LaneCommand& c);
  void row(const RowCommand& c);
  void set_table(Queue unit);
  /// `walk` is of the tensor in DRAM, from there or to there.
  void stage(MemoryId from, const Walk& walk, const LoopStrides& strides);
  void sync(SyncKind kind, Queue queue, Buffer buffer);
  void mark(const Mark& m);
  /// Of a region, by its number.
  void region_sync(SyncKind kind, Queue queue, size_t region);

  std::span<const Step> steps() const { return steps_; }
  /// Slots of the program's regions, by their number.
  std::span<const int64_t> regions() const { return regions_; }
  /// Kinds of transfers of a banked DRAM whose bursts were gone through, of all programs on this
  /// machine.
  std::span<const DramCosts::Walk> dram_walks() const {
    return banked_ ? banked_->costs.walks() : std::span<const DramCosts::Walk>();
  }

 private:
  struct Frame {
    size_t at;  ///< of the loop step; the whole program's frame has none
    TouchSet reads, writes;
    int64_t work;
  };
  void add_step(const Step& step, TouchSet writes);
  /// `to_read`: of a load, for a token of something that it reads.
  void add_wait(Step step, bool to_read);
  /// A command of the post or vector unit.
  void add_unit(Queue q, int64_t cycles);
  /// A transfer without the slot port: cycles, and ticks of the bus.
  struct Transfer {
    int64_t occupancy = 0, latency = 0, bus = 0;
    bool write = false;
  };
  /// `strides`: none of a gathered one.
  Transfer transfer_times(MemoryId m, const Walk& walk, bool write, const LoopStrides* strides);
  /// `port`: cycles that the slot's side takes; `behind`: cycles of the queue after the transfer.
  void add_load(Buffer to, MemoryId from, const Transfer& t, int64_t port, int64_t behind);
  void add_transfer(Step step, const Transfer& t, int64_t port, int64_t behind, TouchSet writes);

  const HwConfig* hw_ = nullptr;
  Dataflow dataflow_ = Dataflow::weight_stationary;
  bool stages_ = false;
  std::vector<int64_t> regions_;
  struct Banked {
    BankedDram dram;
    double clock_mhz;
    DramCosts costs;
  };
  std::optional<Banked> banked_;  ///< kept while the machine's DRAM stays the same
  std::vector<Step> steps_;
  std::vector<Frame> frames_;
};

/// The steps of a whole program.
void write_steps(const Program& program, const HwConfig& hw, StepWriter& to);

}  // namespace accsim::hw
