#pragma once
#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "hw/program/visit.h"
#include "hw/timing/timing.h"
#include "tests/support/index.h"

/// Programs on machines as JSON, for tests/oracle/timing_simulator.py: all that time depends on.
namespace accsim::test {

using Json = nlohmann::ordered_json;

inline Json channel_json(const hw::ChannelConfig& c) {
  return {{"read", c.read.milli}, {"write", c.write.milli}, {"latency", c.latency}};
}

/// A number a class of lanes.
inline Json by_class(const std::array<int64_t, hw::kLaneClasses>& numbers) {
  Json out = Json::object();
  for (size_t i = 0; i < hw::kLaneClasses; ++i)
    out[std::string(hw::kLaneClassNames[i])] = numbers[i];
  return out;
}

inline Json machine_json(const hw::HwConfig& machine) {
  Json buffers;
  for (size_t b = 0; b < hw::kBuffers; ++b)
    buffers[name(static_cast<hw::Buffer>(b))] = {{"slots", machine.buffers[b].slots},
                                                 {"port", machine.buffers[b].width}};
  return {{"rows", machine.array.rows},
          {"cols", machine.array.cols},
          {"fill_rows", machine.array.fill_rows},
          {"buffers", std::move(buffers)},
          {"dram", channel_json(machine.dram)},
          {"shared", channel_json(machine.shared.channel)},
          {"lanes", by_class(machine.vector.lanes)},
          {"mac_lanes", machine.vector.mac_lanes}};
}

/// A tensor of a program, whose names needn't be different.
inline std::string tensor_name(int tensor) { return fmt::format("tensor {}", tensor); }

/// Slots of the regions.
inline Json regions_json(const hw::Program& p) {
  Json out = Json::object();
  for (size_t i = 0; i < p.tensors.size(); ++i)
    if (p.tensors[i].slots > 0) out[tensor_name(static_cast<int>(i))] = p.tensors[i].slots;
  return out;
}

inline Json transfer_json(const hw::Program& p, int tensor, const hw::Walk& walk) {
  return {{"memory", name(p.tensors[as_index(tensor)].memory)},
          {"runs", walk.run_count()},
          {"run", walk.run}};
}

inline Json load_json(const hw::Program& p, const hw::LoadCommand& c) {
  Json out = transfer_json(p, c.tensor, c.walk);
  out["buffer"] = name(c.buffer);
  if (c.transposed > 0) {
    out["rows"] = c.walk.levels.back().count;
    out["element"] = c.transposed;
  }
  if (c.gather) out["items"] = c.walk.levels[0].count;
  return {{"load", std::move(out)}};
}

inline Json command_json(const hw::Program& p, const hw::Command& command) {
  if (const auto* c = std::get_if<hw::LoadCommand>(&command)) return load_json(p, *c);
  if (const auto* c = std::get_if<hw::StoreCommand>(&command))
    return {{"store", transfer_json(p, c->tensor, c->walk)}};
  if (const auto* c = std::get_if<hw::GemmCommand>(&command))
    return {{"gemm", {{"m", c->m}, {"k", c->k}, {"n", c->n}}}};
  if (const auto* c = std::get_if<hw::PostCommand>(&command))
    return {{"post", {{"rows", c->rows}, {"cols", c->cols}, {"groups", c->groups}}}};
  if (const auto* c = std::get_if<hw::VectorCommand>(&command))
    return {{"vector", {{"ops", by_class(c->ops)}, {"in", c->in_bytes}, {"out", c->out_bytes}}}};
  if (const auto* c = std::get_if<hw::SetTableCommand>(&command))
    return {{"table", {{"unit", name(c->unit)}}}};
  if (const auto* c = std::get_if<hw::LaneCommand>(&command))
    return {{"lane",
             {{"rows", c->row_count()},
              {"run", c->run},
              {"taps", c->tap_count()},
              {"slide", c->slide},
              {"columns", c->taps[0]},
              {"line", c->rows[hw::kLaneLevels - 1]},
              {"across", c->across},
              {"weighs", c->weighs()},
              {"b", c->b ? name(c->b->buffer) : "none"}}}};
  if (const auto* c = std::get_if<hw::RowCommand>(&command))
    return {{"row",
             {{"op", name(c->op)},
              {"rows", c->row_count()},
              {"pieces", c->pieces},
              {"run", c->run},
              {"per_channel", c->per_channel},
              {"mask", c->mask.has_value()},
              {"logarithm", c->logarithm.has_value()}}}};
  if (const auto* c = std::get_if<hw::StageCommand>(&command)) {
    Json out = transfer_json(p, c->from, c->walk);
    return {{"stage", {{"from", out["memory"]}, {"runs", out["runs"]}, {"run", out["run"]}}}};
  }
  return {{"drain", Json::object()}};
}

inline Json body_json(const hw::Program& p) {
  Json out = Json::array();
  const auto loop = [&](const hw::Loop& l, const auto& inner) {
    Json before = std::exchange(out, Json::array());
    inner();
    before.push_back({{"loop", l.count}, {"body", std::move(out)}});
    out = std::move(before);
  };
  const auto sync = [&](const hw::Sync& s) {
    const std::string of = s.region < 0 ? std::string(name(s.buffer)) : tensor_name(s.region);
    out.push_back({{name(s.kind), {name(s.queue), of}}});
  };
  const auto mark = [&](const hw::Mark& m) {
    out.push_back({{m.waits ? "wait_marks" : "mark", {name(m.queue), tensor_name(m.tensor)}}});
  };
  const auto head = [&](const hw::LayerHead& h) { out.push_back({{"layer", name(h.dataflow)}}); };
  const auto command = [&](const hw::Command& c) { out.push_back(command_json(p, c)); };
  visit_nest(p.body, hw::Overloaded{loop, sync, mark, head, command});
  return out;
}

/// The program with what the model says of it, event by event: in which cycle each command's result
/// is visible, by queue, and the program's last. Nothing when it runs more than `most` commands.
inline std::optional<Json> timed_json(const hw::Program& p, const hw::HwConfig& machine,
                                      int64_t most) {
  Json finish;
  for (const hw::Queue q : hw::Queue::all()) finish[name(q)] = Json::array();
  int64_t commands = 0;
  const hw::Timing timing =
      simulate(p, machine, hw::TimingMode::step, [&](const hw::CommandTime& t) {
        if (++commands <= most) finish[name(t.queue)].push_back(t.finish);
      });
  if (commands > most) return std::nullopt;
  return Json{{"machine", machine_json(machine)}, {"dataflow", name(p.dataflow)},
              {"regions", regions_json(p)},       {"body", body_json(p)},
              {"finish", std::move(finish)},      {"total", timing.total.count()}};
}

}  // namespace accsim::test
