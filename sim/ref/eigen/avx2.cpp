// Compiled for AVX2 and FMA where the compiler targets x86-64; see CMakeLists.txt.
#if defined(__AVX2__) && defined(__FMA__)
#define Eigen EigenAvx2
#include "sim/ref/eigen/product_of_isa.h"

namespace accsim::sim::ref {

MultiplyAddFunction multiply_add_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? multiply_add : nullptr;
}

}  // namespace accsim::sim::ref
#else
#include "sim/ref/eigen/multiply_add.h"

namespace accsim::sim::ref {

MultiplyAddFunction multiply_add_avx2() { return nullptr; }

}  // namespace accsim::sim::ref
#endif
