#include "sim/map/product/gemm_times.h"

#include <algorithm>

#include "hw/program/contract.h"

namespace accsim::sim {

using hw::contract::kPostLatency;
using hw::contract::kTokenLatency;

double execute_bound(const GemmTimes& t) {
  return t.first_load + t.execute + t.last_post + t.last_store;
}

double load_bound(const GemmTimes& t) { return t.loads + t.load_latency + t.after_loads; }

double post_bound(const GemmTimes& t) {
  return t.first_load + t.first_stream + t.posts + kPostLatency + kTokenLatency + t.last_store;
}

double store_bound(const GemmTimes& t) {
  return t.first_load + t.first_stream + t.first_post + t.stores + t.store_latency;
}

double operand_slot_bound(const GemmTimes& t) { return t.operand_fillings / t.operand_slots; }

double held_slot_bound(const GemmTimes& t) { return t.held_fillings / t.held_slots; }

double sum_slot_bound(const GemmTimes& t) { return t.sum_fillings / t.sum_slots; }

double output_slot_bound(const GemmTimes& t) { return t.output_fillings / t.output_slots; }

double bus_bound(const GemmTimes& t) { return t.bus > 0 ? t.bus + t.bus_latency : 0; }

double cycle_bound(const GemmTimes& t) {
  return std::max({execute_bound(t), load_bound(t), post_bound(t), store_bound(t),
                   operand_slot_bound(t), held_slot_bound(t), sum_slot_bound(t),
                   output_slot_bound(t), bus_bound(t)});
}

}  // namespace accsim::sim
