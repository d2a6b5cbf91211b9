// Times of programs on machines of engines with tokens, for a simulator that shares no code with
// this one (tests/oracle/engines_oracle_test.py). Each line of the input is a case as JSON:
//   {"machine": MACHINE, "commands": [COMMAND, ...]}   ->  [[START, END], ...]
//   {"layer": LAYER, "file": MACHINE_FILE, "memory": [BURST, LATENCY, OVERLAPS]}
//                                                      ->  {"machine": ..., "commands": [...]}
//   {"search": LAYER, "file": ..., "memory": ...}
//          ->  {"found": [SIZES, ORDER, CONTEXTS, MICRO, MICRO_EACH], "cycles": CYCLES}
// or {"error": TEXT}. Commands are lists of numbers in the order of EngineCommand.
#include <fmt/format.h>

#include <iostream>
#include <nlohmann/json.hpp>

#include "hw/config/load.h"
#include "hw/engines/engine_timing.h"
#include "hw/engines/tiled_program.h"
#include "hw/engines/tiled_search.h"

namespace {

using namespace accsim::hw;
using accsim::Result;
using Json = nlohmann::json;

constexpr std::array kWorks{"compute", "read", "write"};

EngineMachine read_machine(const Json& given) {
  EngineMachine machine;
  for (const EngineMachineField& field : engine_machine_fields())
    machine.*field.member = given.at(std::string(field.name)).get<int64_t>();
  for (const Json& depth : given.at("queue_depths"))
    machine.queues.push_back({"", depth.get<int64_t>()});
  for (const Json& ends : given.at("token_queues"))
    machine.token_queues.push_back({ends.at("source"), ends.at("target")});
  for (const Json& one : given.at("kinds")) {
    CommandKind& kind = machine.kinds.emplace_back();
    kind.name = one.at("name");
    kind.engine = one.at("engine");
    for (size_t i = 0; i < kWorks.size(); ++i)
      if (one.at("work") == kWorks[i]) kind.work = static_cast<CommandWork>(i);
    for (const CommandKindField& field : command_kind_fields())
      kind.*field.member = one.at(std::string(field.name)).get<int64_t>();
  }
  return machine;
}

Json to_json(const EngineMachine& machine) {
  Json out;
  for (const EngineMachineField& field : engine_machine_fields())
    out[std::string(field.name)] = machine.*field.member;
  for (const EngineQueue& queue : machine.queues) out["queue_depths"].push_back(queue.depth);
  for (const TokenQueue& queue : machine.token_queues)
    out["token_queues"].push_back({{"source", queue.from}, {"target", queue.to}});
  for (const CommandKind& kind : machine.kinds) {
    Json one{{"name", kind.name},
             {"engine", kind.engine},
             {"work", kWorks[static_cast<size_t>(kind.work)]}};
    for (const CommandKindField& field : command_kind_fields())
      one[std::string(field.name)] = kind.*field.member;
    out["kinds"].push_back(one);
  }
  return out;
}

EngineCommand read_command(const Json& n) {
  return {
      n.at(0),  n.at(1), n.at(2), n.at(3), n.at(4), n.at(5), {n.at(6), n.at(7), n.at(8), n.at(9)},
      n.at(10), n.at(11)};
}

Json to_json(const EngineCommand& c) {
  return {c.kind,         c.items,         c.address,        c.row_bytes,     c.rows,  c.pitch,
          c.padding.rows, c.padding.above, c.padding.passed, c.padding.below, c.takes, c.posts};
}

TiledLayer read_layer(const Json& given) {
  const Json& n = given.at("sizes");
  TiledLayer layer;
  if (n.size() == 6)
    layer.sizes = TiledGemm{n.at(0), n.at(1), n.at(2), n.at(3), n.at(4), n.at(5)};
  else
    layer.sizes = TiledConvolution{n.at(0), n.at(1), n.at(2), n.at(3),  n.at(4),  n.at(5), n.at(6),
                                   n.at(7), n.at(8), n.at(9), n.at(10), n.at(11), n.at(12)};
  layer.order = given.at("order");
  layer.contexts = given.at("contexts");
  layer.barrier = given.at("barrier");
  layer.micro = given.at("micro");
  layer.micro_each = given.at("micro_each");
  layer.bias = given.at("bias");
  return layer;
}

template <class T>
Json error_of(const Result<T>& result) {
  return {{"error", result.errors().front().text()}};
}

Json times_of(const Json& given) {
  EngineProgram program;
  for (const Json& command : given.at("commands")) program.push_back(read_command(command));
  const auto times = time_commands(program, read_machine(given.at("machine")));
  if (!times) return error_of(times);
  Json out = Json::array();
  for (const CommandSpan& one : *times) out.push_back({one.start, one.end});
  return out;
}

/// The machine of a file, with the memory of a row.
Result<EngineMachine> machine_of(const Json& given) {
  const auto hw = load_hw(given.at("file"));
  if (!hw) return hw.errors();
  EngineMachine machine = hw->engines;
  const Json& memory = given.at("memory");
  machine.page_beats = memory.at(0);
  machine.latency = memory.at(1);
  machine.reads_overlap = memory.at(2).get<bool>() ? 1 : 0;
  return machine;
}

Json program_of(const Json& given) {
  const auto machine = machine_of(given);
  if (!machine) return error_of(machine);
  const auto program = make_tiled_program(read_layer(given.at("layer")), *machine);
  if (!program) return error_of(program);
  Json commands = Json::array();
  for (const EngineCommand& command : program->commands) commands.push_back(to_json(command));
  return {{"machine", to_json(*machine)}, {"commands", commands}};
}

Json sizes_of(const TiledLayer& layer) {
  if (const auto* g = std::get_if<TiledGemm>(&layer.sizes))
    return {g->rows, g->inner, g->columns, g->tile_rows, g->tile_inner, g->tile_columns};
  const auto& c = std::get<TiledConvolution>(layer.sizes);
  return {c.height,     c.width,         c.channels,    c.kernels,   c.taps,
          c.stride,     c.pad,           c.out_height,  c.out_width, c.tile_height,
          c.tile_width, c.tile_channels, c.tile_kernels};
}

Json search_of(const Json& given) {
  const auto machine = machine_of(given);
  if (!machine) return error_of(machine);
  const auto found = search_tiled_program(read_layer(given.at("search")), *machine, {});
  if (!found) return error_of(found);
  const TiledLayer& layer = found->layer;
  return {{"found", {sizes_of(layer), layer.order, layer.contexts, layer.micro, layer.micro_each}},
          {"cycles", found->cycles.count()}};
}

Json answer_of(const Json& given) {
  if (given.contains("search")) return search_of(given);
  return given.contains("layer") ? program_of(given) : times_of(given);
}

}  // namespace

int main() {
  for (std::string line; std::getline(std::cin, line);) {
    const Json given = Json::parse(line);
    fmt::print("{}\n", answer_of(given).dump());
  }
}
