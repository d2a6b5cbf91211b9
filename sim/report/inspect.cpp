#include "sim/report/inspect.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "sim/analyse/op_kinds.h"
#include "sim/report/csv.h"

namespace accsim::sim {
namespace {

const Node& node_of(const Inspection& in, const NodeAnalysis& n) {
  return in.graph.nodes[static_cast<size_t>(n.node)];
}

TextColumn words_column(std::string header, int priority) {
  return {.header = std::move(header), .unit = "", .priority = priority, .style = TextStyle::words};
}
TextColumn count_column(std::string header, std::string unit, int priority) {
  return {.header = std::move(header),
          .unit = std::move(unit),
          .priority = priority,
          .style = TextStyle::count};
}
TextColumn fixed_column(std::string header, std::string unit, int priority) {
  return {.header = std::move(header),
          .unit = std::move(unit),
          .priority = priority,
          .style = TextStyle::fixed,
          .decimals = 2};
}

/// A field that is one of NodeAnalysis' numbers.
template <class T>
auto member_getter(T NodeAnalysis::*m) {
  return [m](const Inspection&, const NodeAnalysis& n) -> FieldValue {
    if constexpr (std::is_same_v<T, bool>)
      return int64_t{n.*m};
    else
      return n.*m;
  };
}

FieldValue share_of_macs(const Inspection& in, const NodeAnalysis& n) {
  if (in.analysis.macs == 0) return std::monostate{};
  return 100.0 * static_cast<double>(n.macs) / static_cast<double>(in.analysis.macs);
}

FieldValue kernel_value(const Inspection&, const NodeAnalysis& n) {
  if (n.kernel.empty()) return std::monostate{};
  return n.kernel;
}

std::vector<InspectField> make_inspect_fields() {
  using N = NodeAnalysis;
  return {
      {"name",
       [](const Inspection& in, const N& n) -> FieldValue { return node_of(in, n).name; },
       {words_column("layer", 0)}},
      {"op_type",
       [](const Inspection& in, const N& n) -> FieldValue { return op_label(node_of(in, n)); },
       {words_column("op", 0)}},
      {"constant", member_getter(&N::constant)},
      {"view", member_getter(&N::view)},
      {"input_shapes", member_getter(&N::inputs), {words_column("input", 3)}},
      {"output_shapes", member_getter(&N::outputs), {words_column("output", 1)}},
      {"kernel", kernel_value, {words_column("kernel", 4)}},
      {"params", member_getter(&N::params), {count_column("params", "", 0)}},
      {"buffers", member_getter(&N::buffers)},
      {"macs", member_getter(&N::macs), {count_column("MACs", "", 0)}},
      {"macs_percent", share_of_macs, {fixed_column("MACs", "%", 2)}},
      {"read_bytes", member_getter(&N::read_bytes), {count_column("read", "B", 6)}},
      {"write_bytes", member_getter(&N::write_bytes), {count_column("write", "B", 6)}},
      {"total_bytes",
       [](const Inspection&, const N& n) -> FieldValue { return n.total_bytes(); },
       {count_column("read + write", "B", 5)}},
      {"activation_read_bytes", member_getter(&N::activation_read_bytes)},
      {"weight_read_bytes", member_getter(&N::weight_read_bytes)},
      {"output_bytes", member_getter(&N::output_bytes)},
      {"module",
       [](const Inspection& in, const N& n) -> FieldValue { return node_of(in, n).module; }},
  };
}

}  // namespace

const std::vector<InspectField>& inspect_fields() {
  static const std::vector<InspectField> fields = make_inspect_fields();
  return fields;
}

namespace {

/// What layers and groups are sorted by.
int64_t sort_key(const NodeAnalysis& n, LayerSort sort) {
  switch (sort) {
    case LayerSort::order:
      return 0;
    case LayerSort::bandwidth:
      return n.total_bytes();
    case LayerSort::macs:
      return n.macs;
    case LayerSort::params:
      return n.params;
  }
  return 0;
}

void add_analysis(const NodeAnalysis& n, NodeAnalysis& to) {
  to.params += n.params;
  to.buffers += n.buffers;
  to.macs += n.macs;
  to.activation_read_bytes += n.activation_read_bytes;
  to.weight_read_bytes += n.weight_read_bytes;
  to.read_bytes += n.read_bytes;
  to.write_bytes += n.write_bytes;
  to.output_bytes += n.output_bytes;
}

std::string groups_csv(const Inspection& in, LayerSort sort) {
  std::string out = "name";
  for (const GroupField& field : group_fields()) out += "," + field.key;
  for (const InspectGroup& group : inspect_groups(in, sort)) {
    out += '\n';
    append_csv_cell(group.name, out);
    for (const GroupField& field : group_fields()) {
      out += ',';
      append_csv_cell(field.get(group), out);
    }
  }
  return out + '\n';
}

}  // namespace

std::vector<size_t> sorted_layers(const Inspection& in, LayerSort sort) {
  std::vector<size_t> out(in.analysis.nodes.size());
  std::iota(out.begin(), out.end(), size_t{0});
  const auto key = [&](size_t i) { return sort_key(in.analysis.nodes[i], sort); };
  std::stable_sort(out.begin(), out.end(), [&](size_t a, size_t b) { return key(a) > key(b); });
  return out;
}

std::vector<InspectGroup> inspect_groups(const Inspection& in, LayerSort sort) {
  std::vector<InspectGroup> out;
  if (!in.by) return out;
  std::map<std::string, size_t> known;
  for (const NodeAnalysis& n : in.analysis.nodes) {
    const Node& node = node_of(in, n);
    const std::string name =
        in.by->by == Grouping::By::op ? op_label(node) : outer_module(node.module, in.by->depth);
    const auto [place, is_new] = known.emplace(name, out.size());
    if (is_new) out.push_back({.name = name, .sums = {}});
    InspectGroup& group = out[place->second];
    ++group.nodes;
    add_analysis(n, group.sums);
  }
  std::stable_sort(out.begin(), out.end(), [&](const InspectGroup& a, const InspectGroup& b) {
    return sort_key(a.sums, sort) > sort_key(b.sums, sort);
  });
  return out;
}

const std::vector<GroupField>& group_fields() {
  using Group = InspectGroup;
  static const std::vector<GroupField> fields = {
      {"nodes", [](const Group& g) { return g.nodes; }, count_column("nodes", "", 1)},
      {"params", [](const Group& g) { return g.sums.params; }, count_column("params", "", 0)},
      {"buffers", [](const Group& g) { return g.sums.buffers; }, count_column("buffers", "", 3)},
      {"macs", [](const Group& g) { return g.sums.macs; }, count_column("MACs", "", 0)},
      {"output_bytes", [](const Group& g) { return g.sums.output_bytes; },
       count_column("activations", "B", 0)},
      {"read_bytes", [](const Group& g) { return g.sums.read_bytes; },
       count_column("read", "B", 2)},
      {"write_bytes", [](const Group& g) { return g.sums.write_bytes; },
       count_column("write", "B", 2)},
  };
  return fields;
}

std::string inspect_csv(const Inspection& in, LayerSort sort) {
  if (in.by) return groups_csv(in, sort);
  std::string out;
  for (const InspectField& field : inspect_fields()) out += field.key + ',';
  out.back() = '\n';
  for (size_t i : sorted_layers(in, sort)) {
    for (const InspectField& field : inspect_fields()) {
      append_csv_cell(field.get(in, in.analysis.nodes[i]), out);
      out += ',';
    }
    out.back() = '\n';
  }
  return out;
}

std::string_view name(MacConvention convention) {
  switch (convention) {
    case MacConvention::pure:
      return "pure";
    case MacConvention::bias:
      return "bias";
    case MacConvention::all:
      return "all";
  }
  return "";
}

std::string_view name(ReadConvention convention) {
  return convention == ReadConvention::all ? "all" : "activations";
}

std::string node_name(const Inspection& in, NodeId node) {
  return node == kNoNode ? std::string() : in.graph.nodes[static_cast<size_t>(node)].name;
}

std::string tensor_name(const Inspection& in, TensorId id) {
  return id == kNoTensor ? std::string() : in.graph.tensor(id).name;
}

std::string step_name(const Inspection& in, const MemoryPlan& plan, int place) {
  if (place < 0) return {};
  const int step = plan.order[static_cast<size_t>(place)];
  return node_name(in, in.analysis.activation.storage.steps[static_cast<size_t>(step)].node);
}

}  // namespace accsim::sim
