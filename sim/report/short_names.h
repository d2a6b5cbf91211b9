#pragma once
#include <string>
#include <vector>

namespace accsim::sim {

/// Names of layers for a column of `width` (>= 1) columns, one a name, in the names' order. A
/// name that fits stays as it is. One that doesn't keeps its end, and a "~" stands where something
/// is left out; what makes way, in this order, until it fits and is no other's:
///   - leading parts that all names which are too long share, and parts that the next one repeats:
///     /features/features.1/conv/conv.0/conv.0.0/Conv is ~features.1/conv.0.0/Conv
///   - letters of its parts from the left: ~f.1/conv.0.0/Conv
///   - all but its end, or its middle
///   - what a number needs, its place among the names: ~.0/Conv#7
/// Different names stay different wherever the width has room for "~" and those numbers; equal ones
/// stay equal. Names are printable UTF-8.
std::vector<std::string> shorten_names(const std::vector<std::string>& names, size_t width);

}  // namespace accsim::sim
