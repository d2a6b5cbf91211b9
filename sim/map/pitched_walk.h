#pragma once
#include "hw/program/program.h"
#include "sim/work/pitch.h"

namespace accsim::sim {

/// An address or a walk in a tensor that lies densely, where its rows have a pitch. Every step of
/// them goes from row to row or stays within one, or goes over whole rows.
hw::Affine pitched(hw::Affine at, const Pitch& pitch);
hw::Walk pitched(const hw::Walk& walk, const Pitch& pitch);
/// A padded window whose tensor does so.
hw::PaddedWindow pitched(hw::PaddedWindow window, const Pitch& pitch);

}  // namespace accsim::sim
