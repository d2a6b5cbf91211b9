#pragma once
#include <span>
#include <string_view>
#include <vector>

#include "sim/schedule/scheduled_op.h"

namespace accsim::sim {

/// By layer of a network with this text: why a program that golden and RTL run leaves it out, ""
/// where it has it (Mapping::unverifiable). It has a layer whole or not at all: one op without
/// commands of its values leaves all of its layer out.
std::vector<std::string_view> left_out_layers(std::span<const ScheduledOp> text, size_t layers);

}  // namespace accsim::sim
