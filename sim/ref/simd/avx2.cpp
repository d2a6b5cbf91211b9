// Compiled for AVX2 and FMA where the compiler targets x86-64; see CMakeLists.txt.
#include "sim/ref/simd/loops.h"

namespace accsim::sim::ref {

#if defined(__AVX2__) && defined(__FMA__)
namespace {

struct Avx2 {
  static constexpr int kLanes = 8, kRows = 6, kColumns = 2;
};
constexpr SimdKernels kKernels = simd::kernels<Avx2>();

}  // namespace

const SimdKernels* avx2_kernels() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? &kKernels : nullptr;
}
#else
const SimdKernels* avx2_kernels() { return nullptr; }
#endif

}  // namespace accsim::sim::ref
