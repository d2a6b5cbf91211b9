#pragma once
#include <random>
#include <vector>

#include "hw/program/program.h"

namespace accsim::hw {

/// Bytes full of indices for gathered loads: most name one of some dozen rows, some a row beyond
/// any tensor.
std::vector<uint8_t> random_indices(int64_t bytes, std::mt19937& random);

/// Makes the load a gathered one of `walk` an item (`items` of them, of an index list of `indices`
/// at the beginning of the parameter slot). The rows lie within `room` bytes; returns how many of
/// these they reach over. `walk` reaches over no more than `room`.
int64_t draw_gather(LoadCommand& c, const Walk& walk, int64_t items, int64_t indices, int64_t room,
                    std::mt19937& random);

}  // namespace accsim::hw
