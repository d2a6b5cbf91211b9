// Random programs on random machines, with the cycle in which each command's result is visible, as
// JSON, one a line: for a simulator that shares no code with this one (timing_oracle_test.py).
//   build/tests/print_timings [COUNT] [SEED] [MOST COMMANDS]
#include <fmt/format.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <random>

#include "hw/timing/timing.h"
#include "tests/support/machines.h"
#include "tests/support/programs.h"

namespace accsim::hw {
namespace {

using Json = nlohmann::ordered_json;

Json channel(const ChannelConfig& c) {
  return {{"read", c.read.milli}, {"write", c.write.milli}, {"latency", c.latency}};
}

/// A number a class of lanes.
Json by_class(const std::array<int64_t, kLaneClasses>& numbers) {
  Json out = Json::object();
  for (size_t i = 0; i < kLaneClasses; ++i) out[std::string(kLaneClassNames[i])] = numbers[i];
  return out;
}

Json machine(const HwConfig& hw) {
  Json buffers;
  for (size_t b = 0; b < kBuffers; ++b)
    buffers[name(static_cast<Buffer>(b))] = {{"slots", hw.buffers[b].slots},
                                             {"port", hw.buffers[b].width}};
  return {{"rows", hw.array.rows},
          {"cols", hw.array.cols},
          {"buffers", std::move(buffers)},
          {"dram", channel(hw.dram)},
          {"shared", channel(hw.shared.channel)},
          {"lanes", by_class(hw.vector.lanes)}};
}

Json transfer(const Program& p, int tensor, const Walk& walk) {
  return {{"memory", name(p.tensors[static_cast<size_t>(tensor)].memory)},
          {"runs", walk.runs()},
          {"run", walk.run}};
}

Json command(const Program& p, const Command& command) {
  if (const auto* c = std::get_if<LoadCommand>(&command)) {
    Json out = transfer(p, c->tensor, c->walk);
    out["buffer"] = name(c->buffer);
    if (c->transposed > 0) {
      out["rows"] = c->walk.levels.back().count;
      out["element"] = c->transposed;
    }
    if (c->gather) out["items"] = c->walk.levels[0].count;
    return {{"load", std::move(out)}};
  }
  if (const auto* c = std::get_if<StoreCommand>(&command))
    return {{"store", transfer(p, c->tensor, c->walk)}};
  if (const auto* c = std::get_if<GemmCommand>(&command))
    return {{"gemm", {{"m", c->m}, {"k", c->k}, {"n", c->n}}}};
  if (const auto* c = std::get_if<PostCommand>(&command))
    return {{"post", {{"rows", c->rows}, {"cols", c->cols}, {"groups", c->groups}}}};
  if (const auto* c = std::get_if<VectorCommand>(&command))
    return {{"vector", {{"ops", by_class(c->ops)}, {"in", c->in_bytes}, {"out", c->out_bytes}}}};
  if (const auto* c = std::get_if<SetTableCommand>(&command))
    return {{"table", {{"unit", name(c->unit)}}}};
  if (const auto* c = std::get_if<LaneCommand>(&command))
    return {{"lane",
             {{"rows", c->row_count()},
              {"run", c->run},
              {"taps", c->tap_count()},
              {"across", c->across},
              {"b", c->b ? name(c->b->buffer) : "none"}}}};
  if (const auto* c = std::get_if<RowCommand>(&command))
    return {{"row",
             {{"op", name(c->op)},
              {"rows", c->row_count()},
              {"pieces", c->pieces},
              {"run", c->run},
              {"per_channel", c->per_channel},
              {"mask", c->mask.has_value()}}}};
  if (const auto* c = std::get_if<StageCommand>(&command)) {
    Json out = transfer(p, c->from, c->walk);
    return {{"stage", {{"from", out["memory"]}, {"runs", out["runs"]}, {"run", out["run"]}}}};
  }
  return {{"drain", Json::object()}};
}

size_t at(int index) { return static_cast<size_t>(index); }

/// Slots by name.
Json regions(const Program& p) {
  Json out = Json::object();
  for (const ProgramTensor& t : p.tensors)
    if (t.slots > 0) out[t.name] = t.slots;
  return out;
}

Json body(const Program& p, const std::vector<Item>& items) {
  Json out = Json::array();
  for (const Item& item : items) {
    if (const auto* loop = std::get_if<Loop>(&item.node))
      out.push_back({{"loop", loop->count}, {"body", body(p, loop->body)}});
    else if (const auto* sync = std::get_if<Sync>(&item.node))
      out.push_back({{name(sync->kind),
                      {name(sync->queue), sync->region < 0 ? std::string(name(sync->buffer))
                                                           : p.tensors[at(sync->region)].name}}});
    else if (const auto* mark = std::get_if<Mark>(&item.node))
      out.push_back({{mark->waits ? "wait_marks" : "mark",
                      {name(mark->queue), p.tensors[at(mark->tensor)].name}}});
    else if (const auto* head = std::get_if<LayerHead>(&item.node))
      out.push_back({{"layer", name(head->dataflow)}});
    else
      out.push_back(command(p, std::get<Command>(item.node)));
  }
  return out;
}

/// False when the program runs more than `most` commands: nothing is printed.
bool print_json(const Program& p, const HwConfig& hw, int64_t most) {
  Json finish;
  for (size_t q = 0; q < kQueues; ++q) finish[name(static_cast<Queue>(q))] = Json::array();
  int64_t commands = 0;
  const Timing timing = simulate(p, hw, TimingMode::step, [&](const CommandTime& t) {
    if (++commands <= most) finish[name(t.queue)].push_back(t.finish);
  });
  if (commands > most) return false;
  const Json line = {{"machine", machine(hw)},      {"dataflow", name(p.dataflow)},
                     {"regions", regions(p)},       {"body", body(p, p.body)},
                     {"finish", std::move(finish)}, {"total", timing.total.count()}};
  fmt::print("{}\n", line.dump());
  return true;
}

}  // namespace
}  // namespace accsim::hw

int main(int argc, char** argv) {
  const auto argument = [&](int i, int64_t otherwise) {
    return argc > i ? std::strtoll(argv[i], nullptr, 10) : otherwise;
  };
  const int64_t count = argument(1, 1000), most = argument(3, 2000);
  using accsim::hw::print_json;
  std::mt19937 random(static_cast<unsigned>(argument(2, 1)));
  for (int64_t i = 0; i < count;) {
    accsim::hw::HwConfig hw = accsim::test::random_machine(random);
    accsim::test::draw_channels(hw, random);
    const accsim::hw::Program p = accsim::test::random_program(random);
    if (accsim::hw::verify(p, hw).ok() && print_json(p, hw, most)) ++i;
  }
}
