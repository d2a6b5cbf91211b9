#include "sim/elaborate/fused_activation.h"

#include <fmt/format.h>

#include <optional>

#include "sim/operators/names.h"

namespace accsim::sim {
namespace {

/// Parameter i of the activation, where the file states it.
std::optional<double> parameter(const Spelling& s, size_t i) {
  const auto* list = held_value<std::vector<double>>(s.call().find_attribute("activation_params"));
  if (list != nullptr && i < list->size()) return (*list)[i];
  const char* name = i == 0 ? "activation_alpha" : "activation_beta";
  const auto* value = held_value<double>(s.call().find_attribute(name));
  return value == nullptr ? std::nullopt : std::optional<double>(*value);
}

}  // namespace

TensorId activate(Spelling& s, TensorId x) {
  const std::string name = s.text("activation", "");
  const std::optional<double> alpha = parameter(s, 0), beta = parameter(s, 1);
  if (name.empty()) return x;
  if (name == op::kRelu || name == op::kSigmoid || name == op::kTanh)
    return s.add(name, "activation", {x});
  std::vector<Attribute> attributes;
  if (alpha) attributes.push_back({"alpha", "", *alpha});
  if (name == op::kLeakyRelu || name == op::kElu) return s.add(name, "activation", {x}, attributes);
  if (beta) attributes.push_back({"beta", "", *beta});
  if (name == op::kHardSigmoid) return s.add(name, "activation", {x}, attributes);
  if (name == "HardSwish") return s.add(name, "activation", {x});
  if (name == op::kClip)
    return s.add(name, "activation",
                 {x, s.number("least", alpha.value_or(-3.4028234663852886e38), s.dtype(x)),
                  s.number("most", beta.value_or(3.4028234663852886e38), s.dtype(x))});
  s.refuse(fmt::format("its activation '{}' isn't known", name));
  return kNoTensor;
}

TensorId gelu(Spelling& s, const std::string& what, TensorId x, bool with_tanh) {
  if (!with_tanh) return s.add("Gelu", what, {x});
  return s.add("Gelu", what, {x}, {{"approximate", "", std::string("tanh")}});
}

TensorId silu(Spelling& s, const std::string& what, TensorId x, double a) {
  TensorId scaled = x;
  if (a != 1)
    scaled = s.add(op::kMul, what + "_scaled", {x, s.number(what + "_alpha", a, s.dtype(x))});
  return s.add(op::kMul, what, {x, s.add(op::kSigmoid, what + "_gate", {scaled})});
}

TensorId rms_norm(Spelling& s, const std::string& what, TensorId x, TensorId gain, double epsilon) {
  return s.add("RMSNormalization", what, {x, gain},
               {{"axis", "", int64_t{-1}}, {"epsilon", "", epsilon}});
}

}  // namespace accsim::sim
