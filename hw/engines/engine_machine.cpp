#include "hw/engines/engine_machine.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <optional>

namespace accsim::hw {
namespace {

using M = EngineMachine;
using K = CommandKind;
constexpr int64_t kMost = 1 << 20;  // of one field: sums of all cycles are checked apart

constexpr std::array kMachineFields{
    EngineMachineField{"port_bytes", "bytes", &M::port_bytes, 1, 4096},
    EngineMachineField{"page_beats", "beats", &M::page_beats, 1, kMost},
    EngineMachineField{"latency", "cycles", &M::latency, 1, kMost},
    EngineMachineField{"reads_overlap", "(0: no, 1: yes)", &M::reads_overlap, 0, 1},
    EngineMachineField{"outstanding", "requests", &M::outstanding, 1, kMost},
    EngineMachineField{"client_cycles", "cycles", &M::client_cycles, 1, kMost},
    EngineMachineField{"last_beat_holds", "(0: no, 1: yes)", &M::last_beat_holds, 0, 1},
    EngineMachineField{"command_bytes", "bytes", &M::command_bytes, 1, kMost},
    EngineMachineField{"launch_cycles", "cycles", &M::launch_cycles, 0, kMost},
    EngineMachineField{"whole_bursts", "(0: no, 1: yes)", &M::whole_bursts, 0, 1},
    EngineMachineField{"fetch_cycles", "cycles", &M::fetch_cycles, 1, kMost},
    EngineMachineField{"dispatch_register", "commands", &M::dispatch_register, 0, kMost},
    EngineMachineField{"refill_cycles", "cycles", &M::refill_cycles, 1, kMost},
    EngineMachineField{"dispatch_to_start", "cycles", &M::dispatch_to_start, 1, kMost},
    EngineMachineField{"end_to_start", "cycles", &M::end_to_start, 1, kMost},
    EngineMachineField{"end_to_room", "cycles", &M::end_to_room, 1, kMost},
    EngineMachineField{"token_to_start", "cycles", &M::token_to_start, 1, kMost},
    EngineMachineField{"token_limit", "tokens", &M::token_limit, 1, kMost},
};
static_assert(offsetof(M, engines) == kMachineFields.size() * sizeof(int64_t),
              "a field has no row");

constexpr std::array kKindFields{
    CommandKindField{"item_cycles", "cycles per item", &K::item_cycles, 0, kMost,
                     CommandWork::compute},
    CommandKindField{"pipeline_cycles", "cycles", &K::pipeline_cycles, 1, kMost,
                     CommandWork::compute},
    CommandKindField{"start_to_request", "cycles", &K::start_to_request, 0, kMost,
                     CommandWork::read},
    CommandKindField{"pad_row_cycles", "cycles per row", &K::pad_row_cycles, 0, kMost,
                     CommandWork::read},
    CommandKindField{"start_to_pad", "cycles", &K::start_to_pad, 0, kMost, CommandWork::read},
    CommandKindField{"beat_to_write", "cycles", &K::beat_to_write, 0, kMost, CommandWork::read},
    CommandKindField{"write_to_end", "cycles", &K::write_to_end, 0, kMost, CommandWork::read},
    CommandKindField{"item_bytes", "bytes", &K::item_bytes, 1, kMost, CommandWork::write},
    CommandKindField{"start_to_beat", "cycles", &K::start_to_beat, 0, kMost, CommandWork::write},
    CommandKindField{"item_gap", "cycles", &K::item_gap, 0, kMost, CommandWork::write},
};
static_assert(sizeof(K) - offsetof(K, item_cycles) == kKindFields.size() * sizeof(int64_t),
              "a field has no row");

class MachineCheck {
 public:
  explicit MachineCheck(const EngineMachine& machine) : machine_(machine) {}
  Errors run();

 private:
  void add(std::string_view where, std::string message) {
    errors_.push_back({Errc::invalid, std::move(message), std::string(where)});
  }
  template <class Field, class Owner>
  void range(const Field& field, const Owner& owner, std::string_view of) {
    const int64_t value = owner.*field.member;
    if (value >= field.least && value <= field.most) return;
    add(field.name, fmt::format("{}must be {} to {} {}, is {}", of, field.least, field.most,
                                field.unit, value));
  }
  void number(std::string_view where, size_t parts) {
    if (parts == 0 || parts > kMostEngineParts)
      add(where, fmt::format("must be 1 to {}, are {}", kMostEngineParts, parts));
  }
  void engine(std::string_view where, int64_t index) {
    if (index < 0 || index >= static_cast<int64_t>(machine_.engines.size()))
      add(where, fmt::format("there is no engine {}", index));
  }
  void kind(const CommandKind& kind);
  void burst();

  const EngineMachine& machine_;
  Errors errors_;
  std::optional<int64_t> writer_;
};

void MachineCheck::kind(const CommandKind& kind) {
  engine(kind.name, kind.engine);
  for (const CommandKindField& field : kKindFields)
    if (field.work == kind.work) range(field, kind, kind.name + " ");
  if (kind.work != CommandWork::write || kind.item_bytes < 1) return;
  if (kind.item_bytes % machine_.port_bytes != 0)
    add(kind.name, fmt::format("items of {} bytes aren't whole beats of {} bytes", kind.item_bytes,
                               machine_.port_bytes));
  if (machine_.page_beats * machine_.port_bytes % kind.item_bytes != 0)
    add(kind.name, fmt::format("a page isn't whole items of {} bytes", kind.item_bytes));
  if (writer_.value_or(kind.engine) != kind.engine) add(kind.name, "a second engine writes");
  writer_ = kind.engine;
}

void MachineCheck::burst() {
  const int64_t page = machine_.page_beats * machine_.port_bytes;
  if (machine_.command_bytes % machine_.port_bytes != 0 || page % machine_.command_bytes != 0)
    add("command_bytes",
        fmt::format("commands of {} bytes aren't whole beats, or a page isn't whole commands",
                    machine_.command_bytes));
}

Errors MachineCheck::run() {
  for (const EngineMachineField& field : kMachineFields) range(field, machine_, "");
  if (!errors_.empty()) return errors_;  // what follows divides by them
  burst();
  number("engines", machine_.engines.size());
  number("kinds", machine_.kinds.size());
  if (machine_.token_queues.size() > kMostEngineParts)
    add("token_queues", fmt::format("are more than {}", kMostEngineParts));
  for (const EngineQueue& queue : machine_.engines)
    if (queue.depth < 1 || queue.depth > kMost)
      add("queue_depth", fmt::format("must be 1 to {} commands, is {}", kMost, queue.depth));
  for (const CommandKind& one : machine_.kinds) kind(one);
  for (const TokenQueue& queue : machine_.token_queues) {
    engine("token_queues", queue.from);
    engine("token_queues", queue.to);
  }
  return errors_;
}

}  // namespace

std::span<const EngineMachineField> engine_machine_fields() { return kMachineFields; }

std::span<const CommandKindField> command_kind_fields() { return kKindFields; }

Status check_engine_machine(const EngineMachine& machine) {
  Errors errors = MachineCheck(machine).run();
  if (!errors.empty()) return errors;
  return ok();
}

}  // namespace accsim::hw
