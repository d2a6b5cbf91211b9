#pragma once
#include "sim/map/gather/gather_emitter.h"
#include "sim/map/lanes/lane_emitter.h"
#include "sim/map/moves/move_emitter.h"
#include "sim/map/product/gemm_emitter.h"
#include "sim/map/rows/row_emitter.h"
#include "sim/map/stream/stream_emitter.h"

namespace accsim::sim {

/// The dataflow of a program; those without products have the array at rest.
inline hw::Dataflow dataflow_of(const Tiling& t) { return t.dataflow; }
template <class Tiling>
hw::Dataflow dataflow_of(const Tiling&) {
  return hw::Dataflow::weight_stationary;
}

}  // namespace accsim::sim
