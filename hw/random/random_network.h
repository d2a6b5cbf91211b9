#pragma once
#include <optional>
#include <random>

#include "hw/random/random_program.h"

namespace accsim::hw {

/// Random programs as the layers of one program, weight and input stationary by turns. Layers read
/// tensors of earlier ones and write them again, or copy them to the other memory, with the marks
/// that this takes. Some are short layers of products, and some are copies ordered by many marks.
/// `dataflow`: of the first layer. Nothing when one of these programs is none.
std::optional<ProgramWithImage> random_network(const HwConfig& hw, Dataflow dataflow,
                                               std::mt19937& random);

}  // namespace accsim::hw
