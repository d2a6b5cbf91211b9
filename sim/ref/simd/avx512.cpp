// Compiled for AVX-512 where the compiler targets x86-64; see CMakeLists.txt.
#include "sim/ref/simd/loops.h"

namespace accsim::sim::ref {

#if defined(__AVX512F__)
namespace {

struct Avx512 {
  static constexpr int kLanes = 16, kRows = 12, kColumns = 2;
};
constexpr SimdKernels kKernels = simd::kernels<Avx512>();

}  // namespace

const SimdKernels* avx512_kernels() {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                 __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("fma")
             ? &kKernels
             : nullptr;
}
#else
const SimdKernels* avx512_kernels() { return nullptr; }
#endif

}  // namespace accsim::sim::ref
