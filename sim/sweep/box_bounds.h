#pragma once
#include <optional>
#include <string>
#include <vector>

#include "sim/sweep/space.h"
#include "sim/sweep/spec.h"

namespace accsim::sim {

/// A box of the grid: every axis from one step to another.
struct MachineBox {
  AxisSteps low, high;
  std::vector<double> bounds;  ///< by objective: no point in it is below
  int64_t point_count() const;
  bool is_single() const { return low == high; }
};

/// What a relaxed machine is asked: the least it can do of this.
enum class Question : uint8_t { cycles, energy, traffic };
inline constexpr size_t kQuestions = 3;

/// A machine that is in no field worse than any of a region's, and what to do with it.
struct Relaxed {
  hw::HwConfig hw;
  int64_t point = -1;  ///< a point of the region that costs the same, when there is one
  MapEffort effort = MapEffort::search;
};

/// Lower bounds on regions. They rest on this: with the mapping chosen by search, a layer never
/// takes more cycles (picojoules, bytes of DRAM traffic) on a machine that has more memory,
/// bandwidth or lanes, less latency or less energy for each event, and is otherwise the same: every
/// tiling is still there and no step of it takes longer. The fixed rule picks among the same few
/// tilings as long as no memory changes, so there it is the same without the memories. Array, types
/// and slots follow no such order, nor do memories under the rule: a region in which they differ
/// has only the bounds of its work and weights. Layers are mapped one by one, and their chain may
/// be slower on a better machine where another mapping leaves the next layer less to begin with, by
/// half a percent on the shipped machines and up to a few on others: points of the front that are
/// better than another's by less than that may be missed.
class BoxBounds {
 public:
  explicit BoxBounds(const SweepSpec& spec);

  /// An axis of the region that must be split before relaxed_machine() can say anything; -1: none.
  int unordered_axis(const MachineBox& r) const;

  /// Needs unordered_axis(r) < 0.
  Relaxed relaxed_machine(const MachineBox& r, Question q) const;

  /// Of all machines of the region, without costing any: MACs over the array, or the products'
  /// weights over DRAM's rate.
  double least_cycles(const MachineBox& r) const;
  double least_energy(const MachineBox& r) const;
  double least_area(const MachineBox& r) const;
  double least_sram(const MachineBox& r) const;
  double most_mhz(const MachineBox& r) const;

  /// The axis whose halves differ most in what they must cost.
  int widest_axis(const MachineBox& r) const;

 private:
  bool shared_differs(const MachineBox& r) const;
  struct Layer {
    double macs, weight_bytes, times;
  };
  hw::HwConfig extreme_machine(const MachineBox& r, bool largest) const;
  hw::HwConfig best_machine(const MachineBox& r, bool largest) const;

  const SweepSpec& spec_;
  Space space_;
  std::vector<std::vector<bool>> unordered_;  ///< by axis and step: differs from the one before
  std::vector<Layer> layers_;
};

}  // namespace accsim::sim
