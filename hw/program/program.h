#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hw/config/hw_config.h"
#include "hw/program/commands.h"
#include "sim/base/result.h"

namespace accsim::hw {

/// The tile program: the narrow waist between the mapper, which writes it, and timing, energy,
/// golden and RTL, which only read it. A program is a loop nest over commands and token operations.
/// Its text order is a valid sequential execution; the six queues run it decoupled, each in order,
/// and meet only at tokens. Addresses are affine in the loop indices, durations don't depend on
/// them. What commands do stands in hw/program/commands.h.

/// A tensor of the program. `bytes` is its full extent in memory. With `slots` it is a region: a
/// ring of that many equal parts with tokens of its own. One queue (stage or store) fills the parts
/// in turn, one (load or stage) reads them; addresses of theirs count from the part's first byte.
/// With an `address` (no region, in the shared buffer) it may have bytes that other tensors with
/// one have, too: from its first command on, a write, they are its own, and those are gone. One
/// that is `given` has them when the program begins, and what they hold.
struct ProgramTensor {
  std::string name;
  MemoryId memory = MemoryId::dram;
  int64_t bytes = 0;
  int64_t slots = 0;     ///< 0: not a region
  int64_t address = -1;  ///< of its first byte, among those with one; -1: bytes of its own
  bool given = false;    ///< with an address: as if written when the program begins
  int64_t pitch = 0;     ///< of rows of which queues use parts at the same time; 0: they don't

  bool is_placed() const { return address >= 0; }
  int64_t slot_bytes() const { return slots > 0 ? bytes / slots : bytes; }
};
/// Of a tensor, at most: the core's addresses have so many bits.
inline constexpr int64_t kMostTensorBytes = int64_t{1} << 48;
inline constexpr size_t kMostRegions = 8;        ///< of a program
inline constexpr int64_t kMostRegionSlots = 16;  ///< of a region

/// Token operations. Each buffer has a ring of slots. A "free" token (at the start as many as
/// slots) lets a producer fill the next slot, and a "full" token lets a consumer read it. A
/// "primed" one hands an output slot that loads have filled to the post that adds to it. A wait
/// applies to the queue's next command. A signal fires when the queue's previous command is done
/// with the slot. A region has free and full tokens like a buffer. Its waits are for the queue's
/// next command, and the command before a signal has used that region.
enum class SyncKind : uint8_t {
  wait_free,
  signal_full,
  wait_full,
  signal_free,
  signal_primed,
  wait_primed
};
inline constexpr size_t kSyncKinds = 6;
/// Does the queue's next command wait for it?
constexpr bool is_wait(SyncKind k) {
  return k == SyncKind::wait_free || k == SyncKind::wait_full || k == SyncKind::wait_primed;
}
/// As printed programs spell it: "wait_free", "signal_full", ...
std::string_view name(SyncKind k);

/// A token operation in a queue's text, on a buffer or a region.
struct Sync {
  SyncKind kind;
  Queue queue;
  Buffer buffer;
  int region = -1;  ///< index into Program::tensors; -1: the buffer
  friend bool operator==(const Sync&, const Sync&) = default;
};

struct Item;

/// `count` iterations of the body, one after the other; its index appears in addresses by `id`.
struct Loop {
  int id = 0;        ///< unique in the program
  std::string name;  ///< what it runs over, for people: "oh", "n", "k", ...
  int64_t count = 1;
  std::vector<Item> body;
};

/// Marks order what queues do with a tensor in memory that isn't a region. The load, store or stage
/// queue sets one outside of loops, behind its last command on the tensor; it is reached when the
/// queue's command before it is done. A wait, of another queue or the same, holds its queue's next
/// command back until all of the tensor's marks before it in the text are reached. Marks aren't
/// used up.
struct Mark {
  bool waits = false;
  Queue queue = Queue::load;
  int tensor = 0;  ///< index into Program::tensors
  friend bool operator==(const Mark&, const Mark&) = default;
};

/// The head of a network's layer, outside of loops: what follows, up to the next one, is its text.
struct LayerHead {
  std::string name;
  Dataflow dataflow = Dataflow::weight_stationary;  ///< of its gemms
};

/// One line of a program's text: a loop, a command, a token operation, a mark, a layer's head.
struct Item {
  std::variant<Loop, Command, Sync, Mark, LayerHead> node;
};

/// A whole program: what a layer, a part of it, or a network does on one machine.
struct Program {
  std::string name;
  Dataflow dataflow = Dataflow::weight_stationary;  ///< of the gemms before the first LayerHead
  std::vector<ProgramTensor> tensors;
  std::vector<Item> body;
  int loops = 0;  ///< ids are 0 .. loops-1
};

/// The number among the program's regions of each of its tensors; -1 where it isn't one.
std::vector<int> region_numbers(const Program& program);

/// Checks a program against a machine. Every address lies within its tensor or slot at the extremes
/// of the loops. Array and accumulator limits hold. Every slot is read only while it is held.
/// Tensors in the shared buffer fit. Tokens are balanced in every loop, and nothing can block for
/// ever. Errors name the command and its loops.
Status verify(const Program& program, const HwConfig& hw);

/// The program as indented text, one command a line.
std::string program_text(const Program& program);

/// Of layers of an engine of dot products, and of the units beside it: cycles in which no block
/// lasts, or no element is taken, by what is waited for.
struct EngineWaits {
  int64_t reads = 0;    ///< features, and weights of the next kernel group
  int64_t loads = 0;    ///< a block's weights, longer than the block before lasts
  int64_t outputs = 0;  ///< places for output atoms, and their way to memory
  int64_t writes = 0;   ///< sums that leave, of channels in parts

  EngineWaits& operator+=(const EngineWaits& other);
  bool operator==(const EngineWaits&) const = default;
};

/// What a program does, whatever the time: exact sums over all iterations.
struct Counts {
  Macs macs;        ///< useful ones
  Macs array_macs;  ///< with the zero blocks of packed groups
  PerMemory<Bytes> read, written;
  Bytes staged;  ///< of both, those copied from one to the other
  std::array<Bytes, kBuffers> buffer_read{}, buffer_written{};
  std::array<int64_t, kLaneClasses> vector_ops{};
  Macs lane_macs;         ///< of lane commands, in place of the array
  int64_t weighed = 0;    ///< taps that lanes weigh, by element; no others of vector_ops
  int64_t joined = 0;     ///< columns that lane commands put together with those before, by element
  int64_t divisions = 0;  ///< of rows, with roots and logarithms: they take no lanes
  int64_t commands = 0;
  int64_t gemms = 0;
  int64_t preload_cycles = 0;  ///< in which stationary operands go into the array
  EngineWaits engine;          ///< nothing of other machines

  /// Read and written.
  Bytes moved(MemoryId m) const { return read[m] + written[m]; }
  Counts& operator+=(const Counts& other);
  friend bool operator==(const Counts&, const Counts&) = default;
};
/// Sums up a verified program. Takes time in the length of its text, not in its iterations.
Counts count_program(const Program& program, const HwConfig& hw);

}  // namespace accsim::hw
