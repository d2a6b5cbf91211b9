#pragma once
#include "sim/graph/graph.h"

namespace accsim::sim {

/// The graph on the real numbers that its integers of 8 or 16 bits stand for, which a machine holds
/// in its own type whatever the file does. Changes between the two (QuantizeLinear,
/// DequantizeLinear, DynamicQuantizeLinear and what follows an integer product of its results) are
/// absorbed: the commands that make or take the tensor round and scale. Operators on such integers
/// become those on reals (OpRow::real), what moves integers moves reals. Nodes and tensors keep
/// their ids; tensors of the file's integers know what they stand for (Tensor::quantisation).
///
/// A tensor stays integer when anything else reads or writes it, and where its scale isn't a
/// constant, or isn't one number.
Graph real_graph(Graph graph);

}  // namespace accsim::sim
