#pragma once
#include <functional>
#include <optional>

#include "sim/lower/lower.h"
#include "sim/work/pitch.h"

namespace accsim::sim {

/// How the operands of a layer lie, by port.
struct PortPitches {
  std::function<Pitch(ValuePort port)> input, output;
};

/// The layer's work on operands that lie so, cut such that every axis goes from row to row of an
/// operand or stays within one: of lane and row operations the same work with more axes, of moves
/// the one from and to where elements lie. nullopt where commands can't: activations and results of
/// products may have a pitch from pixel to pixel (from row to row of a matrix), and no other.
std::optional<Work> pitched_work(const Layer& layer, const PortPitches& pitches);

/// Would pitched_work() take an item of the layer's work? A move whose operands are dense costs
/// nothing to ask.
bool takes_pitches(const Layer& layer, const WorkItem& item, const PortPitches& pitches);

}  // namespace accsim::sim
