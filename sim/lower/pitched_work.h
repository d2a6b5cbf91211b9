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

/// The layer's work on operands that lie so, cut so that every axis goes from row to row of an
/// operand or stays within one. Lane and row operations get more axes. A move goes from and to
/// where the elements lie. Of a product that isn't a convolution, rows that lie by themselves
/// become images. nullopt if commands can't do it: activations and results of products may only
/// have a pitch from pixel to pixel (from row to row of a matrix) or from image to image, second
/// operands one from row to row or from matrix to matrix.
std::optional<Work> pitched_work(const Layer& layer, const PortPitches& pitches);

/// Would pitched_work() take an item of the layer's work? A move whose operands are dense costs
/// nothing to ask.
bool takes_pitches(const Layer& layer, const WorkItem& item, const PortPitches& pitches);

}  // namespace accsim::sim
