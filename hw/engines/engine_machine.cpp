#include "hw/engines/engine_machine.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <optional>
#include <set>

namespace accsim::hw {
namespace {

using M = EngineMachine;
using K = CommandKind;
constexpr int64_t kMost = 1 << 20;  // of one field: sums of all cycles are checked apart

constexpr std::array kMachineFields{
    EngineMachineField{"port_bytes", "bytes", &M::port_bytes, 1, 4096,
                       "a beat of the memory port, of reads and of writes"},
    EngineMachineField{"page_beats", "beats", &M::page_beats, 1, kMost,
                       "the longest burst, and an aligned page that no burst crosses"},
    EngineMachineField{"latency", "cycles", &M::latency, 1, kMost,
                       "from a read's request to its first beat, and from a burst's last beat "
                       "written to its answer"},
    EngineMachineField{"reads_overlap", "", &M::reads_overlap, 0, 1,
                       "1 = a request is taken while the one before is answered; 0 = not"},
    EngineMachineField{"outstanding", "requests", &M::outstanding, 1, kMost,
                       "most requests whose last beat hasn't come"},
    EngineMachineField{"client_cycles", "cycles", &M::client_cycles, 1, kMost,
                       "between two requests of the same kind of command at least"},
    EngineMachineField{"last_beat_holds", "", &M::last_beat_holds, 0, 1,
                       "1 = no request is taken in a cycle with a last beat; 0 = it may be"},
    EngineMachineField{"command_bytes", "bytes", &M::command_bytes, 1, kMost,
                       "a command in memory"},
    EngineMachineField{"launch_cycles", "cycles", &M::launch_cycles, 0, kMost,
                       "from launch to the first request of commands"},
    EngineMachineField{"whole_bursts", "", &M::whole_bursts, 0, 1,
                       "1 = dispatch waits for a whole burst of commands; 0 = for the command"},
    EngineMachineField{"fetch_cycles", "cycles", &M::fetch_cycles, 1, kMost,
                       "from the last beat until a command leaves the buffer"},
    EngineMachineField{"dispatch_register", "commands", &M::dispatch_register, 0, kMost,
                       "room between the buffer of commands and the queues"},
    EngineMachineField{"refill_cycles", "cycles", &M::refill_cycles, 1, kMost,
                       "from the last command that leaves to the next burst's request"},
    EngineMachineField{"dispatch_to_start", "cycles", &M::dispatch_to_start, 1, kMost,
                       "from a command's dispatch to its start at least"},
    EngineMachineField{"end_to_start", "cycles", &M::end_to_start, 1, kMost,
                       "from a command's end to the start of the engine's next one"},
    EngineMachineField{"end_to_room", "cycles", &M::end_to_room, 1, kMost,
                       "from a command's end until its queue has room for another one"},
    EngineMachineField{"token_to_start", "cycles", &M::token_to_start, 1, kMost,
                       "from the end of the command that posts a token to the start of the taker"},
    EngineMachineField{"token_limit", "tokens", &M::token_limit, 1, kMost,
                       "most tokens that a token queue counts"},
};
static_assert(offsetof(M, queues) == kMachineFields.size() * sizeof(int64_t), "a field has no row");

constexpr std::array kQueueFields{
    EngineQueueField{"depth", "commands", &EngineQueue::depth, 1, kMost,
                     "commands that are dispatched and haven't ended"},
};

constexpr auto kCompute = CommandWork::compute, kRead = CommandWork::read,
               kWrite = CommandWork::write;
constexpr std::array kKindFields{
    CommandKindField{
        {"item_cycles", "cycles per item", &K::item_cycles, 0, kMost, "time of an item"}, kCompute},
    CommandKindField{{"pipeline_cycles", "cycles", &K::pipeline_cycles, 1, kMost,
                      "to fill and empty the pipeline"},
                     kCompute},
    CommandKindField{{"start_to_request", "cycles", &K::start_to_request, 0, kMost,
                      "from start to the first request"},
                     kRead},
    CommandKindField{{"pad_row_cycles", "cycles per row", &K::pad_row_cycles, 0, kMost,
                      "by which a row of padding at the top delays the first request"},
                     kRead},
    CommandKindField{{"start_to_pad", "cycles", &K::start_to_pad, 0, kMost,
                      "from start to the first item of padding"},
                     kRead},
    CommandKindField{{"beat_to_write", "cycles", &K::beat_to_write, 0, kMost,
                      "from a beat until it is in the scratchpad"},
                     kRead},
    CommandKindField{{"write_to_end", "cycles", &K::write_to_end, 0, kMost,
                      "from the last write to the scratchpad to the end"},
                     kRead},
    CommandKindField{{"item_bytes", "bytes", &K::item_bytes, 1, kMost, "an item"}, kWrite},
    CommandKindField{{"start_to_beat", "cycles", &K::start_to_beat, 0, kMost,
                      "from a burst's first cycle to its first beat"},
                     kWrite},
    CommandKindField{
        {"item_gap", "cycles", &K::item_gap, 0, kMost, "without a beat between two items"}, kWrite},
};
static_assert(sizeof(K) - offsetof(K, item_cycles) == kKindFields.size() * sizeof(int64_t),
              "a field has no row");

std::string part_place(std::string_view list, size_t index) {
  return fmt::format("{}[{}]", list, index);
}

Error wrong_part(std::string where, std::string message) {
  return {Errc::invalid, std::move(message), std::move(where)};
}

/// Numbers of queues and kinds that aren't in range.
Errors wrong_numbers(const EngineMachine& machine) {
  Errors errors;
  const auto add = [&](Errors more) { errors.insert(errors.end(), more.begin(), more.end()); };
  for (const EngineQueue& queue : machine.queues)
    for (const EngineQueueField& field : kQueueFields) add(out_of_range(queue, field));
  for (const CommandKind& kind : machine.kinds)
    for (const CommandKindField& field : kKindFields)
      if (field.work == kind.work) add(out_of_range<CommandKind>(kind, field, kind.name + " "));
  return errors;
}

}  // namespace

std::span<const EngineMachineField> engine_machine_fields() { return kMachineFields; }
std::span<const EngineQueueField> engine_queue_fields() { return kQueueFields; }
std::span<const CommandKindField> command_kind_fields() { return kKindFields; }

Errors wrong_engine_parts(const EngineMachine& machine) {
  Errors errors;
  const auto number = [&](std::string_view list, size_t least, size_t parts) {
    if (parts < least || parts > kMostEngineParts)
      errors.push_back(wrong_part(std::string(list), fmt::format("must be {} to {}, are {}", least,
                                                                 kMostEngineParts, parts)));
  };
  number("queues", 1, machine.queues.size());
  number("kinds", 1, machine.kinds.size());
  number("token_queues", 0, machine.token_queues.size());
  const auto engine = [&](std::string_view list, size_t i, int64_t index) {
    if (index < 0 || index >= static_cast<int64_t>(machine.queues.size()))
      errors.push_back(
          wrong_part(part_place(list, i), fmt::format("there is no engine {}", index)));
  };
  for (size_t i = 0; i < machine.kinds.size(); ++i) engine("kinds", i, machine.kinds[i].engine);
  for (size_t i = 0; i < machine.token_queues.size(); ++i) {
    engine("token_queues", i, machine.token_queues[i].from);
    engine("token_queues", i, machine.token_queues[i].to);
  }
  return errors;
}

Errors doubled_engine_names(const EngineMachine& machine) {
  Errors errors;
  const auto find = [&](std::string_view list, const auto& parts) {
    std::set<std::string_view> names;
    for (size_t i = 0; i < parts.size(); ++i)
      if (!names.insert(parts[i].name).second)
        errors.push_back(
            wrong_part(part_place(list, i), fmt::format("{} is there twice", parts[i].name)));
  };
  find("queues", machine.queues);
  find("kinds", machine.kinds);
  return errors;
}

Errors broken_beats(const EngineMachine& machine) {
  Errors errors;
  const int64_t page = machine.page_beats * machine.port_bytes;
  if (machine.command_bytes % machine.port_bytes != 0 || page % machine.command_bytes != 0)
    errors.push_back(wrong_part(
        "command_bytes",
        fmt::format("commands of {} bytes aren't whole beats of {} bytes, or a page of {} bytes "
                    "isn't whole commands",
                    machine.command_bytes, machine.port_bytes, page)));
  for (size_t i = 0; i < machine.kinds.size(); ++i) {
    const CommandKind& kind = machine.kinds[i];
    if (kind.work != CommandWork::write) continue;
    if (kind.item_bytes % machine.port_bytes != 0 || page % kind.item_bytes != 0)
      errors.push_back(wrong_part(
          part_place("kinds", i),
          fmt::format("{}: items of {} bytes aren't whole beats of {} bytes, or a page of {} bytes "
                      "isn't whole items",
                      kind.name, kind.item_bytes, machine.port_bytes, page)));
  }
  return errors;
}

Errors second_writers(const EngineMachine& machine) {
  Errors errors;
  std::optional<int64_t> writer;
  for (size_t i = 0; i < machine.kinds.size(); ++i) {
    const CommandKind& kind = machine.kinds[i];
    if (kind.work != CommandWork::write) continue;
    if (writer.value_or(kind.engine) != kind.engine)
      errors.push_back(
          wrong_part(part_place("kinds", i), kind.name + " is of a second engine that writes"));
    writer = kind.engine;
  }
  return errors;
}

Status check_engine_machine(const EngineMachine& machine) {
  Errors errors = out_of_range<EngineMachine>(machine, kMachineFields);
  const auto add = [&](Errors more) { errors.insert(errors.end(), more.begin(), more.end()); };
  add(wrong_numbers(machine));
  add(wrong_engine_parts(machine));
  if (!errors.empty()) return errors;  // what follows divides by these numbers
  add(broken_beats(machine));
  add(second_writers(machine));
  if (!errors.empty()) return errors;
  return ok();
}

}  // namespace accsim::hw
