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

/// What no mapping writes and a machine must run all the same: tiles of products, of lane commands
/// and of copies by turns and in loops, from and to both memories; slots of one buffer used by
/// several queues, filled by several loads, kept over several tiles; tables, residuals, primed
/// slots that run ahead; ways over chains of regions, with a shared buffer by stages, too. The
/// verifier accepts it. Nothing when the machine's slots are too small for the least of tiles, or
/// its types are others.
std::optional<ProgramWithImage> random_program(const HwConfig& hw, Dataflow dataflow,
                                               std::mt19937& random);
/// The same of one tile of products with more gemms: time enough to load a layer behind it.
std::optional<ProgramWithImage> random_products(const HwConfig& hw, Dataflow dataflow,
                                                std::mt19937& random);

}  // namespace accsim::hw
