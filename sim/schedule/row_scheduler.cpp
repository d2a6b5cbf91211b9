#include "sim/schedule/row_scheduler.h"

#include <algorithm>

#include "sim/base/sums.h"

namespace accsim::sim {
namespace {

constexpr int kTriedInVain = 3;         ///< numbers of pieces, before no more are tried
constexpr ptrdiff_t kTriedInParts = 3;  ///< the fewest of them

int64_t dram_bytes(const std::vector<ScheduledOp>& scheduled) {
  int64_t out = 0;
  for (const ScheduledOp& s : scheduled) out += s.mapping->counts.moved(hw::MemoryId::dram).count();
  return out;
}

}  // namespace

bool RowScheduler::schedule_run(const RowGroup& run) {
  if (order_.is_over() || order_.stays_whole(run.ops)) return false;
  RowTileShape as;
  const auto cut = order_.add_cut(run.ops, [&]() -> std::optional<CutGroup> {
    KnownCut& best = best_cut(run);
    as = best.as;
    if (as.pieces == 1) return std::nullopt;
    const RowGroup& part = *cut_part(&run, as);
    if (!best.plan) best.plan = make_planner().plan_run(part, as);
    if (!best.plan) return std::nullopt;
    best.plan->run = &part;
    return text_of(run, *best.plan);
  });
  if (!cut) return false;
  order_.take_own(std::ssize(cut->order));
  const RowGroup& part = *cut_part(&run, as);
  for (size_t k = 0; k < part.ops.size(); ++k) order_.note_cut(part.ops[k], cut->moved[k]);
  return true;
}

RowScheduler::KnownCut& RowScheduler::best_cut(const RowGroup& run) {
  std::string key = std::to_string(run.shared_beside);
  for (const auto& pair : run.pairs) key += " " + std::to_string(pair.second.shared_beside);
  for (const size_t op : run.ops) key += key_of(*in_.ops[op].request);
  const auto known = cuts_.find(key);
  if (known != cuts_.end()) return known->second;
  return cuts_[key] = {find_cut(run), std::nullopt};
}

RowTileShape RowScheduler::find_cut(const RowGroup& run) {
  std::vector<ScheduledOp> uncut;
  for (const size_t op : run.ops) uncut.push_back(order_.whole_op(op));
  RowShapeChoice choice(order_.total_cycles(), in_.most_run_slack,
                        {{}, order_.cycles_of_ops(uncut, kBeyond), dram_bytes(uncut)});
  try_counts(run, -1, choice);
  if (!fits_whole(run))
    for (size_t i = 0; i < run.pairs.size(); ++i) try_counts(run, static_cast<int>(i), choice);
  return choices_.emplace_back(std::move(choice)).best(in_.run_slack);
}

void RowScheduler::try_counts(const RowGroup& run, int pair, RowShapeChoice& choice) {
  enum class Result : uint8_t { none, worse, better };
  int64_t best = kBeyond;
  RowTileShape fastest{.pair = pair};
  const auto try_cut = [&](const RowTileShape& cut) {
    if (order_.is_over()) return Result::none;
    const auto plan = make_planner().plan_run(*cut_part(&run, cut), cut);
    if (!plan) return Result::none;
    const Beside ops = ops_beside(run, *plan);
    const int64_t total = cycles_of_plan(*plan, ops, choice.cycle_limit());
    choice.offer(
        {cut, total, plan->dram_bytes() + dram_bytes(ops.before) + dram_bytes(ops.behind)});
    if (total >= std::min(best, choice.whole_cycles())) return Result::worse;
    best = total;
    fastest = cut;
    return Result::better;
  };
  int worse = 0;
  std::vector<int64_t> possible;
  for (const int64_t pieces : make_planner().piece_counts(*cut_part(&run, fastest))) {
    const Result found = try_cut({pieces, kFewChunks, pair});
    if (found != Result::none) possible.push_back(pieces);
    if (found == Result::better) worse = 0;
    if (found == Result::worse && ++worse == kTriedInVain) break;
  }
  if (fastest.pieces > 1) try_cut({fastest.pieces, kManyChunks, pair});
  // Large pieces move the least, and most need to be in parts.
  if (std::ssize(possible) > kTriedInParts)
    possible.erase(possible.begin() + kTriedInParts, possible.end());
  if (fastest.pieces > 1 && std::ranges::find(possible, fastest.pieces) == possible.end())
    possible.push_back(fastest.pieces);
  for (const int64_t pieces : possible)
    for (const int64_t parts : {2, 4}) try_cut({pieces, 1, pair, parts});
}

bool RowScheduler::fits_whole(const RowGroup& run) const {
  int64_t bytes = run.shared_beside;
  for (size_t k = 0; k + 1 < run.ops.size(); ++k) bytes += run.piece_bytes(k, 1);
  return bytes <= order_.shared_capacity();
}

RowScheduler::Beside RowScheduler::ops_beside(const RowGroup& run, const RowPlan& plan) const {
  Beside out;
  for (const size_t op : run.ops) {
    if (op < plan.run->ops.front()) out.before.push_back(order_.whole_op(op));
    if (op > plan.run->ops.back()) out.behind.push_back(order_.whole_op(op));
  }
  return out;
}
int64_t RowScheduler::cycles_of_plan(const RowPlan& plan, const Beside& ops, int64_t most) {
  StepTensors tensors(plan, in_.ops, in_.tensors, order_.own_tensors());
  return order_.cycles_with([&](hw::Chain& chain) {
    for (const ScheduledOp& s : ops.before) chain.add_program(s.mapping->trace.steps, s.tensors);
    for (const PartStep& t : plan.order) {
      chain.add_program(plan.mappings[t.k]->trace.steps, tensors.tensors_of_step(t));
      if (chain.total_cycles() > most) return;
    }
    for (const ScheduledOp& s : ops.behind) chain.add_program(s.mapping->trace.steps, s.tensors);
  });
}

CutGroup RowScheduler::text_of(const RowGroup& run, const RowPlan& plan) const {
  auto [before, behind] = ops_beside(run, plan);
  CutGroup out{std::move(before), plan.shared, {}};
  StepTensors tensors(plan, in_.ops, in_.tensors, order_.own_tensors());
  for (const PartStep& t : plan.order)
    out.order.push_back(scheduled_part(plan, t, tensors.tensors_of_step(t)));
  out.order.insert(out.order.end(), behind.begin(), behind.end());
  for (size_t k = 0; k < plan.run->ops.size(); ++k) {
    OpRequest request = *in_.ops[plan.run->ops[k]].request;
    const OpFlow& flow = plan.run->flows[k];
    if (k > 0) move_rows(request, flow, false, plan.between[k - 1]);
    if (k < plan.between.size()) move_rows(request, flow, true, plan.between[k]);
    out.moved.push_back(std::move(request));
  }
  return out;
}

ScheduledOp RowScheduler::scheduled_part(const RowPlan& plan, const PartStep& t,
                                         std::span<const int32_t> tensors) const {
  const size_t op = plan.run->ops[t.k];
  const OpFlow& flow = plan.run->flows[t.k];
  const size_t layer = in_.ops[op].layer;
  ScheduledOp out{layer, op, plan.mappings[t.k], t.piece, {tensors.begin(), tensors.end()}};
  out.offsets.reserve(out.tensors.size());
  const bool is_product = std::holds_alternative<GemmOp>(in_.ops[op].request->item);
  const int64_t parts = is_product ? 1 : plan.cut.parts;
  const PieceOperands& operands = plan.operands[t.k];
  for (const OperandPort& port : plan.mappings[t.k]->trace.ports) {
    // What is between ops is the pieces' own: parts of it lie as the first piece's do.
    const bool own =
        (t.k > 0 && port == flow.in) || (t.k + 1 < plan.run->ops.size() && port == flow.out);
    out.offsets.push_back(
        own ? operands.offset(port, t.part)
            : order_.offset_in_whole(op, port, operands.offset(port, t.piece * parts + t.part)));
  }
  return out;
}

}  // namespace accsim::sim
