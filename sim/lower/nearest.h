#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/operators/node_view.h"

namespace accsim::sim {

/// Where the elements of a nearest-neighbour resize come from along a dim: output o from input
/// o / repeats, or from first + o * stride.
struct NearestStep {
  int64_t repeats = 1, first = 0, stride = 1;
};

/// The place in the input of output o, by the definition of attribute
/// coordinate_transformation_mode; scales are out / in. nullopt for modes that need more.
std::optional<double> input_place(const std::string& mode, int64_t o, int64_t in, int64_t out);
/// Are the scales of a Resize or Upsample out / in exactly? Sizes make them so.
bool has_own_scales(const NodeView& node);

/// The element of dim `dim` of the input for each of the output's, of a nearest-neighbour Resize or
/// Upsample; nullopt where that isn't what it does.
std::optional<std::vector<int64_t>> nearest_elements(const NodeView& node, size_t dim);
/// Are all dims repeated or left out evenly, for which there is a command, or in so few boxes that
/// moves can put them together?
bool is_made_of_moves(const NodeView& node);
/// The first of these.
bool has_even_steps(const NodeView& node);
/// Of dim `dim` of a Resize or Upsample; nullopt where the elements come from elsewhere, or are
/// interpolated.
std::optional<NearestStep> nearest_step(const NodeView& node, size_t dim);

}  // namespace accsim::sim
