#include "sim/schedule/op_order.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "sim/base/sums.h"

namespace accsim::sim {
namespace {

bool all_load_first(const ScheduleInput& in) {
  return std::ranges::all_of(in.mappings, [](const auto& m) { return loads_first(m->trace); });
}

int64_t staged_bytes(const ScheduleInput& in) {
  if (in.mapper.options().all_room) return 0;
  std::vector<int64_t> regions(hw::kMostRegions, 0);
  for (const auto& m : in.mappings)
    for (size_t r = 0; r < m->trace.regions.size(); ++r)
      regions[r] = std::max(regions[r], m->trace.regions[r]);
  return std::accumulate(regions.begin(), regions.end(), int64_t{0});
}

}  // namespace

OpOrder::OpOrder(const ScheduleInput& in)
    : in_(in),
      chain_(in.hw, all_load_first(in), in.memory),
      begin_(chain_.current_place()),
      done_(in.ops.size(), false),
      staged_(staged_bytes(in)) {
  for (const LayerTensors& t : in.tensors) own_ = std::max(own_, t.end);
  out_.shares.resize(in.ops.size());
}

ScheduledOp OpOrder::whole_op(size_t op) const {
  const auto& mapping = in_.mappings[op];
  const size_t layer = in_.ops[op].layer;
  const LayerPorts& ports = in_.ops[op].request->ports;
  ScheduledOp out{layer, op, mapping, -1,
                  tensor_numbers(mapping->trace, ports, in_.tensors[layer])};
  for (const OperandPort& port : mapping->trace.ports)
    out.offsets.push_back(offset_in_chain(in_.tensors[layer], ports, port));
  return out;
}

int64_t OpOrder::offset_in_whole(size_t op, const OperandPort& port, int64_t offset) const {
  const ChainOp& of = in_.ops[op];
  return offset_in_chain(in_.tensors[of.layer], of.request->ports, port, offset);
}

bool OpOrder::stays_whole(const std::vector<size_t>& ops) const {
  return std::ranges::any_of(ops, [&](size_t op) {
    return whole_.contains(op) || in_.mapper.is_pinned(in_.lowered.layers[in_.ops[op].layer].name);
  });
}

void OpOrder::add_op(ScheduledOp s) {
  done_[s.op] = true;
  const hw::Timing share = chain_.add_program(s.mapping->trace.steps, s.tensors);
  out_.cycles.push_back(share.total);
  out_.shares[s.op] += share;
  out_.order.push_back(std::move(s));
}

void OpOrder::add_whole(size_t first, size_t last, const std::vector<size_t>& except) {
  for (size_t i = first; i <= last; ++i)
    if (!done_[i] && std::ranges::find(except, i) == except.end()) add_op(whole_op(i));
}

int64_t OpOrder::cycles_of_ops(const std::vector<ScheduledOp>& scheduled, int64_t most) {
  return cycles_with([&](hw::Chain& chain) {
    for (const ScheduledOp& s : scheduled) {
      chain.add_program(s.mapping->trace.steps, s.tensors);
      if (chain.total_cycles() > most) return;
    }
  });
}

void OpOrder::tell_limit() {
  const hw::Chain::Done done = chain_.done();
  if (const auto& limit = in_.mapper.options().limit) {
    limit->add_turns(done.added - told_.added);
    limit->add_timings(done.simulated - told_.simulated, done.steps - told_.steps);
  }
  told_ = done;
}

OpOrder::State OpOrder::current_state() const {
  return {chain_.current_place(), out_.order.size(), out_.shared.size(), done_};
}

void OpOrder::go_back(const State& to) {
  chain_.go_back(to.place);
  for (size_t i = to.order; i < out_.order.size(); ++i) out_.shares[out_.order[i].op] = {};
  out_.order.resize(to.order);
  out_.cycles.resize(to.order);
  out_.shared.resize(to.shared);
  done_ = to.done;
}

Schedule OpOrder::take_schedule() {
  out_.total = chain_.total_cycles();
  chain_.go_back(begin_);
  done_.assign(done_.size(), false);
  Schedule out = std::exchange(out_, {});
  out_.shares.resize(in_.ops.size());
  tell_limit();
  return out;
}

bool OpOrder::leave_whole(const Schedule& cut, const SharedPlaces& places) {
  const size_t before = whole_.size();
  std::set<size_t> all;
  for (size_t i = 0; i < cut.order.size(); ++i) {
    const ScheduledOp& s = cut.order[i];
    if (s.piece < 0) continue;
    all.insert(s.op);
    if (std::ranges::any_of(places.left_out,
                            [i](const auto& life) { return life.first <= i && i <= life.second; }))
      whole_.insert(s.op);
  }
  if (whole_.size() == before) whole_.merge(all);
  return whole_.size() > before;
}

}  // namespace accsim::sim
