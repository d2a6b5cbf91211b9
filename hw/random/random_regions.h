#pragma once
#include <random>
#include <vector>

#include "hw/program/program.h"
#include "hw/random/dice.h"

namespace accsim::hw {

/// The order in which `parts` parts go through a chain of rings with so many slots each. A part may
/// run ahead as far as slots allow. Each step names the hop of one part: 0 into the first ring,
/// slots.size() out of the last one. In the end all rings are empty.
std::vector<size_t> draw_hops(const std::vector<int64_t>& slots, int64_t parts,
                              std::mt19937& random);

/// A walk of so many bytes: one run, or up to six equal ones at a stride.
void draw_walk(Walk& walk, int64_t bytes, Dice dice);
/// Moves the runs of a walk of at most one level so that it reaches over no more than `room` bytes
/// (at least its own). If they are `apart`, no byte is in two runs. Returns how many bytes it
/// reaches over.
int64_t fit_walk(Walk& walk, int64_t room, bool apart);

}  // namespace accsim::hw
