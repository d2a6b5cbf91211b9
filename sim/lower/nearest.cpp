#include "sim/lower/nearest.h"

#include <algorithm>
#include <cmath>

#include "sim/operators/fold.h"
#include "sim/operators/movement/index_rules.h"
#include "sim/operators/pool/pool_rules.h"
#include "sim/operators/rules.h"

namespace accsim::sim {
namespace {

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

}  // namespace

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

std::optional<std::vector<int64_t>> nearest_elements(const NodeView& node, size_t dim) {
  const int64_t in = node.dims(0)[dim], out = node.output(0).dims[dim];
  if (node.attr("mode", "nearest") != "nearest" || !has_own_scales(node) || in == 0)
    return std::nullopt;
  const bool fixed = !chooses_places(node);
  const std::string places =
      fixed ? "asymmetric" : node.attr("coordinate_transformation_mode", "half_pixel");
  const std::string rounding = fixed ? "floor" : node.attr("nearest_mode", "round_prefer_floor");
  std::vector<int64_t> elements;
  for (int64_t o = 0; o < out; ++o) {
    const auto at = input_place(places, o, in, out);
    const auto from = at ? nearest_element(rounding, *at, in) : std::nullopt;
    if (!from) return std::nullopt;
    elements.push_back(*from);
  }
  return elements;
}

bool has_even_steps(const NodeView& node) {
  for (size_t d = 0; d < node.dims(0).size(); ++d)
    if (!nearest_step(node, d)) return false;
  return true;
}

bool is_made_of_moves(const NodeView& node) {
  if (has_even_steps(node)) return true;
  for (size_t d = 0; d < node.dims(0).size(); ++d) {
    const auto elements = nearest_elements(node, d);
    if (!elements || pick_runs(*elements).size() > kMostBoxes) return false;
  }
  return true;
}

std::optional<NearestStep> nearest_step(const NodeView& node, size_t dim) {
  const int64_t in = node.dims(0)[dim], out = node.output(0).dims[dim];
  if (node.attr("mode", "nearest") != "nearest" || !has_own_scales(node)) return std::nullopt;
  if (in == out) return NearestStep{};
  if (in == 0 || out == 0) return std::nullopt;
  NearestStep step;
  if (out % in == 0)
    step.repeats = out / in;
  else if (in % out == 0)
    step.stride = in / out;
  else
    return std::nullopt;
  const auto elements = nearest_elements(node, dim);
  if (!elements) return std::nullopt;
  step.first = elements->front();
  for (int64_t o = 0; o < out; ++o)
    if ((*elements)[static_cast<size_t>(o)] != step.first + o / step.repeats * step.stride)
      return std::nullopt;
  if (step.repeats > 1 && step.first != 0) return std::nullopt;
  return step;
}

}  // namespace accsim::sim
