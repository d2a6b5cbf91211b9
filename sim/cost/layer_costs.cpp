#include "sim/cost/layer_costs.h"

#include <algorithm>

#include "hw/energy/energy.h"
#include "sim/cost/invariants.h"
#include "sim/lower/lane_meaning.h"
#include "sim/map/product/gemm_problem.h"
#include "sim/map/units/unit_mapping.h"
#include "sim/report/bounds.h"

namespace accsim::sim {
namespace {

bool on_lanes(const hw::Counts& counts) { return counts.lane_macs > Macs(0); }

/// Did a unit beside an engine of dot products do it? Lanes would have been busy.
bool on_unit(const OpRequest& r, const hw::Timing& timing) {
  return r.unit && timing.queue(hw::Queue::vector).busy == Cycles(0);
}

/// An engine of dot products has its layers among the loads, and so have the units beside it.
hw::Queue main_queue(const OpRequest& r, const hw::Counts& counts, const hw::Timing& timing) {
  if (std::holds_alternative<GemmOp>(r.item)) {
    if (on_lanes(counts)) return hw::Queue::vector;
    return timing.queue(hw::Queue::execute).busy > Cycles(0) ? hw::Queue::execute : hw::Queue::load;
  }
  if (on_unit(r, timing)) return hw::Queue::load;
  return std::holds_alternative<VectorOp>(r.item) ? hw::Queue::vector : hw::Queue::load;
}

/// Waits inside of a layer of an engine or of a unit beside it. What is hidden under the layer
/// before is its reads.
void add_waits(const hw::EngineWaits& waits, int64_t hidden, Costs& c) {
  const auto take = [&](int64_t cycles, hw::Wait why) {
    const int64_t taken = std::clamp<int64_t>(cycles, 0, c.compute_cycles);
    c.compute_cycles -= taken;
    c.stalls[static_cast<size_t>(why)] += taken;
  };
  take(waits.reads - hidden, hw::Wait::dram_read);
  take(waits.loads, hw::Wait::weight_load);
  take(waits.outputs, hw::Wait::array);
  take(waits.writes, hw::Wait::dram_write);
}

void add_timing(const OpRequest& request, const ItemWork& work, Costs& c) {
  const hw::Timing& timing = work.timing;
  const hw::QueueTiming& main = timing.queue(main_queue(request, work.counts, timing));
  c.cycles = timing.total.count();
  c.compute_cycles = (main.busy - main.hidden).count();
  for (size_t w = 0; w < hw::kWaits; ++w) c.stalls[w] = main.waits[w].count();
  add_waits(work.counts.engine, main.hidden.count(), c);
  if (std::holds_alternative<VectorOp>(request.item) || on_lanes(work.counts))
    c.vector_cycles = c.compute_cycles;
  if (std::holds_alternative<MemoryOp>(request.item)) c.move_cycles = c.compute_cycles;
  c.tail_cycles = (timing.total - main.free_at).count();
}

void add_program(const hw::Counts& counts, Costs& c) {
  constexpr auto dram = hw::MemoryId::dram, shared = hw::MemoryId::shared;
  c.lane_macs = counts.lane_macs.count();
  c.array_macs = counts.array_macs.count();
  c.preload_busy = counts.preload_cycles;
  c.dram_read = counts.read[dram].count();
  c.dram_write = counts.written[dram].count();
  c.shared_read = counts.read[shared].count();
  c.shared_write = counts.written[shared].count();
  c.staged = counts.staged.count();
  for (size_t b = 0; b < hw::kBuffers; ++b) {
    c.buffer_read[b] = counts.buffer_read[b].count();
    c.buffer_write[b] = counts.buffer_written[b].count();
  }
}

void add_bounds(const OpRequest& r, const ItemWork& m, const hw::HwConfig& hw, Costs& c) {
  const bool by_unit = on_unit(r, m.timing);
  if (by_unit) c.vector_bound = least_unit_cycles(*r.unit, hw::side_units_of(hw));
  for (size_t i = 0; i < hw::kLaneClasses && !by_unit; ++i)
    c.vector_bound += ceil_div(m.counts.vector_ops[i], hw.vector.lanes[i]);
  if (m.counts.weighed > 0) c.vector_bound += ceil_div(m.counts.weighed, hw.vector.mac_lanes);
  c.compute_bound = ceil_div(m.counts.macs.count(), hw.array.rows * hw.array.cols) + c.vector_bound;
  const int64_t reads = hw.dram.read.cycles(c.dram_read);
  const int64_t writes = hw.dram.write.cycles(c.dram_write);
  c.dram_bound = c.dram_busy = std::max(reads, writes);
  if (hw.one_bus()) {
    const bool both = reads > 0 && writes > 0;  // a cycle may have some of either
    c.dram_bound = c.dram_busy = hw.dram.read == hw.dram.write
                                     ? hw.dram.read.cycles(c.dram_read + c.dram_write)
                                     : reads + writes - static_cast<int64_t>(both);
  }
  c.lower_bound = std::max(c.compute_bound, c.dram_bound);
  c.idle_lanes = std::max<int64_t>(0, c.compute_cycles - c.move_cycles - c.compute_bound);
  // What the load and store queues are busy beyond DRAM's share: slot ports and the shared buffer.
  // An engine's layers stand among the loads, and its buffer's port isn't described.
  if (by_unit || (hw.has_dot_products() && m.counts.gemms > 0)) return;
  c.sram_busy = std::max<int64_t>({0, m.timing.queue(hw::Queue::load).busy.count() - reads,
                                   m.timing.queue(hw::Queue::store).busy.count() - writes});
}

const Operand* find_operand(const std::vector<Operand>& side, ValuePort port) {
  return port.is_within(side.size()) ? &side[port.index()] : nullptr;
}
bool on_chip(const std::vector<Operand>& side, ValuePort port) {
  const Operand* o = find_operand(side, port);
  return o && o->place.memory == hw::MemoryId::shared;
}

int64_t least_traffic(const GemmOp& op, const OpRequest& r, const hw::HwConfig& hw) {
  GemmTraffic t = gemm_traffic(op, hw.activation_bytes(), hw.weight_bytes(), hw.activation_bytes());
  const Operand* b = find_operand(r.inputs, op.b_port);
  t.b_narrow = weight_encoding(op, b && b->place.constant, hw).is_packed();
  t.a_on_chip = on_chip(r.inputs, op.a_port);
  t.b_on_chip = on_chip(r.inputs, op.b_port);
  t.c_on_chip = on_chip(r.outputs, op.out_port);
  const Operand* residual = find_operand(r.inputs, r.residual);
  const bool adds = residual && !on_chip(r.inputs, r.residual);
  return gemm_traffic_bound(t, on_chip_bytes(hw), held_sums(hw)) +
         (adds ? op.batch * op.m() * op.n() * residual->element_bytes : 0);
}

/// What a memory op reads.
const std::vector<Access>& accesses_read(const MemoryOp& op, const hw::HwConfig&) {
  return op.inputs;
}
/// Bytes of what it reads at a port: of an index that picks a row the lower word.
int64_t bytes_at_port(const MemoryOp& op, const Access& a, const Operand* o) {
  const int64_t bytes = o ? o->element_bytes : 1;
  const bool index = op.picked && &a != op.inputs.data();
  return a.elements * (index ? std::min(bytes, hw::Gather::kIndexBytes) : bytes);
}
int64_t bytes_at_port(const VectorOp&, const Access& a, const Operand* o) {
  return a.elements * (o ? o->element_bytes : 1);
}
/// A vector op: lane commands read what their results are made of, other constants ride in them.
std::vector<Access> accesses_read(const VectorOp& op, const hw::HwConfig& hw) {
  std::vector<Access> out = op.inputs;
  if (!op.lane || !hw.computes_int8()) return out;
  const LaneWork& lane = *op.lane;
  std::erase_if(out,
                [&](const Access& a) { return a.port != lane.a_port && a.port != lane.b_port; });
  for (Access& a : out)
    if (a.port == lane.a_port) a.elements = std::min(a.elements, elements_read(lane));
  return out;
}

/// Vector and memory ops: what isn't on chip, once.
template <class Op>
int64_t least_traffic(const Op& op, const OpRequest& r, const hw::HwConfig& hw) {
  int64_t bytes = 0;
  const std::vector<Access>& in = accesses_read(op, hw);
  for (const Access& a : in)
    if (!on_chip(r.inputs, a.port)) bytes += bytes_at_port(op, a, find_operand(r.inputs, a.port));
  for (const Access& a : op.outputs) {
    const Operand* o = find_operand(r.outputs, a.port);
    if (!on_chip(r.outputs, a.port)) bytes += a.elements * (o ? o->element_bytes : 1);
  }
  return bytes;
}

EnergyReport energy_report(const hw::Energy& e) {
  return {.mac = e.mac.value(),
          .vector = e.vector.value(),
          .sram = e.sram.value(),
          .shared = e.shared.value(),
          .dram = e.dram.value(),
          .leakage = e.leakage.value()};
}

}  // namespace

Costs item_costs(const OpRequest& request, const ItemWork& work, const hw::HwConfig& hw) {
  Costs c;
  check_attributed(work.timing);
  add_timing(request, work, c);
  c.alone_cycles = work.alone.count();
  add_program(work.counts, c);
  add_bounds(request, work, hw, c);
  c.traffic_bound =
      std::visit([&](const auto& op) { return least_traffic(op, request, hw); }, request.item);
  c.energy = energy_report(energy(work.counts, work.timing.total, hw));
  return c;
}

}  // namespace accsim::sim
