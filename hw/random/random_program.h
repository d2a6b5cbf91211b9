#pragma once
#include <optional>
#include <random>

#include "hw/golden/golden.h"

namespace accsim::hw {

/// A program with the memory that it starts from.
struct ProgramWithImage {
  Program program;
  MemoryImage image;
};

/// Programs that no mapping writes and that a machine must run all the same. Tiles of products,
/// lane commands and copies come by turns and in loops, from and to both memories. Slots of one
/// buffer are used by several queues, filled by several loads, and kept over several tiles. There
/// are tables, residuals, primed slots that run ahead, and chains of regions, with a shared buffer
/// by stages, too. The verifier accepts the program. Nothing when the machine's slots are too small
/// for the least tile, or its types are others.
std::optional<ProgramWithImage> random_program(const HwConfig& hw, Dataflow dataflow,
                                               std::mt19937& random);
/// The same of one tile of products with more gemms: time enough to load a layer behind it.
std::optional<ProgramWithImage> random_products(const HwConfig& hw, Dataflow dataflow,
                                                std::mt19937& random);

}  // namespace accsim::hw
