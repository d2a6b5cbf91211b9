#include "hw/engines/engine_program.h"

#include <fmt/format.h>

#include <string>

#include "sim/base/sums.h"

namespace accsim::hw {
namespace {

// Of an address, a row, a pitch: kMostRequests rows of this pitch end below 2^63.
constexpr int64_t kMostBytes = int64_t{1} << 38;
constexpr int64_t kMostItems = int64_t{1} << 40;  // of a command
constexpr int64_t kLastCycle = int64_t{1} << 60;  // of a program

bool within(int64_t value, int64_t least, int64_t most) { return value >= least && value <= most; }

/// What is wrong with the sizes of a command, empty when nothing is.
std::string wrong_sizes(const EngineCommand& command, const CommandKind& kind) {
  if (kind.work == CommandWork::compute)
    return within(command.items, 0, kMostItems) ? "" : "its number of items is out of range";
  if (!within(command.address, 0, kMostBytes) || !within(command.pitch, 0, kMostBytes) ||
      !within(command.row_bytes, 1, kMostBytes) || !within(command.rows, 1, kMostRequests))
    return "its rows are out of range";
  const ReadPadding& pad = command.padding;
  for (const int64_t number : {pad.rows, pad.above, pad.passed, pad.below})
    if (!within(number, 0, kMostItems)) return "its padding is out of range";
  if (kind.work == CommandWork::write)
    for (const int64_t bytes : {command.address, command.row_bytes, command.pitch})
      if (bytes % kind.item_bytes != 0) return "its rows aren't whole items";
  return "";
}

/// The same of its tokens.
std::string wrong_tokens(const EngineCommand& command, const CommandKind& kind,
                         const std::vector<TokenQueue>& queues) {
  for (size_t q = 0; q < kMostEngineParts; ++q) {
    const bool takes = command.takes >> q & 1, posts = command.posts >> q & 1;
    if (!takes && !posts) continue;
    if (q >= queues.size()) return fmt::format("there is no token queue {}", q);
    if (takes && queues[q].to != kind.engine) return "it takes tokens that aren't its engine's";
    if (posts && queues[q].from != kind.engine) return "it posts tokens that aren't its engine's";
  }
  return "";
}

/// Requests of a command at most.
int64_t most_requests(const EngineCommand& command, const EngineMachine& machine) {
  return multiply_counts(command.rows,
                         command.row_bytes / (machine.page_beats * machine.port_bytes) + 2);
}

/// Cycles by which a command makes a program longer, at most.
int64_t most_cycles(const EngineCommand& command, const CommandKind& kind,
                    const EngineMachine& machine) {
  const int64_t hand_over = machine.dispatch_to_start + machine.end_to_start + machine.end_to_room +
                            machine.token_to_start + machine.fetch_cycles + machine.refill_cycles +
                            machine.latency + machine.client_cycles + machine.command_bytes + 4;
  if (kind.work == CommandWork::compute)
    return add_counts(hand_over + kind.pipeline_cycles,
                      multiply_counts(command.items, kind.item_cycles));
  const int64_t bytes = multiply_counts(command.rows, command.row_bytes + 2 * machine.port_bytes);
  const int64_t each = kind.start_to_beat + machine.latency + machine.client_cycles + 2;
  const int64_t fixed = kind.start_to_request + kind.start_to_pad + kind.beat_to_write +
                        kind.write_to_end + hand_over;
  const ReadPadding& pad = command.padding;
  const int64_t pads = add_counts(multiply_counts(pad.rows, kind.pad_row_cycles),
                                  pad.above + pad.passed + pad.below);
  return add_counts(add_counts(multiply_counts(bytes, kind.item_gap + 1), pads),
                    add_counts(fixed, multiply_counts(most_requests(command, machine), each)));
}

}  // namespace

Status check_engine_program(const EngineProgram& program, const EngineMachine& machine) {
  if (static_cast<int64_t>(program.size()) > kMostCommands)
    return Error{Errc::capacity, fmt::format("more than {} commands", kMostCommands), "program"};
  int64_t requests = 0, cycles = machine.launch_cycles;
  for (size_t i = 0; i < program.size(); ++i) {
    const EngineCommand& command = program[i];
    const std::string where = fmt::format("command {}", i);
    if (!within(command.kind, 0, static_cast<int64_t>(machine.kinds.size()) - 1))
      return Error{Errc::invalid, fmt::format("there is no kind {}", command.kind), where};
    const CommandKind& kind = machine.kinds[static_cast<size_t>(command.kind)];
    std::string wrong = wrong_sizes(command, kind);
    if (wrong.empty()) wrong = wrong_tokens(command, kind, machine.token_queues);
    if (!wrong.empty()) return Error{Errc::invalid, wrong, where};
    if (kind.work != CommandWork::compute)
      requests = add_counts(requests, most_requests(command, machine));
    cycles = add_counts(cycles, most_cycles(command, kind, machine));
  }
  if (requests > kMostRequests)
    return Error{Errc::capacity, fmt::format("more than {} requests", kMostRequests), "program"};
  if (cycles > kLastCycle) return Error{Errc::overflow, "cycles leave 64 bits", "program"};
  return ok();
}

}  // namespace accsim::hw
