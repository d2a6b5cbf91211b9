#pragma once
#include <cstdint>
#include <span>

#include "hw/cosim/descriptor_words.h"
#include "hw/program/program.h"

namespace accsim::hw {

/// The window as rtl/window_walk.sv wants it: everything in bytes, of lane 0, for a gemm of `k`
/// elements a row. Refuses more kernel lines a row than the core reads in a cycle.
void put_window(DescriptorWords& d, const OperandWindow& v, int64_t k,
                std::span<const int64_t> indices);

/// The blocks as rtl/weight_walk.sv wants them: where in which block the first row lies, and for
/// input stationary (`turned`), whose rows begin at R = 0, how far into a row the first of them is.
/// Returns how far the offset lies behind that of R = 0.
int64_t put_blocks(DescriptorWords& d, const WeightTile& t, int64_t first_k, bool turned);

}  // namespace accsim::hw
