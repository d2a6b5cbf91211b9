#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/field_of.h"
#include "sim/base/result.h"

namespace accsim::hw {

/// What commands of a kind do.
enum class CommandWork { compute, read, write };
/// As machine files spell it, by CommandWork.
inline constexpr std::array<std::string_view, 3> kCommandWorks = {"compute", "read", "write"};

/// A kind of command (docs/engines.md, section "Fields"). Each work has the fields that its rules
/// name; the values are those of VTA at a port of 8 bytes.
struct CommandKind {
  std::string name;
  int64_t engine = 0;  ///< index of the queue of the engine that executes it
  CommandWork work = CommandWork::compute;
  int64_t item_cycles = 0;       ///< compute: cycles per item
  int64_t pipeline_cycles = 1;   ///< compute: cycles to fill and empty the pipeline
  int64_t start_to_request = 1;  ///< read: cycles from start to the first request
  int64_t pad_row_cycles = 1;    ///< read: cycles by which a row of padding at the top delays it
  int64_t start_to_pad = 1;      ///< read: cycles from start to the first item of padding
  int64_t beat_to_write = 2;     ///< read: cycles from a beat until it is in the scratchpad
  int64_t write_to_end = 1;      ///< read: cycles from the last write to the end
  int64_t item_bytes = 16;       ///< write: bytes of an item
  int64_t start_to_beat = 2;     ///< write: cycles from a burst's first cycle to its first beat
  int64_t item_gap = 1;          ///< write: cycles without a beat between two items

  bool operator==(const CommandKind&) const = default;
};

/// An engine and its queue of commands.
struct EngineQueue {
  std::string name;
  int64_t depth = 512;  ///< commands that are dispatched and haven't ended

  bool operator==(const EngineQueue&) const = default;
};

/// A counter of tokens: one engine posts, the other takes.
struct TokenQueue {
  int64_t from = 0, to = 0;  ///< indices of the engines' queues

  bool operator==(const TokenQueue&) const = default;
};

/// A decoupled access-execute machine (docs/engines.md, which has the source of each field). The
/// values are those of VTA at a port of 8 bytes, with the memory of its measurements. A machine
/// without queues has no such engines.
struct EngineMachine {
  int64_t port_bytes = 8;         ///< bytes of a beat
  int64_t page_beats = 256;       ///< beats of the longest burst, and of a page
  int64_t latency = 32;           ///< cycles to a read's first beat, and to a write's answer
  int64_t reads_overlap = 1;      ///< is a request taken while the one before is answered?
  int64_t outstanding = 16;       ///< requests whose last beat hasn't come
  int64_t client_cycles = 2;      ///< cycles between two requests of a client
  int64_t last_beat_holds = 1;    ///< is no request taken in a cycle with a last beat?
  int64_t command_bytes = 16;     ///< bytes of a command
  int64_t launch_cycles = 2;      ///< cycles from launch to the first request of commands
  int64_t whole_bursts = 1;       ///< does dispatch wait for the whole burst?
  int64_t fetch_cycles = 2;       ///< cycles from the last beat until a command leaves the buffer
  int64_t dispatch_register = 0;  ///< commands between the buffer and the queues
  int64_t refill_cycles = 3;      ///< cycles from the last command that leaves to the next request
  int64_t dispatch_to_start = 2;  ///< cycles
  int64_t end_to_start = 2;       ///< cycles to the next command of the engine
  int64_t end_to_room = 1;        ///< cycles until the queue has room for another command
  int64_t token_to_start = 2;     ///< cycles from the poster's end to the taker's start
  int64_t token_limit = 255;      ///< tokens that a queue counts
  std::vector<EngineQueue> queues;
  std::vector<CommandKind> kinds;  ///< in the order of their rank at the port
  std::vector<TokenQueue> token_queues;

  /// Commands that fetch asks for together.
  int64_t burst_commands() const { return page_beats * port_bytes / command_bytes; }
  bool operator==(const EngineMachine&) const = default;
};

/// Engines, kinds of commands and token queues that a machine may have: each fits into 32 bits.
inline constexpr size_t kMostEngineParts = 32;

/// A number of a machine of such engines, such as its port.
using EngineMachineField = FieldOf<EngineMachine>;
/// A number of an engine's queue.
using EngineQueueField = FieldOf<EngineQueue>;
/// A number of a kind of command, with the work that it belongs to.
struct CommandKindField : FieldOf<CommandKind> {
  CommandWork work;
};

/// All numbers of a machine, in the order of the struct.
std::span<const EngineMachineField> engine_machine_fields();

/// All numbers of an engine's queue.
std::span<const EngineQueueField> engine_queue_fields();

/// All numbers of a kind of command, each with its work, in the order of the struct.
std::span<const CommandKindField> command_kind_fields();

/// Parts that are too many or too few, and indices of engines that aren't there. As all functions
/// below, it lists errors at "port_bytes", "queues", "kinds[2]" or "token_queues[1]".
Errors wrong_engine_parts(const EngineMachine& machine);

/// Names of engines, or of kinds of commands, that two of them have.
Errors doubled_engine_names(const EngineMachine& machine);

/// Commands and items of writes that aren't whole beats, and pages that aren't whole commands or
/// items. Numbers must be in range.
Errors broken_beats(const EngineMachine& machine);

/// A second engine that writes.
Errors second_writers(const EngineMachine& machine);

/// Are all numbers in range, and is nothing of the above wrong but names? Lists all that is.
Status check_engine_machine(const EngineMachine& machine);

}  // namespace accsim::hw
