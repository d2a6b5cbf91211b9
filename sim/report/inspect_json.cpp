#include <cmath>

#include "sim/base/json_text.h"
#include "sim/report/assumptions.h"
#include "sim/report/inspect.h"
#include "sim/report/to_json.h"

namespace accsim::sim {
namespace {

Json graph_json(const Inspection& in) {
  Json bindings = Json::object();
  for (const auto& [symbol, value] : in.graph.bindings) bindings[symbol] = value;
  return {{"name", in.graph.name},           {"file", in.graph.file},
          {"opset", in.graph.opset},         {"ir_version", in.graph.ir_version},
          {"nodes", in.graph.nodes.size()},  {"bindings", bindings},
          {"defaulted", in.graph.defaulted}, {"assumed", assumptions_json(in.graph.assumed)}};
}

/// Whole numbers without a fraction, as the file has them.
Json number_json(double v) {
  constexpr double kExact = 9007199254740992.0;  // 2^53
  if (std::trunc(v) == v && std::abs(v) <= kExact) return static_cast<int64_t>(v);
  return v;
}

Json attribute_json(const AttributeSummary& summary) {
  Json values = Json::array();
  for (const AttributeValue& value : summary.values) values.push_back(std::visit(ToJson{}, value));
  Json out = {{"count", summary.count}, {"distinct", summary.distinct}, {"values", values}};
  if (summary.least && summary.most) {
    out["min"] = number_json(*summary.least);
    out["max"] = number_json(*summary.most);
  }
  return out;
}

Json ops_json(const Analysis& analysis) {
  Json out = Json::object();
  for (const auto& [label, op] : analysis.ops) {
    Json attributes = Json::object();
    for (const auto& [key, summary] : op.attributes) attributes[key] = attribute_json(summary);
    Json shapes = Json::array();
    for (const auto& [both, count] : op.shapes)
      shapes.push_back({{"inputs", both.first}, {"outputs", both.second}, {"count", count}});
    out[label] = {{"count", op.count},
                  {"constant", op.constant},
                  {"attributes", attributes},
                  {"shapes", shapes}};
  }
  return out;
}

Json tensor_names(const Inspection& in, const Storage::Buffer& buffer) {
  Json out = Json::array();
  for (TensorId id : buffer.tensors) out.push_back(tensor_name(in, id));
  return out;
}

/// The keys of a plan: what the live set needs, and where the arena puts each tensor.
void add_plan(const Inspection& in, const MemoryPlan& plan, Json& out) {
  const auto& buffers = in.analysis.activation.storage.buffers;
  out["peak_live_bytes"] = plan.peak.bytes;
  out["peak_node"] = step_name(in, plan, plan.peak.place);
  out["arena_bytes"] = plan.arena.bytes;
  out["arena_lower_bound_bytes"] = plan.peak.bytes;
  Json live = Json::array();
  for (int b : plan.peak.buffers) {
    const auto& buffer = buffers[static_cast<size_t>(b)];
    live.push_back({{"tensors", tensor_names(in, buffer)}, {"bytes", buffer.bytes}});
  }
  out["live_at_peak"] = std::move(live);
  Json arena = Json::array();
  for (size_t b = 0; b < buffers.size(); ++b)
    arena.push_back({{"tensors", tensor_names(in, buffers[b])},
                     {"offset", plan.arena.offsets[b]},
                     {"bytes", buffers[b].bytes},
                     {"first", plan.lives[b].first},
                     {"last", plan.lives[b].last}});
  out["arena"] = std::move(arena);
}

Json activation_json(const Inspection& in) {
  const Activation& a = in.analysis.activation;
  Json out = {{"sum_bytes", a.sum_bytes},
              {"largest_bytes", a.largest_bytes},
              {"largest_tensor", tensor_name(in, a.largest)},
              {"in_place", in.analysis.options.in_place},
              {"view_tensors", a.storage.views},
              {"in_place_tensors", a.storage.in_place}};
  add_plan(in, a.given, out);
  for (const MemoryPlan& plan : a.reordered) {
    Json order = Json::array();
    for (size_t i = 0; i < plan.order.size(); ++i)
      order.push_back(step_name(in, plan, static_cast<int>(i)));
    Json reordered = Json::object();
    add_plan(in, plan, reordered);
    reordered["order"] = std::move(order);
    out["reordered"] = std::move(reordered);
  }
  return out;
}

Json bandwidth_json(const Inspection& in) {
  const Analysis& a = in.analysis;
  const int64_t peak =
      a.peak_node == kNoNode ? 0 : a.nodes[static_cast<size_t>(a.peak_node)].total_bytes();
  return {{"reads", name(a.options.reads)},
          {"read_bytes", a.read_bytes},
          {"write_bytes", a.write_bytes},
          {"total_bytes", a.total_bytes()},
          {"activation_read_bytes", a.activation_read_bytes},
          {"weight_read_bytes", a.weight_read_bytes},
          {"peak_node", node_name(in, a.peak_node)},
          {"peak_bytes", peak}};
}

Json node_json(const Inspection& in, const NodeAnalysis& node) {
  Json out = Json::object();
  for (const InspectField& field : inspect_fields())
    out[field.key] = std::visit(ToJson{}, field.get(in, node));
  out["constant"] = node.constant;
  out["view"] = node.view;
  return out;
}

Json inspect_group_json(const InspectGroup& group) {
  Json out = {{"name", group.name}};
  for (const GroupField& field : group_fields()) out[field.key] = field.get(group);
  return out;
}

}  // namespace

std::string inspect_json(const Inspection& in) {
  const Analysis& a = in.analysis;
  std::string out = "{\n  \"schema\": \"accsim.inspect/1\"";
  const auto section = [&out](std::string_view key, const Json& json) {
    out += ",\n  \"";
    out += key;
    out += "\": " + json_text(json);
  };
  section("model", graph_json(in));
  section("macs_convention", std::string(name(a.options.macs)));
  section("params", a.params);
  section("buffers", a.buffers);
  section("weight_bytes", a.weight_bytes);
  section("weight_bytes_without_bias", a.weight_bytes_without_bias);
  section("bytes_by_type", a.bytes_by_type);
  section("params_by_type", a.params_by_type);
  section("macs", a.macs);
  section("macs_by_op", a.macs_by_op);
  section("sizes", {{"input_bytes", a.input_bytes},
                    {"forward_bytes", a.activation.sum_bytes},
                    {"forward_backward_bytes", a.forward_backward_bytes},
                    {"params_bytes", a.weight_bytes},
                    {"total_bytes", a.input_bytes + a.activation.sum_bytes + a.weight_bytes}});
  section("ops", ops_json(a));
  section("activation", activation_json(in));
  section("bandwidth", bandwidth_json(in));
  section("unsupported", in.lowered.unsupported);
  const auto lines = [&out](std::string_view key, const auto& entries, const auto& one) {
    out += ",\n  \"";
    out += key;
    out += "\": [";
    for (size_t i = 0; i < entries.size(); ++i)
      out += (i == 0 ? "\n    " : ",\n    ") + json_text(one(entries[i]));
    out += entries.empty() ? "]" : "\n  ]";
  };
  if (in.by) {
    section("grouped_by", grouping_word(*in.by));
    lines("groups", inspect_groups(in, LayerSort::order), inspect_group_json);
  }
  lines("layers", a.nodes, [&](const NodeAnalysis& node) { return node_json(in, node); });
  return out + "\n}\n";
}

}  // namespace accsim::sim
