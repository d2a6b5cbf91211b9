#pragma once
#include "sim/graph/graph.h"

namespace accsim::sim {

/// Moves transposes of images behind the elementwise work and the joins that read them, so that
/// this
/// work stands next to the convolution whose result it works on, as in a network that was written
/// with channels in the second dim. Images are what convolutions and windows write, and what is
/// made of them here. Two transposes that undo each other are read past. Transposes that nothing
/// reads any more are absorbed; nodes and tensors keep their names.
Graph sink_image_turns(Graph graph);

}  // namespace accsim::sim
