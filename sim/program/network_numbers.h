#pragma once
#include <functional>
#include <optional>
#include <random>
#include <vector>

#include "sim/program/network_program.h"
#include "sim/program/random_operands.h"

namespace accsim::sim {

/// The integers of a part: what its commands and its constants say beyond sizes and places.
struct PartNumbers {
  OpSource source;        ///< the mapping's, with what its commands say
  GemmOperands operands;  ///< of a product; `a` and `residual` are of no consequence
  /// By tensor of the part: of those that are constant their bytes, as its program reads them.
  hw::MemoryImage constants;
};

/// The part's program with these numbers; its steps are the mapping's.
hw::Program emit(const PartNumbers& numbers, const hw::HwConfig& hw);

/// Zero points of a network's tensors, by their number in the program.
using ZeroPoints = std::function<int32_t(int tensor)>;

/// Draws numbers of a part: scales that spread results over int8, zero points where `zeros` has
/// them, tables of anything. Products have `weights` where these have the right size.
PartNumbers random_numbers(const NetworkPart& part, const hw::HwConfig& hw,
                           const std::vector<int8_t>& weights, const ZeroPoints& zeros,
                           std::mt19937& random);

}  // namespace accsim::sim
