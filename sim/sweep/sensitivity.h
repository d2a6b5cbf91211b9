#pragma once
#include <cstddef>
#include <span>
#include <vector>

namespace accsim::sim {

/// The step of each axis that a point has, as numbers from 0.
using Levels = std::vector<size_t>;

/// What each step of each axis adds to `values`, the other axes' shares taken out: the additive
/// model that is nearest to the values in the sum of squares. Over a whole grid these are the
/// differences of the means. `levels` has a point for each value; `steps` says how many there are
/// by axis.
std::vector<std::vector<double>> main_effects(std::span<const Levels> levels,
                                              std::span<const double> values,
                                              std::span<const size_t> steps);

}  // namespace accsim::sim
