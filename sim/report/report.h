#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "hw/config/hw_config.h"
#include "hw/timing/timing.h"
#include "sim/base/dims.h"
#include "sim/base/result.h"
#include "sim/graph/graph.h"
#include "sim/work/work.h"

namespace accsim::sim {

/// What limits a layer: the resource that is busy for the largest share of its cycles, or latency
/// when none is busy for half of them. An array that is busy is limited by its weight port when
/// weights go in for half of the cycles and the MACs at full rate would not take half of them.
enum class Bound : uint8_t { none, compute, weight_load, dram, sram, latency };
inline constexpr size_t kBounds = 6;
/// As reports spell it: "none", "compute", "weight load", "dram", "sram", "latency".
std::string_view name(Bound b);

/// Energy by component, in picojoules.
struct EnergyReport {
  double mac = 0, vector = 0, sram = 0, shared = 0, dram = 0, leakage = 0;
  double total_pj() const { return mac + vector + sram + shared + dram + leakage; }
  EnergyReport& operator+=(const EnergyReport& o);
};

/// Counts and cycles of one layer, or (summed) of the whole network. All traffic in bytes.
struct Costs {
  /// From the arrival of the last store of the layers before to that of its own last one; of a
  /// layer in pieces, of each of them, behind all that comes before it.
  int64_t cycles = 0;
  int64_t alone_cycles = 0;       ///< of its programs on a machine at rest, one after the other
  int64_t verifiable_cycles = 0;  ///< of cycles, those of commands that golden and RTL run
  int64_t compute_cycles = 0;  ///< the layer's main unit is busy: array, vector unit or load engine
  int64_t vector_cycles = 0;   ///< of compute_cycles, those of work on the vector unit
  int64_t move_cycles = 0;     ///< of compute_cycles, those of work that only moves bytes
  std::array<int64_t, hw::kWaits> stalls{};  ///< cycles the main unit waits, by reason
  int64_t tail_cycles = 0;  ///< after the main unit's last work: results on their way out
  int64_t macs = 0;         ///< from the graph's shapes
  int64_t lane_macs = 0;    ///< of macs, those of lanes in place of the array
  int64_t array_macs = 0;   ///< with the zero blocks of packed groups
  int64_t params = 0;
  int64_t dram_read = 0, dram_write = 0;
  /// Kept on chip: would have been DRAM traffic, but what was `staged`, copied from DRAM.
  int64_t shared_read = 0, shared_write = 0, staged = 0;
  std::array<int64_t, hw::kBuffers> buffer_read{}, buffer_write{};
  int64_t compute_bound = 0;  ///< cycles of the MACs (or vector ops) at full rate
  int64_t vector_bound = 0;   ///< of compute_bound, those of the vector ops
  int64_t dram_bound = 0;     ///< cycles of the DRAM traffic at full rate, the slower direction
  int64_t lower_bound = 0;    ///< the larger of the two: no layer alone can be faster
  int64_t idle_lanes = 0;     ///< cycles busy computing beyond compute_bound: lanes without work
  int64_t dram_busy = 0, sram_busy = 0;  ///< cycles the DRAM channel / SRAM ports are occupied
  int64_t preload_busy = 0;              ///< cycles in which stationary operands go into the array
  int64_t traffic_bound = 0;  ///< least DRAM bytes for this buffer size, see report/bounds.h
  EnergyReport energy;

