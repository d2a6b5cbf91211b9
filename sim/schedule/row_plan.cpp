#include "sim/schedule/row_plan.h"

#include <algorithm>

namespace accsim::sim {
namespace {

constexpr int64_t kMostTurns = 10'000;  ///< of a run

/// Pieces of a run from which on as many are alive at once as of more: all ops have one by then.
int64_t enough_pieces(const RowGroup& run, int64_t count) {
  return std::min(count, 2 * std::ssize(run.ops) + 2);
}

}  // namespace

int64_t RowPlan::dram_bytes() const {
  std::vector<int64_t> times(mappings.size(), 0);
  for (const PartStep& t : order) ++times[t.k];
  int64_t out = 0;
  for (size_t k = 0; k < mappings.size(); ++k)
    out += times[k] * mappings[k]->counts.moved(hw::MemoryId::dram).count();
  return out;
}

std::vector<bool> RowPlanner::on_array(const RowGroup& run) const {
  std::vector<bool> out;
  for (const size_t op : run.ops)
    out.push_back(std::holds_alternative<GemmOp>(ops[op].request->item));
  return out;
}

std::vector<int64_t> RowPlanner::piece_counts(const RowGroup& run) const {
  int64_t batch = 1;
  for (const OpFlow& f : run.flows) batch = std::max(batch, f.batch);
  const int64_t rows = run.flows[0].count / batch, most = kMostTurns / std::ssize(run.ops);
  std::vector<int64_t> out;
  for (int64_t n = 1; n <= rows && batch <= most / n; ++n)
    if (rows % n == 0 && batch * n > 1) out.push_back(batch * n);
  return out;
}

std::optional<RowPlan> RowPlanner::plan_run(const RowGroup& run, const RowTileShape& as) const {
  const int64_t count = as.pieces;
  const std::vector<bool> array = on_array(run);
  const std::vector<int64_t> alive = most_alive(
      in_parts(interleave(array, enough_pieces(run, count)), array, as.parts), array, as.parts);
  RowPlan out{&run, as, {}, {}, {}, {}, run.shared_beside};
  std::vector<OpRequest> requests;
  for (size_t k = 0; k < run.ops.size(); ++k) {
    const OpRequest& whole = *ops[run.ops[k]].request;
    auto pieces = pieces_of_rows(whole.item, run.flows[k], count * (array[k] ? 1 : as.parts));
    if (!pieces) return std::nullopt;
    requests.push_back(whole);
    requests.back().item = std::move(pieces->item);
    out.operands.push_back(std::move(pieces->operands));
  }
  for (size_t k = 0; k + 1 < run.ops.size(); ++k) {
    const int64_t bytes = alive[k] * run.piece_bytes(k, count);
    const bool fits = out.shared + bytes <= capacity;
    const hw::MemoryId to = fits ? hw::MemoryId::shared : hw::MemoryId::dram;
    if (fits) out.shared += bytes;
    out.between.push_back(to);
    move_rows(requests[k], run.flows[k], true, to);
    move_rows(requests[k + 1], run.flows[k + 1], false, to);
  }
  if (out.shared > capacity) return std::nullopt;
  for (size_t k = 0; k < run.ops.size(); ++k) {
    const std::string& layer = lowered.layers[ops[run.ops[k]].layer].name;
    const int64_t chunks = as.parts > 1 ? 1 : as.chunks;
    const auto mapping = mapper.map_piece(requests[k], {.chunks = chunks}, layer);
    if (!mapping || !loads_first((*mapping)->trace)) return std::nullopt;
    out.mappings.push_back(*mapping);
  }
  out.order = in_parts(interleave(array, count), array, as.parts);
  return out;
}

StepTensors::StepTensors(const RowPlan& plan, std::span<const ChainOp> ops,
                         std::span<const LayerTensors> tensors, int32_t own)
    : plan_(plan), own_(own) {
  const RowGroup& run = *plan.run;
  for (size_t k = 0; k < run.ops.size(); ++k) {
    const OpTrace& trace = plan.mappings[k]->trace;
    const ChainOp& of = ops[run.ops[k]];
    Op op{tensor_numbers(trace, of.request->ports, tensors[of.layer]), {}, {}};
    for (size_t i = 0; i < trace.ports.size(); ++i) {
      if (k > 0 && trace.ports[i] == run.flows[k].in) op.in.push_back(i);
      if (k + 1 < run.ops.size() && trace.ports[i] == run.flows[k].out) op.out.push_back(i);
    }
    ops_.push_back(std::move(op));
  }
}

std::span<const int32_t> StepTensors::tensors_of_step(const PartStep& turn) {
  Op& op = ops_[turn.k];
  const auto between = [&](size_t k) {
    return own_ + static_cast<int32_t>(static_cast<int64_t>(k) * plan_.cut.pieces + turn.piece);
  };
  for (const size_t i : op.in) op.numbers[i] = between(turn.k - 1);
  for (const size_t i : op.out) op.numbers[i] = between(turn.k);
  return op.numbers;
}

}  // namespace accsim::sim
