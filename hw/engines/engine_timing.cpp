#include "hw/engines/engine_timing.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace accsim::hw {
namespace {

/// Cycles from first to last.
struct CycleRange {
  int64_t first = 0, last = 0;
};

/// Section "Padding": the cycle of the last item, with the ranges of cycles that beats are written
/// in. -1 without padding.
int64_t last_pad(const ReadPadding& pad, int64_t first, const std::vector<CycleRange>& beats) {
  if (pad.above + pad.passed + pad.below == 0) return -1;
  int64_t cycle = first - 1;
  auto next = beats.begin();
  const auto write = [&](int64_t items) {
    while (items > 0) {
      while (next != beats.end() && next->last <= cycle) ++next;
      const int64_t free =
          next == beats.end() ? items : std::max<int64_t>(next->first - cycle - 1, 0);
      const int64_t now = std::min(items, free);
      cycle += now;
      items -= now;
      if (items > 0) cycle = next->last;
    }
  };
  write(pad.above);
  cycle += pad.passed;
  write(pad.below);
  return cycle;
}

/// Section "Writes": cycles of a command.
int64_t write_cycles(const EngineCommand& command, const CommandKind& kind,
                     const EngineMachine& machine) {
  int64_t cycles = 0;
  for (RowPieces pieces(command, machine); !pieces.done(); pieces.next()) {
    const int64_t gaps = (pieces.bytes() / kind.item_bytes - 1) * kind.item_gap;
    cycles += kind.start_to_beat + pieces.beats() + gaps + machine.latency;
  }
  return cycles;
}

/// A read that an engine executes.
struct RunningRead {
  size_t command;
  RowPieces pieces;
  std::vector<CycleRange> written;  // kept where there is padding
  int64_t last_written = 0;
};

/// Times of a program on a machine.
///
/// Starts, ends and dispatches are maxima of sums of earlier times, so each is found as soon as all
/// it depends on is known. Only the port needs the order of time. Whatever isn't known yet depends
/// on a request that somebody asks for, and comes later than it is taken. So the next request that
/// is known is the next one that is taken.
class ProgramRun {
 public:
  ProgramRun(const EngineProgram& program, const EngineMachine& machine)
      : program_(program),
        machine_(machine),
        port_(machine),
        fetch_(program, machine, port_),
        times_(program.size()),
        engines_(machine.queues.size()),
        tokens_(machine.token_queues.size()) {}

  Result<std::vector<CommandSpan>> run();

 private:
  /// What an engine has done so far.
  struct EngineState {
    size_t next = 0;  // of its queue
    int64_t free_from = 0;
    std::optional<RunningRead> read;
  };
  /// Cycles from which each token counts, and those in which one is taken.
  struct TokenTimes {
    std::vector<int64_t> posted, taken;
  };

  void settle();
  bool start_next(size_t engine);
  std::optional<int64_t> start_of(size_t engine, size_t command) const;
  void begin_read(size_t engine, size_t command);
  void ask(const RunningRead& read, int64_t from);
  void read_taken(const PortAnswer& request);
  void end(size_t engine, size_t command, int64_t cycle);
  Status check_tokens() const;

  const CommandKind& kind(size_t command) const {
    return machine_.kinds[static_cast<size_t>(program_[command].kind)];
  }

