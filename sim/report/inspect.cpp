#include "sim/report/inspect.h"

#include <algorithm>
#include <numeric>

#include "sim/analyse/op_kinds.h"
#include "sim/report/csv.h"

namespace accsim::sim {
namespace {

const Node& node_of(const Inspection& in, const NodeAnalysis& n) {
  return in.graph.nodes[static_cast<size_t>(n.node)];
}

TextColumn words(std::string header, int priority) {
  return {.header = std::move(header), .unit = "", .priority = priority, .style = TextStyle::words};
}
TextColumn count(std::string header, std::string unit, int priority) {
  return {.header = std::move(header),
          .unit = std::move(unit),
          .priority = priority,
          .style = TextStyle::count};
}
TextColumn fixed(std::string header, std::string unit, int priority) {
  return {.header = std::move(header),
          .unit = std::move(unit),
          .priority = priority,
          .style = TextStyle::fixed,
          .decimals = 2};
}

/// A field that is one of NodeAnalysis' numbers.
template <class T>
auto member(T NodeAnalysis::*m) {
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

FieldValue kernel(const Inspection&, const NodeAnalysis& n) {
  if (n.kernel.empty()) return std::monostate{};
  return n.kernel;
}

std::vector<InspectField> make_inspect_fields() {
  using N = NodeAnalysis;
  return {
      {"name",
       [](const Inspection& in, const N& n) -> FieldValue { return node_of(in, n).name; },
       {words("layer", 0)}},
      {"op_type",
       [](const Inspection& in, const N& n) -> FieldValue { return op_label(node_of(in, n)); },
       {words("op", 0)}},
      {"constant", member(&N::constant)},
      {"view", member(&N::view)},
      {"input_shapes", member(&N::inputs), {words("input", 3)}},
      {"output_shapes", member(&N::outputs), {words("output", 1)}},
      {"kernel", kernel, {words("kernel", 4)}},
      {"params", member(&N::params), {count("params", "", 0)}},
      {"buffers", member(&N::buffers)},
      {"macs", member(&N::macs), {count("MACs", "", 0)}},
      {"macs_percent", share_of_macs, {fixed("MACs", "%", 2)}},
      {"read_bytes", member(&N::read_bytes), {count("read", "B", 6)}},
      {"write_bytes", member(&N::write_bytes), {count("write", "B", 6)}},
      {"total_bytes",
       [](const Inspection&, const N& n) -> FieldValue { return n.total_bytes(); },
       {count("read + write", "B", 5)}},
      {"activation_read_bytes", member(&N::activation_read_bytes)},
      {"weight_read_bytes", member(&N::weight_read_bytes)},
  };
}

}  // namespace

const std::vector<InspectField>& inspect_fields() {
  static const std::vector<InspectField> fields = make_inspect_fields();
  return fields;
}

std::vector<size_t> sorted_layers(const Inspection& in, LayerSort sort) {
  std::vector<size_t> out(in.analysis.nodes.size());
  std::iota(out.begin(), out.end(), size_t{0});
  const auto key = [&](size_t i) -> int64_t {
    const NodeAnalysis& n = in.analysis.nodes[i];
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
  };
  std::stable_sort(out.begin(), out.end(), [&](size_t a, size_t b) { return key(a) > key(b); });
  return out;
}

std::string inspect_csv(const Inspection& in, LayerSort sort) {
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
