#pragma once
#include <concepts>
#include <variant>

#include "sim/map/gather/gather_emitter.h"
#include "sim/map/lanes/lane_emitter.h"
#include "sim/map/moves/move_emitter.h"
#include "sim/map/product/gemm_emitter.h"
#include "sim/map/product/tap_emitter.h"
#include "sim/map/rows/row_emitter.h"
#include "sim/map/stream/stream_emitter.h"

namespace accsim::sim {

/// Writes the program of a tiling that fits, on the array or on the lanes.
template <class Sink>
void describe(const GemmProblem& p, const hw::HwConfig& hw, const ProductTiling& tiling, Sink& to) {
  std::visit([&](const auto& t) { describe(p, hw, t, to); }, tiling);
}

/// The dataflow of a program; those that don't use the array have it at rest.
template <class AnyTiling>
hw::Dataflow dataflow_of(const AnyTiling& t) {
  if constexpr (std::same_as<AnyTiling, ProductTiling>)
    return std::visit([](const auto& some) { return dataflow_of(some); }, t);
  else if constexpr (std::same_as<AnyTiling, Tiling>)
    return t.dataflow;
  else
    return hw::Dataflow::weight_stationary;
}

}  // namespace accsim::sim
