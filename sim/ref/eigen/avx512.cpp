// Compiled for AVX-512 where the compiler targets x86-64; see CMakeLists.txt.
#if defined(__AVX512F__)
#define Eigen EigenAvx512
#include "sim/ref/eigen/product_of_isa.h"

namespace accsim::sim::ref {

MultiplyAddFunction multiply_add_avx512() {
  // All that the file is compiled with: see CMakeLists.txt.
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                 __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("fma")
             ? multiply_add
             : nullptr;
}

}  // namespace accsim::sim::ref
#else
#include "sim/ref/eigen/multiply_add.h"

namespace accsim::sim::ref {

MultiplyAddFunction multiply_add_avx512() { return nullptr; }

}  // namespace accsim::sim::ref
#endif
