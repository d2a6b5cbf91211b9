#pragma once
#include "sim/operators/pool/pool_rules.h"
#include "sim/ref/kernel_context.h"

namespace accsim::sim::ref {

/// Averages of windows over one plane (channels first). `after` is the padding behind each dim,
/// which counts as part of the window with `include_pad`.
struct AverageShape {
  SlidingWindow window;
  Extent3 after{0, 0, 0};
  bool include_pad = false;
};
/// Of an AveragePool node (or its quantised kin), by its attributes. Errors as the operator's
/// rules.
Result<AverageShape> average_shape(const NodeView& node, bool channels_last);
/// x and out are planes x in (out) pixels.
template <class T>
void average_planes(ThreadPool& pool, const AverageShape& shape, int64_t planes, const T* x,
                    T* out);
extern template void average_planes(ThreadPool&, const AverageShape&, int64_t, const float*,
                                    float*);
extern template void average_planes(ThreadPool&, const AverageShape&, int64_t, const double*,
                                    double*);

}  // namespace accsim::sim::ref
