#include "sim/flow/calibration.h"

#include <algorithm>
#include <cmath>

namespace accsim::sim {
namespace {

/// The element at that share of all of them, in order of size; reorders them.
float element_at(std::vector<float>& values, double share) {
  const auto last = static_cast<double>(values.size() - 1);
  const auto at = values.begin() + static_cast<ptrdiff_t>(std::nearbyint(share * last));
  std::ranges::nth_element(values, at);
  return *at;
}

}  // namespace

ValueRange range_of(const ref::Array& array, double percentile) {
  ValueRange out;
  const auto usable = [](float v) { return std::abs(v) < Calibration::kBeyond; };
  const float* at = array.data<float>();
  if (percentile >= 100) {
    for (int64_t i = 0; i < array.size(); ++i)
      if (usable(at[i])) out.take({at[i], at[i]});
    return out;
  }
  std::vector<float> values;
  std::copy_if(at, at + array.size(), std::back_inserter(values), usable);
  if (values.empty()) return out;
  const double low = element_at(values, 1 - percentile / 100);
  const double high = element_at(values, percentile / 100);
  out.take({low, high});
  return out;
}

void Calibration::see(TensorId id, const ref::Array& array) {
  if (id == kNoTensor || array.empty() || array.kind() != ref::ElementKind::f32) return;
  ranges_[static_cast<size_t>(id)].take(range_of(array, percentile_));
}

void Calibration::see(const std::vector<TensorId>& ids, const std::vector<ref::Array>& arrays) {
  for (size_t i = 0; i < ids.size(); ++i) see(ids[i], arrays[i]);
}

void Calibration::see(const ref::NodeRun& run) {
  const Node& node = run.graph.nodes[static_cast<size_t>(run.node)];
  see(node.inputs, run.inputs);
  see(node.outputs, run.outputs);
}

}  // namespace accsim::sim
