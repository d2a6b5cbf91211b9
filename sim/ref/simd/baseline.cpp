#include "sim/ref/simd/loops.h"

namespace accsim::sim::ref {
namespace {

struct Baseline {
  static constexpr int kLanes = 4, kRows = 6, kColumns = 2;
};
constexpr SimdKernels kKernels = simd::kernels<Baseline>();

}  // namespace

const SimdKernels& baseline_kernels() { return kKernels; }

}  // namespace accsim::sim::ref
