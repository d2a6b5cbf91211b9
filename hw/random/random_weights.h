#pragma once
#include <random>

#include "hw/program/program.h"

namespace accsim::hw {

/// How the weights of a random k x n product lie in their slot.
struct RandomWeights {
  WeightTile tile;
  int64_t bytes = 0;   ///< of the slot, from its first byte on
  int64_t useful = 0;  ///< elements that no zero block of packed groups stands for
};

/// Of 8 or 4 bits, dense or packed groups, rows close together or a few bytes apart; within `room`
/// bytes, in which dense rows of 8 bits fit.
RandomWeights random_weights(const HwConfig& hw, Dataflow dataflow, int64_t k, int64_t n,
                             int64_t room, std::mt19937& random);

}  // namespace accsim::hw
