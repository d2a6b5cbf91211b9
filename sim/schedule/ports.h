#pragma once
#include "sim/map/product/gemm_problem.h"

namespace accsim::sim {

/// The operand at a port of a work item: an input or output of the node, or, below 0, what lives
/// between two items of its work.
inline OperandPort port_of(OperandPort::Side side, ValuePort port) {
  return port.is_of_node() ? OperandPort{side, static_cast<int>(port.index())}
                           : internal_port(port);
}
/// Of an op's input.
inline OperandPort input_port(ValuePort port) { return port_of(OperandPort::Side::input, port); }
/// Of an op's output.
inline OperandPort output_port(ValuePort port) { return port_of(OperandPort::Side::output, port); }

}  // namespace accsim::sim
