#include "hw/config/type_modes.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>

#include "sim/base/check.h"

namespace accsim::hw {

TypeMode type_mode(const HwConfig& hw, int mode) {
  const TypesConfig& t = hw.types;
  if (mode == kOwnTypes) return {t.activation, t.weight, 1, hw.energy.mac, t.weight_group};
  check(mode >= 0 && mode < static_cast<int>(t.modes.size()), "a mode that the machine has");
  return t.modes[static_cast<size_t>(mode)];
}

int mode_count(const HwConfig& hw) { return 1 + static_cast<int>(hw.types.modes.size()); }

std::string to_string(const TypeMode& mode) {
  return fmt::format("{} x {}", name(mode.activation), name(mode.weight));
}

DType accumulator_of(DType activation) {
  return is_float(activation) ? DType::float32 : DType::int32;
}

HwConfig machine_of_mode(const HwConfig& hw, int mode) {
  HwConfig out = hw;
  out.types.modes.clear();
  if (mode == kOwnTypes) return out;
  const TypeMode m = type_mode(hw, mode);
  out.types.activation = m.activation;
  out.types.weight = m.weight;
  out.types.accumulator = accumulator_of(m.activation);
  out.types.weight_group = m.group;
  out.array.rows = std::llround(static_cast<double>(hw.array.rows) * m.rate);
  out.energy.mac = m.mac;
  if (m.rate != 1) std::erase(out.array.dataflows, Dataflow::output_stationary);
  return out;
}

HwConfig machine_of_activations(const HwConfig& hw, DType activation) {
  HwConfig out = hw;
  std::erase_if(out.types.modes, [&](const TypeMode& m) { return m.activation != activation; });
  if (activation == hw.types.activation) return out;
  check(!out.types.modes.empty(), "activations that a mode of the machine has");
  out.types.activation = out.types.weight = activation;
  out.types.accumulator = accumulator_of(activation);
  out.types.weight_group = 0;
  return out;
}

}  // namespace accsim::hw
