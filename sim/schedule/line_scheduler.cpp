#include "sim/schedule/line_scheduler.h"

#include <string>

#include "sim/base/sums.h"

namespace accsim::sim {
namespace {

constexpr int32_t kMostParts = 1'000;  ///< of a tensor between ops that are cut into lines

MapOptions without_programs(MapOptions options) {
  options.programs = false;
  return options;
}

}  // namespace

LineScheduler::LineScheduler(OpOrder& order)
    : in_(order.input()),
      order_(order),
      own_sketches_(in_.hw, without_programs(in_.mapper.options())),
      sketches_(in_.sketches != nullptr ? *in_.sketches : own_sketches_) {}

bool LineScheduler::schedule_run(const LineGroup& run) {
  if (order_.is_over() || order_.stays_whole(run.ops)) return false;
  LineChoices own;
  LineChoices& choices = in_.choices != nullptr ? *in_.choices : own;
  auto known = choices.find(run.first_op());
  if (known == choices.end()) known = choices.emplace(run.first_op(), choose_cut(run)).first;
  if (!known->second) return false;
  const LineGroup& best = known->second->run;
  const LineTileShape& as = known->second->cut;
  const Placed requests = placed_requests(best);
  if (requests.shared > order_.shared_capacity())
    return false;  // other mappings may stage in more of it
  const auto cut =
      order_.add_cut(best.ops, [&] { return lines_as(best, requests, as, in_.mapper); });
  if (!cut) return false;
  for (size_t k = 0; k < cut->moved.size(); ++k) order_.note_cut(best.ops[k], cut->moved[k]);
  order_.take_own(kMostParts * std::ssize(best.ops));
  return true;
}

std::optional<LineChoice> LineScheduler::choose_cut(const LineGroup& run) {
  std::vector<LineGroup> choices = {run};
  if (run.ops.size() > 2) choices.push_back(first_two(run));
  const OpOrder::State before = order_.current_state();
  std::optional<LineChoice> best;
  int64_t least = kBeyond;
  for (const LineGroup& choice : choices) {
    const Placed as = placed_requests(choice);
    std::optional<LineTileShape> found;
    order_.add_cut(choice.ops, [&] {
      found = best_lines(choice, as);
      return found ? lines_as(choice, as, *found, sketches_) : std::nullopt;
    });
    if (!found) continue;
    order_.add_whole(run.first_op(), run.ops.back());
    if (const int64_t total = order_.total_cycles(); total < least) {
      least = total;
      best = {choice, *found};
    }
    order_.go_back(before);
  }
  return best;
}

LineScheduler::Placed LineScheduler::placed_requests(const LineGroup& run) const {
  Placed out{{}, run.shared};
  for (const size_t op : run.ops) out.requests.push_back(*in_.ops[op].request);
  for (size_t k = 0; k + 1 < run.ops.size() && out.shared > order_.shared_capacity(); ++k) {
    const OpFlow &from = run.flows[k], &to = run.flows[k + 1];
    hw::MemoryId& written =
        out.requests[k].outputs[static_cast<size_t>(from.out.index)].place.memory;
    if (written != hw::MemoryId::shared) continue;
    written = hw::MemoryId::dram;
    out.requests[k + 1].inputs[static_cast<size_t>(to.in.index)].place.memory = hw::MemoryId::dram;
    out.shared -= from.count * from.out_bytes;
    out.moved = true;
  }
  return out;
}

std::optional<CutGroup> LineScheduler::lines_as(const LineGroup& run, const Placed& as,
                                                const LineTileShape& cut, Mapper& mapper) const {
  std::vector<const std::string*> names;
  for (const size_t op : run.ops) names.push_back(&in_.lowered.layers[in_.ops[op].layer].name);
  const auto turns = sim::cut_into({run, as.requests, names, mapper}, cut);
  if (!turns) return std::nullopt;
  CutGroup out;
  out.shared = as.shared;
  if (as.moved) out.moved = as.requests;
  for (const LineStep& t : *turns) out.order.push_back(scheduled_piece(run, t));
  return out;
}

std::optional<LineTileShape> LineScheduler::best_lines(const LineGroup& run, const Placed& as) {
  if (as.shared > order_.shared_capacity()) return std::nullopt;
  std::vector<ScheduledOp> uncut;
  for (const size_t op : run.ops) uncut.push_back(order_.whole_op(op));
  const int64_t whole = order_.cycles_of_ops(uncut, kBeyond);
  int64_t least = whole;
  const auto found =
      best_line_shape(most_lines(run, as.requests, in_.hw), [&](const LineTileShape& cut) {
        if (order_.is_over()) return kBeyond;
        const auto tried = lines_as(run, as, cut, sketches_);
        const int64_t total = tried ? order_.cycles_of_ops(tried->order, least) : kBeyond;
        least = std::min(least, total);
        return total;
      });
  return found && found->cycles < whole ? std::optional(found->cut) : std::nullopt;
}

ScheduledOp LineScheduler::scheduled_piece(const LineGroup& run, const LineStep& t) const {
  const size_t op = run.ops[t.k];
  const OpFlow& flow = run.flows[t.k];
  const size_t layer = in_.ops[op].layer;
  const LayerPorts& ports = in_.ops[op].request->ports;
  ScheduledOp out{layer, op, t.mapping, t.piece,
                  tensor_numbers(t.mapping->trace, ports, in_.tensors[layer])};
  out.whole = out.tensors;
  const auto part = [&](size_t k, int64_t piece) {
    return order_.own_tensors() + static_cast<int32_t>(k) * kMostParts +
           static_cast<int32_t>(piece);
  };
  for (size_t i = 0; i < out.tensors.size(); ++i) {
    const OperandPort& port = t.mapping->trace.ports[i];
    out.offsets.push_back(order_.offset_in_whole(op, port, t.operands.offset(port)));
    if (t.k > 0 && port == flow.in) out.tensors[i] = part(t.k - 1, t.awaits);
    if (t.k + 1 < run.ops.size() && port == flow.out) out.tensors[i] = part(t.k, t.piece);
  }
  return out;
}

}  // namespace accsim::sim
