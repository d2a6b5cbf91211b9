#include "sim/lower/nearest.h"

#include <algorithm>
#include <cmath>

#include "sim/operators/fold.h"
#include "sim/operators/pool/pool_rules.h"
#include "sim/operators/rules.h"

namespace accsim::sim {
namespace {

/// The place in the input of output o, by the definition of attribute
/// coordinate_transformation_mode; scales are out / in.
std::optional<double> input_place(const std::string& mode, int64_t o, int64_t in, int64_t out) {
  const double scale = static_cast<double>(out) / static_cast<double>(in);
  const auto at = static_cast<double>(o);
  if (mode == "asymmetric") return at / scale;
  if (mode == "half_pixel" || mode == "half_pixel_symmetric") return (at + 0.5) / scale - 0.5;
  if (mode == "pytorch_half_pixel") return out > 1 ? (at + 0.5) / scale - 0.5 : 0;
  if (mode == "tf_half_pixel_for_nn") return (at + 0.5) / scale;
  if (mode == "align_corners")
    return out > 1 ? at * static_cast<double>(in - 1) / static_cast<double>(out - 1) : 0;
  return std::nullopt;
}

/// The element nearest to a place, by the definition of attribute nearest_mode.
std::optional<int64_t> nearest_element(const std::string& mode, double at, int64_t in) {
  double nearest = 0;
  if (mode == "round_prefer_floor")
    nearest = std::ceil(at - 0.5);
  else if (mode == "round_prefer_ceil")
    nearest = std::floor(at + 0.5);
  else if (mode == "floor")
    nearest = std::floor(at);
  else if (mode == "ceil")
    nearest = std::ceil(at);
  else
    return std::nullopt;
  return std::clamp<int64_t>(static_cast<int64_t>(nearest), 0, in - 1);
}

/// Are the scales out / in exactly? Sizes make them so.
bool has_own_scales(const NodeView& node) {
  if (chooses_places(node)) {
    if (!node.has_input(2) || elements(node.dims(2)) == 0)
      return node.attr("keep_aspect_ratio_policy", "stretch") == "stretch";
    if (node.has_attr("axes")) return false;
  }
  const auto scales = resize_scales(node);
  const Dims &in = node.dims(0), &out = node.output(0).dims;
  if (!scales || scales->size() != in.size()) return false;
  for (size_t d = 0; d < in.size(); ++d)
    if ((*scales)[d] * static_cast<double>(in[d]) != static_cast<double>(out[d])) return false;
  return true;
}

}  // namespace

std::optional<NearestStep> nearest_step(const NodeView& node, size_t dim) {
  const int64_t in = node.dims(0)[dim], out = node.output(0).dims[dim];
  if (node.attr("mode", "nearest") != "nearest" || !has_own_scales(node)) return std::nullopt;
  if (in == out) return NearestStep{};
  NearestStep step;
  if (out % in == 0)
    step.repeats = out / in;
  else if (in % out == 0)
    step.stride = in / out;
  else
    return std::nullopt;
  const bool fixed = !chooses_places(node);
  const std::string places =
      fixed ? "asymmetric" : node.attr("coordinate_transformation_mode", "half_pixel");
  const std::string rounding = fixed ? "floor" : node.attr("nearest_mode", "round_prefer_floor");
  for (int64_t o = 0; o < out; ++o) {
    const auto at = input_place(places, o, in, out);
    const auto from = at ? nearest_element(rounding, *at, in) : std::nullopt;
    if (!from) return std::nullopt;
    if (o == 0) step.first = *from;
    if (*from != step.first + o / step.repeats * step.stride) return std::nullopt;
  }
  if (step.repeats > 1 && step.first != 0) return std::nullopt;
  return step;
}

}  // namespace accsim::sim
