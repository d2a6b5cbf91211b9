#pragma once
#include "hw/program/program.h"

namespace accsim::hw {

/// Do golden and the core run all of it? Not what is operations only (VectorCommand), nor loads
/// that the core doesn't have: padded ones, into accumulators, of elements of several bytes turned.
bool is_verifiable(const Program& program);

}  // namespace accsim::hw