  const EngineProgram& program_;
  const EngineMachine& machine_;
  RequestPort port_;
  CommandFetch fetch_;
  std::vector<CommandSpan> times_;
  std::vector<EngineState> engines_;
  std::vector<TokenTimes> tokens_;
};

/// Finds all times that are known without another request.
void ProgramRun::settle() {
  for (bool more = true; more;) {
    more = fetch_.dispatch(times_);
    for (size_t engine = 0; engine < engines_.size(); ++engine)
      while (start_next(engine)) more = true;
  }
}

/// Section "Engines", rule 1, if the cycle is known.
std::optional<int64_t> ProgramRun::start_of(size_t engine, size_t command) const {
  int64_t start =
      std::max(engines_[engine].free_from, fetch_.dispatched(command) + machine_.dispatch_to_start);
  for (size_t q = 0; q < tokens_.size(); ++q) {
    if ((program_[command].takes >> q & 1) == 0) continue;
    const TokenTimes& tokens = tokens_[q];
    if (tokens.taken.size() >= tokens.posted.size()) return std::nullopt;
    start = std::max(start, tokens.posted[tokens.taken.size()]);
  }
  return start;
}

/// Starts the engine's next command, if its cycle is known.
bool ProgramRun::start_next(size_t engine) {
  EngineState& state = engines_[engine];
  if (state.read || state.next == fetch_.queue(engine).size()) return false;
  const size_t command = fetch_.queue(engine)[state.next];
  const std::optional<int64_t> start = start_of(engine, command);
  if (!start) return false;
  ++state.next;
  times_[command].start = *start;
  for (size_t q = 0; q < tokens_.size(); ++q)
    if (program_[command].takes >> q & 1) tokens_[q].taken.push_back(*start);
  const CommandKind& what = kind(command);
  if (what.work == CommandWork::read)
    begin_read(engine, command);
  else if (what.work == CommandWork::write)
    end(engine, command, *start + write_cycles(program_[command], what, machine_) - 1);
  else
    end(engine, command,
        *start + program_[command].items * what.item_cycles + what.pipeline_cycles - 1);
  return true;
}

void ProgramRun::begin_read(size_t engine, size_t command) {
  const EngineCommand& what = program_[command];
  engines_[engine].read = RunningRead{command, RowPieces(what, machine_), {}, 0};
  const CommandKind& how = kind(command);
  ask(*engines_[engine].read,
      times_[command].start + how.start_to_request + what.padding.rows * how.pad_row_cycles);
}

void ProgramRun::ask(const RunningRead& read, int64_t from) {
  port_.ask(program_[read.command].kind + 1, read.pieces.beats(), from);
}

void ProgramRun::read_taken(const PortAnswer& request) {
  const size_t engine =
      static_cast<size_t>(machine_.kinds[static_cast<size_t>(request.client - 1)].engine);
  RunningRead& read = *engines_[engine].read;
  const CommandKind& how = kind(read.command);
  const ReadPadding& pad = program_[read.command].padding;
  read.last_written = request.last + how.beat_to_write;
  if (pad.above + pad.passed + pad.below > 0)
    read.written.push_back({request.first + how.beat_to_write, read.last_written});
  read.pieces.next();
  if (!read.pieces.done()) {
    ask(read, request.taken + machine_.client_cycles);
    return;
  }
  const size_t command = read.command;
  const int64_t padded = last_pad(pad, times_[command].start + how.start_to_pad, read.written);
  const int64_t last = std::max(read.last_written, padded);
  engines_[engine].read.reset();
  end(engine, command, last + how.write_to_end);
}

void ProgramRun::end(size_t engine, size_t command, int64_t cycle) {
  times_[command].end = cycle;
  engines_[engine].free_from = cycle + machine_.end_to_start;
  for (size_t q = 0; q < tokens_.size(); ++q)
    if (program_[command].posts >> q & 1)
      tokens_[q].posted.push_back(cycle + machine_.token_to_start);
}

/// Section "Engines", rule 3: in a cycle, tokens count before any is taken.
Status ProgramRun::check_tokens() const {
  for (size_t q = 0; q < tokens_.size(); ++q) {
    const TokenTimes& tokens = tokens_[q];
    size_t taken = 0;
    for (size_t posted = 0; posted < tokens.posted.size(); ++posted) {
      while (taken < tokens.taken.size() && tokens.taken[taken] < tokens.posted[posted]) ++taken;
      if (static_cast<int64_t>(posted - taken) >= machine_.token_limit)
        return Error{Errc::invalid,
                     fmt::format("more than {} tokens wait: one is lost", machine_.token_limit),
                     fmt::format("token queue {}", q)};
    }
  }
  return ok();
}

Result<std::vector<CommandSpan>> ProgramRun::run() {
  settle();
  while (!port_.idle()) {
    const PortAnswer request = port_.take();
    if (request.client == 0)
      fetch_.taken(request);
    else
      read_taken(request);
    settle();
  }
  if (Status tokens = check_tokens(); !tokens) return tokens.errors();
  for (size_t i = 0; i < times_.size(); ++i)
    if (times_[i].end < 0)
      return Error{Errc::invalid, "the program waits for ever", fmt::format("command {}", i)};
  return std::move(times_);
}

}  // namespace

Result<std::vector<CommandSpan>> time_commands(const EngineProgram& program,
                                               const EngineMachine& machine) {
  if (Status fields = check_engine_machine(machine); !fields) return fields.errors();
  if (Status commands = check_engine_program(program, machine); !commands) return commands.errors();
  return ProgramRun(program, machine).run();
}

Result<Cycles> time_engine_program(const EngineProgram& program, const EngineMachine& machine) {
  const Result<std::vector<CommandSpan>> times = time_commands(program, machine);
  if (!times) return times.errors();
  int64_t last = 0;
  for (const CommandSpan& command : *times) last = std::max(last, command.end);
  return Cycles(last);
}

}  // namespace accsim::hw
