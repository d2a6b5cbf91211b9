#pragma once
#include <algorithm>
#include <vector>

#include "sim/lower/lane_meaning.h"
#include "sim/ref/executor.h"

namespace accsim::sim {

/// What the elements of a tensor lie between; 0 is always in it.
struct ValueRange {
  double low = 0, high = 0;
  void widen_to(const ValueRange& other) {
    low = std::min(low, other.low);
    high = std::max(high, other.high);
  }
  double largest_magnitude() const { return std::max(-low, high); }
};

/// Ranges of the tensors of floats of a graph, from float runs. Elements of a magnitude of
/// kBeyond or more stand for infinity (what masks take away) and aren't looked at.
class Calibration {
 public:
  static constexpr double kBeyond = kAsInfinity;

  /// `percentile` (above 50): the range of a run is from the value that 100 - percentile of its
  /// elements lie below to the one that as many lie above; 100: all.
  explicit Calibration(const Graph& graph, double percentile = 100)
      : ranges_(graph.tensors.size()), percentile_(percentile) {}

  void observe_values(const std::vector<TensorId>& ids, const std::vector<ref::Array>& arrays);
  /// All that a node reads and writes.
  void observe_values(const ref::NodeRun& run);
  void observe_values(TensorId id, const ref::Array& array);

  /// The widest of all runs.
  const ValueRange& tensor_range(TensorId id) const { return ranges_[static_cast<size_t>(id)]; }
  /// One step of a symmetric int8, 1 where all elements were 0.
  double symmetric_scale(TensorId id) const {
    const double largest = tensor_range(id).largest_magnitude();
    return largest > 0 ? largest / 127 : 1;
  }

 private:
  std::vector<ValueRange> ranges_;  ///< by tensor id
  double percentile_;
};

/// The range of the elements of an array of floats.
ValueRange range_of(const ref::Array& array, double percentile);

}  // namespace accsim::sim
