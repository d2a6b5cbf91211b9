#include "sim/sweep/phases.h"

#include <algorithm>

#include "sim/base/sums.h"
#include "sim/cost/product_modes.h"
#include "sim/operators/names.h"
#include "sim/operators/op_table.h"

namespace accsim::sim {
namespace {

constexpr std::string_view kPastPort = "past";  ///< begins the names of such inputs

bool is_output(const Graph& graph, TensorId id) {
  return std::ranges::find(graph.outputs, id) != graph.outputs.end();
}

/// Whether input i of the node is what it appends to.
bool is_appended_to(const Graph& graph, const Node& node, size_t i) {
  const Tensor& tensor = graph.tensor(node.inputs[i]);
  if (tensor.origin != Tensor::Origin::input || !is_float(tensor.dtype)) return false;
  if (node.op_type == op::kConcat && node.domain.empty())
    return is_output(graph, node.outputs.front());
  const OpRow* row = find_op(node);
  return row != nullptr && i < row->ports.size() && row->ports[i].name.starts_with(kPastPort);
}

void add_share(PhaseTotals& row, const PhaseShare& share) {
  const auto add = [](int64_t& sum, int64_t times, int64_t count) {
    sum = add_counts(sum, multiply_counts(times, count));
  };
  const PhaseTotals& once = share.once;
  add(row.tokens, share.weight, once.tokens);
  add(row.cycles, share.weight, once.cycles);
  row.energy_pj += static_cast<double>(share.weight) * once.energy_pj;
  add(row.dram_read_bytes, share.weight, once.dram_read_bytes);
  add(row.dram_write_bytes, share.weight, once.dram_write_bytes);
  if (once.tokens == 0) {
    add(row.weight_bytes, 1, once.weight_bytes);
    add(row.cache_bytes, 1, once.cache_bytes);
    return;
  }
  row.runs = add_counts(row.runs, share.weight);
  row.weight_bytes = std::max(row.weight_bytes, once.weight_bytes);
  row.cache_bytes = std::max(row.cache_bytes, once.cache_bytes);
}

}  // namespace

std::vector<PhaseTotals> sum_phases(std::span<const PhaseShare> networks) {
  std::vector<PhaseTotals> rows;
  for (const bool parts : {false, true})  // memory of parts comes on top of the largest run's
    for (const PhaseShare& share : networks) {
      if ((share.once.tokens == 0) != parts) continue;
      auto row = std::ranges::find(rows, share.once.phase, &PhaseTotals::phase);
      if (row == rows.end()) row = rows.insert(row, {.phase = share.once.phase});
      add_share(*row, share);
    }
  return rows;
}

int64_t weight_memory(const Lowered& lowered, const hw::HwConfig& hw) {
  if (hw.types.modes.empty()) return multiply_counts(lowered.params, bits(hw.types.weight)) / 8;
  int64_t bits_of_all = 0;
  for (const Parameter& p : lowered.parameters) {
    if (p.buffer) continue;
    const DType stored = machine_type(p.type);
    const DType type = stored == DType::undefined ? hw.types.weight : stored;
    bits_of_all = add_counts(bits_of_all, multiply_counts(p.count, bits(type)));
  }
  return bits_of_all / 8;
}

int64_t cache_memory(const Graph& graph, const hw::HwConfig& hw) {
  std::vector<bool> counted(graph.tensors.size());
  int64_t sum = 0;
  for (const Node& node : graph.nodes)
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const TensorId id = node.inputs[i];
      if (id == kNoTensor || counted[static_cast<size_t>(id)] || !is_appended_to(graph, node, i))
        continue;
      counted[static_cast<size_t>(id)] = true;
      sum =
          add_counts(sum, multiply_counts(elements(graph.tensor(id).dims), hw.activation_bytes()));
    }
  return sum;
}

}  // namespace accsim::sim
