#include "sim/sweep/spec_hash.h"

#include <fmt/format.h>

#include "hw/config/values.h"
#include "sim/base/hash.h"
#include "sim/cost/requests.h"
#include "sim/lower/lower.h"

namespace accsim::sim {
namespace {

/// All that costing reads of a network: its tensors, who reads and writes them, and what each layer
/// asks of the base machine's mapper.
std::string graph_text(const Graph& graph, const hw::HwConfig& base) {
  std::string out;
  for (const Tensor& t : graph.tensors)
    out += fmt::format("{} {} {} {}\n", t.name, name(t.dtype), fmt::join(t.dims, "x"), t.constant);
  for (const Node& n : graph.nodes)
    out += fmt::format("{} {} {}:{}\n", n.name, n.op_type, fmt::join(n.inputs, ","),
                       fmt::join(n.outputs, ","));
  const Result<Lowered> lowered = lower_in_memory(graph);
  if (!lowered) return out;
  const Residency residency = plan_residency(graph, *lowered, base);
  for (const Layer& layer : lowered->layers)
    for (const OpRequest& request : layer_requests(graph, layer, residency, base)) {
      out += key_of(request);
      for (const auto* side : {&request.ports.inputs, &request.ports.outputs})
        for (const LayerPorts::Port& port : *side)
          out += fmt::format("{}+{} ", port.index, port.offset);
    }
  return out;
}

}  // namespace

std::string spec_hash(const SweepSpec& spec) {
  std::string text = machine_text(spec.base);
  hw::HwConfig scratch = spec.base;
  for (const Axis& axis : spec.axes) {
    text += fmt::format("axis {}\n", axis.name);
    for (const AxisStep& step : axis.steps) {
      text += step.label;
      for (size_t k = 0; k < axis.fields.size(); ++k) {
        set_field(*axis.fields[k], step.fields[k], scratch);
        text +=
            fmt::format(" {}={}", axis.fields[k]->path, hw::print_value(*axis.fields[k], scratch));
      }
      text += '\n';
    }
  }
  for (const Expression& c : spec.constraints) text += c.text() + "\n";
  for (const SweepModel& m : spec.models) {
    text += fmt::format("model {} {}\n", m.weight, hash_text(graph_text(m.graph, spec.base)));
    text += fmt::format("{} {}\n", kPhases[static_cast<size_t>(m.phase)],
                        m.tokens ? m.tokens->text() : "");
    for (const BoundSize& b : m.bound) text += fmt::format("bind {} {}\n", b.symbol, b.size.text());
  }
  for (const Metric m : spec.objectives) text += fmt::format("{} ", metric_info(m).name);
  text += fmt::format("\n{} {} {} {} {} {} {}\n", name(spec.strategy), spec.seed, spec.count,
                      static_cast<int>(spec.mapping.effort), name(spec.mapping.objective),
                      spec.mapping.slack, spec.layers);
  return hash_text(text);
}

}  // namespace accsim::sim
