#pragma once
#include <optional>
#include <random>

#include "hw/random/random_program.h"

namespace accsim::hw {

/// Random programs as the layers of one: weight and input stationary by turns, tensors of earlier
/// layers read and written again by later ones or copied to the other memory between them, with the
/// marks that this takes; among them short layers of products, and copies ordered by many marks.
/// `dataflow`: of the first layer. Nothing when one of these is none.
std::optional<ProgramWithImage> random_network(const HwConfig& hw, Dataflow dataflow,
                                               std::mt19937& random);

}  // namespace accsim::hw