  int64_t stall_cycles() const { return cycles - compute_cycles; }
  Costs& operator+=(const Costs& o);  ///< sums everything; counts stop at kBeyond (sums.h)
};

/// Errc::overflow that names the first count which is a sum beyond 64 bits. Whoever sums Costs
/// asks.
Status check_sums(const Costs& c, const std::string& where);
/// The error of one count, `what`, that doesn't fit.
Error beyond_64_bits(std::string_view what, const std::string& where);

/// Why cycles are more than compute_bound: lanes without work in busy cycles (ragged tiles, few
/// input channels), what the main unit waits for, and the way out of the last results.
struct Loss {
  std::string_view to;
  int64_t cycles;
};
/// The largest first; together cycles - compute_bound, where nothing is done under other layers.
std::vector<Loss> cycle_losses(const Costs& c);

/// One node of the graph: what became of it and, when it has a program, what that costs.
struct LayerReport {
  std::string name, op_type;
  std::string module;   ///< of the network's source, its parts divided by "."; "": not known
  std::string part_of;  ///< name of the file's node, where this is a part of it; else ""
  Fate fate = Fate::view;
  std::string merged_into;   ///< folded layers: the layer whose program does their work; or ""
  std::string mapping;       ///< tilings chosen, for people
  std::string unverifiable;  ///< why not all its cycles are verifiable_cycles; or ""
  /// On a machine of several modes: those of its products, "int8 x int4", and why they aren't the
  /// ones that the operands ask for; or "".
  std::string types, types_note;
  std::vector<Dims> input_shapes;
  Dims output_shape;  ///< of the first output
  Costs costs;
  Bound bound = Bound::none;
  int64_t resident_bytes = 0;  ///< in the shared buffer while the layer runs
  int64_t live_bytes = 0;      ///< of activations that are live while it runs
};

/// Layers that are alike in what they are rolled up by (roll_up.h).
struct LayerGroup {
  std::string name;
  int64_t layers = 0;
  Costs costs{};
  Bound bound = Bound::none;
};

/// A layer that the model had before it was cut into tile-sized products, on two ways: as the graph
/// has it, and mapped natively with its operands in the same memories.
struct CutLayer {
  std::string name, op_type, edge;
  int64_t batch = 1, m = 0, k = 0, n = 0;
  int64_t tile_m = 0, tile_k = 0, tile_n = 0;
  int64_t products = 0;  ///< MatMuls that it became
  int64_t nodes = 0;     ///< nodes found that are of it
  Costs cut, native;
  std::string mapping;  ///< native
};

/// All that the main job says of a network on a machine; text, JSON, CSV and HTML are made from
/// it.
struct Report {
  // model
  std::string model_name, model_file;
  int64_t opset = 0, ir_version = 0;
  int64_t nodes = 0, params = 0, buffers = 0, weight_bytes = 0;
  /// Of the weights as the file stores them: type, number.
  std::vector<std::pair<std::string, int64_t>> params_by_type, bytes_by_type;
  std::vector<std::pair<std::string, int64_t>> bindings;  ///< symbol, bound value
  std::vector<std::string> defaulted;                     ///< symbols bound to 1 by default
  int64_t key_blocks = 0;  ///< keys of the blocks that attention was cut into; 0: it wasn't
  std::vector<Assumption> assumed;  ///< sizes that only a run decides
  // machine
  hw::HwConfig hw;
  double area_mm2 = 0, dram_interface_mm2 = 0;  ///< by hw/area/area.h: of the core, and beside it
  // result
  std::vector<LayerReport> layers;  ///< one a graph node, in execution order
  std::string grouped_by;           ///< what `groups` are, as "module:2"; "": there are none
  std::vector<LayerGroup> groups;
  Costs totals;
  Bound bound = Bound::none;
  std::vector<CutLayer> cut_layers;       ///< of a model that `accsim tile` wrote
  std::vector<std::string> unsupported;   ///< "name (op)" costed as traffic by --allow-unsupported
  std::string objective;                  ///< what the mappings were chosen by
  int64_t distinct_ops = 0;               ///< programs searched; the rest came from the cache
  int64_t candidates = 0, evaluated = 0;  ///< tilings bounded, and of them timed
  int64_t shared_peak_bytes = 0;          ///< of the tensors kept on chip

  double seconds(int64_t cycles) const {
    return static_cast<double>(cycles) / (hw.clock_mhz * 1e6);
  }
  /// Of the machine's own types.
  int64_t peak_macs_per_cycle() const { return hw.array.rows * hw.array.cols; }
  /// Of the modes that the array's MACs of these costs run in, on the average.
  double peak_macs_per_cycle(const Costs& c) const;
  /// The array's MACs over what it could have done in the cycles; 0 without cycles.
  double utilization(const Costs& c) const;
};

}  // namespace accsim::sim
