#include "sim/work/work.h"

namespace accsim::sim {

std::string_view name(Fate fate) {
  constexpr std::array<std::string_view, 6> kNames = {"gemm", "vector", "memory",
                                                      "view", "folded", "unsupported"};
  return kNames[static_cast<size_t>(fate)];
}

std::string_view name(VectorClass c) {
  constexpr std::array<std::string_view, kVectorClasses> kNames = {
      "elementwise", "special", "reduce", "pool", "resize", "convert", "search"};
  return kNames[static_cast<size_t>(c)];
}

}  // namespace accsim::sim
