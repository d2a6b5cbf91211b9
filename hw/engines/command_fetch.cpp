#include "hw/engines/command_fetch.h"

#include <algorithm>

namespace accsim::hw {

CommandFetch::CommandFetch(const EngineProgram& program, const EngineMachine& machine,
                           RequestPort& port)
    : program_(program), machine_(machine), port_(port), queues_(machine.queues.size()) {
  ask(machine.launch_cycles);
}

/// The next burst, from a cycle on, if anything is left.
void CommandFetch::ask(int64_t from) {
  const size_t burst = static_cast<size_t>(machine_.burst_commands());
  const size_t commands = std::min(burst, program_.size() - asked_);
  if (commands == 0) return;
  asked_ += commands;
  const int64_t beats = machine_.command_bytes / machine_.port_bytes;
  port_.ask(0, static_cast<int64_t>(commands) * beats, from);
}

void CommandFetch::taken(const PortAnswer& burst) {
  const int64_t beats = machine_.command_bytes / machine_.port_bytes;
  for (int64_t beat = burst.first + beats - 1; come_.size() < asked_; beat += beats)
    come_.push_back(machine_.whole_bursts != 0 ? burst.last : beat);
}

size_t CommandFetch::engine(size_t command) const {
  const size_t kind = static_cast<size_t>(program_[command].kind);
  return static_cast<size_t>(machine_.kinds[kind].engine);
}

bool CommandFetch::dispatch(const std::vector<CommandSpan>& times) {
  bool any = false;
  while (leave() || hand_over(times)) any = true;
  return any;
}

/// Rules 2, 3 and 5: the next command leaves the buffer. Without a register that is in the cycle of
/// its dispatch at soonest, which hand_over() then puts right.
bool CommandFetch::leave() {
  const size_t next = left_.size();
  if (next == come_.size()) return false;
  const size_t held = static_cast<size_t>(machine_.dispatch_register);
  const size_t before = held == 0 ? 1 : held;  // commands that may be on their way
  if (next >= before && next - before >= dispatched_.size()) return false;
  int64_t cycle = come_[next] + machine_.fetch_cycles;
  if (next > 0) cycle = std::max(cycle, left_.back() + 1);
  if (held > 0 && next >= held) cycle = std::max(cycle, dispatched_[next - held] + 1);
  left_.push_back(cycle);
  if (held > 0 && next + 1 == asked_) ask(cycle + machine_.refill_cycles);
  return true;
}

/// The cycle from which the engine's queue has room, if it is known.
bool CommandFetch::has_room(size_t engine, const std::vector<CommandSpan>& times,
                            int64_t& cycle) const {
  const size_t depth = static_cast<size_t>(machine_.queues[engine].depth);
  const std::vector<size_t>& queue = queues_[engine];
  if (queue.size() < depth) return true;
  const int64_t end = times[queue[queue.size() - depth]].end;
  if (end < 0) return false;
  cycle = std::max(cycle, end + machine_.end_to_room);
  return true;
}

/// Rules 3 and 4: the next command is dispatched.
bool CommandFetch::hand_over(const std::vector<CommandSpan>& times) {
  const size_t next = dispatched_.size();
  if (next == left_.size()) return false;
  const bool held = machine_.dispatch_register > 0;
  int64_t cycle = left_[next] + (held ? 1 : 0);
  if (next > 0) cycle = std::max(cycle, dispatched_.back() + 1);
  if (!has_room(engine(next), times, cycle)) return false;
  dispatched_.push_back(cycle);
  queues_[engine(next)].push_back(next);
  if (held) return true;
  left_[next] = cycle;
  if (next + 1 == asked_) ask(cycle + machine_.refill_cycles);
  return true;
}

}  // namespace accsim::hw
