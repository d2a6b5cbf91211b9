#include <algorithm>

#include "sim/elaborate/fused_activation.h"
#include "sim/elaborate/fused_forms.h"
#include "sim/operators/names.h"
#include "sim/operators/rules.h"

namespace accsim::sim {
namespace {

/// x without the channels beyond `channels` of its axis 1: a runtime adds some to fill a block.
TensorId without_filling(Spelling& s, const std::string& what, TensorId x, int64_t axis,
                         int64_t channels) {
  return s.dim(x, axis) > channels && channels > 0 ? s.slice(what, x, axis, 0, channels) : x;
}

/// The same pool of ai.onnx.
TensorIds pool(Spelling& s) {
  return {s.add(s.call().def.op_type, "", {s.input(0)}, s.call().attributes)};
}

}  // namespace

// A runtime's blocks of channels are its own way to lie in memory: the values are an image's.
TensorIds spell_nchwc_pool(Spelling& s) { return pool(s); }

TensorIds spell_nchwc_conv(Spelling& s) {
  std::vector<Attribute> attributes = s.call().attributes;
  std::erase_if(attributes, [](const Attribute& a) { return a.name.starts_with("activation"); });
  const TensorId x = s.input(0);
  TensorId w = s.add_all(std::string(kNchwc), "UnblockWeights", "weights", {s.input(1)}, 1)[0];
  const int64_t group = std::max<int64_t>(s.integer("group", 1), 1);
  TensorId bias = s.input(2);
  if (group == 1) w = without_filling(s, "filled", w, 1, s.dim(x, 1));
  if (group > 1 && group == s.dim(w, 0) && s.dim(x, 1) < group) {  // channel by channel
    const int64_t channels = s.dim(x, 1);
    w = without_filling(s, "filled", w, 0, channels);
    if (bias != kNoTensor) bias = without_filling(s, "bias", bias, 0, channels);
    for (Attribute& a : attributes)
      if (a.name == "group") a.value = channels;
  }
  TensorId y = s.add(op::kConv, "conv", {x, w, bias}, attributes);
  if (s.has(3)) y = s.add(op::kAdd, "sum", {y, s.input(3)});
  return {activate(s, y)};
}

TensorIds spell_nchwc_upsample(Spelling& s) {
  const TensorId x = s.input(0);
  Dims sizes = s.dims(x);
  const std::vector<int64_t> scales = s.call().integers_attribute("scales");
  if (scales.size() != sizes.size()) return s.refuse("it lacks a scale a dim"), TensorIds{};
  for (size_t i = 0; i < sizes.size(); ++i) {
    const auto size = scales[i] < 1 ? std::nullopt : size_product(sizes[i], scales[i]);
    if (!size) return s.refuse("a scale of it is too small or too large"), TensorIds{};
    sizes[i] = *size;
  }
  const bool nearest = s.text("mode", "nearest") == "nearest";
  std::vector<Attribute> attributes{{"mode", "", std::string(nearest ? "nearest" : "linear")},
                                    {"coordinate_transformation_mode", "",
                                     s.text("coordinate_transformation_mode", "asymmetric")}};
  if (nearest) attributes.push_back({"nearest_mode", "", std::string("floor")});
  return {s.add("Resize", "",
                {x, kNoTensor, kNoTensor, s.integers("sizes", {sizes.begin(), sizes.end()})},
                attributes)};
}

TensorIds spell_reorder_input(Spelling& s) {
  const TensorId x = s.input(0);
  return {s.integer("channels_last", 0) != 0 ? s.channels_first("image", x) : x};
}

TensorIds spell_reorder_output(Spelling& s) {
  const TensorId x = without_filling(s, "channels", s.input(0), 1, s.integer("channels", 0));
  return {s.integer("channels_last", 0) != 0 ? s.channels_last("image", x) : x};
}

}  // namespace accsim::sim
