#pragma once
#include <span>
#include <string>

#include "hw/program/program.h"

namespace accsim::hw {

/// Puts a layer's program behind what a network's has: its head, then its text with loops numbered
/// anew. Tensor i of the layer is tensor tensors[i] of the network, regions keep their slots.
void append_layer(Program& network, Program layer, std::string name, std::span<const int> tensors);

/// Moves what loads and stores reach in each tensor, by so many bytes.
void begin_at(std::span<const int64_t> offsets, std::vector<Item>& body);

}  // namespace accsim::hw
