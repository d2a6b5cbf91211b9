#pragma once
#include <cstdint>
#include <vector>

#include "hw/engines/engine_program.h"
#include "hw/engines/request_port.h"

namespace accsim::hw {

/// First and last cycle in which a command is executed, -1 while they aren't known.
struct CommandSpan {
  int64_t start = -1, end = -1;

  bool operator==(const CommandSpan&) const = default;
};

/// Fetches commands and hands them to the queues of their engines (docs/engines.md, "Fetch").
/// Times are found as soon as what they depend on is known, which may be before other times that
/// are smaller.
class CommandFetch {
 public:
  /// The first burst is asked for at once. All three must outlive the object.
  CommandFetch(const EngineProgram& program, const EngineMachine& machine, RequestPort& port);

  /// The burst that was asked for is taken.
  void taken(const PortAnswer& burst);
  /// Dispatches commands as far as their cycles are known, given the ends so far. Was there any?
  bool dispatch(const std::vector<CommandSpan>& times);

  /// The commands that an engine has been given, in order.
  const std::vector<size_t>& queue(size_t engine) const { return queues_[engine]; }
  /// The cycle of a command's dispatch, which must be known.
  int64_t dispatched(size_t command) const { return dispatched_[command]; }

 private:
  void ask(int64_t from);
  bool leave();
  bool hand_over(const std::vector<CommandSpan>& times);
  bool has_room(size_t engine, const std::vector<CommandSpan>& times, int64_t& cycle) const;
  size_t engine(size_t command) const;

  const EngineProgram& program_;
  const EngineMachine& machine_;
  RequestPort& port_;
  size_t asked_ = 0;           // commands that have been asked for
  std::vector<int64_t> come_;  // of commands that were taken: the cycle of the beat that counts
  std::vector<int64_t> left_;  // of commands: the cycle in which they left the buffer
  std::vector<int64_t> dispatched_;  // of commands
  std::vector<std::vector<size_t>> queues_;
};

}  // namespace accsim::hw
