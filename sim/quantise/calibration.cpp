#include "sim/quantise/calibration.h"

#include <algorithm>
#include <cmath>
#include <span>

namespace accsim::sim {
namespace {

/// The element at that share of all of them, in order of size; reorders them.
template <class T>
T element_at(std::vector<T>& values, double share) {
  const auto last = static_cast<double>(values.size() - 1);
  const auto at = values.begin() + static_cast<ptrdiff_t>(std::nearbyint(share * last));
  std::ranges::nth_element(values, at);
  return *at;
}

template <class T>
ValueRange range_of(std::span<const T> elements, double percentile) {
  ValueRange out;
  const auto usable = [](T v) { return std::abs(v) < Calibration::kBeyond; };
  if (percentile >= 100) {
    for (const T v : elements)
      if (usable(v)) out.widen_to({v, v});
    return out;
  }
  std::vector<T> values;
  std::ranges::copy_if(elements, std::back_inserter(values), usable);
  if (values.empty()) return out;
  const double low = element_at(values, 1 - percentile / 100);
  const double high = element_at(values, percentile / 100);
  out.widen_to({low, high});
  return out;
}

}  // namespace

ValueRange range_of(const ref::Array& array, double percentile) {
  const auto count = static_cast<size_t>(array.size());
  return array.kind() == ref::ElementKind::f64
             ? range_of(std::span(array.data<double>(), count), percentile)
             : range_of(std::span(array.data<float>(), count), percentile);
}

void Calibration::observe_values(TensorId id, const ref::Array& array) {
  if (id == kNoTensor || array.empty() || !is_float(array.dtype())) return;
  ranges_[static_cast<size_t>(id)].widen_to(range_of(array, percentile_));
}

void Calibration::observe_values(const std::vector<TensorId>& ids,
                                 const std::vector<ref::Array>& arrays) {
  for (size_t i = 0; i < ids.size(); ++i) observe_values(ids[i], arrays[i]);
}

void Calibration::observe_values(const ref::NodeRun& run) {
  const Node& node = run.graph.nodes[static_cast<size_t>(run.node)];
  observe_values(node.inputs, run.inputs);
  observe_values(node.outputs, run.outputs);
}

}  // namespace accsim::sim
