#pragma once
#include "sim/lower/operand_wants.h"

namespace accsim::sim {

/// Operands lie pixel by pixel, channels last, only the first of them or all but weights; so do
/// the results. A convolution of single pixels takes them in any order.
void lay_pixels(OperandWants& o, bool only_first);

/// Rows that are all pixels of a channel, or of a group of them, lie plane by plane where a
/// command of rows does them, if that makes longer runs than the group's channels of a pixel: a
/// beat takes elements of a run. False where that isn't so.
bool lay_planes(OperandWants& o);

}  // namespace accsim::sim
