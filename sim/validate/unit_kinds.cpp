#include "sim/validate/unit_kinds.h"

#include <fmt/format.h>

#include <array>

#include "sim/operators/names.h"

namespace accsim::sim {
namespace {

/// A stage of a point-wise layer, by the names of its parameters.
struct StageNames {
  std::string_view there, alu, mul, alu_operand, mul_operand;
};
constexpr std::array<StageNames, 2> kStages = {
    {{"stage1", "stage1_alu", "stage1_mul", "stage1_alu_operand", "stage1_mul_operand"},
     {"stage2", "stage2_alu", "stage2_mul", "stage2_alu_operand", "stage2_mul_operand"}}};

LayerParameter flag(std::string_view name, std::string_view meaning) {
  return {.name = name, .least = 0, .otherwise = 0, .meaning = meaning};
}

/// Columns that a strip behind the first reads again.
int64_t read_again(const LayerSizes& s) { return s["kernel_w"] - s["stride_x"]; }

int64_t outputs_of(const LayerSizes& s) {
  return (s["w"] + s["pad_l"] + s["pad_r"] - s["kernel_w"]) / s["stride_x"] + 1;
}

}  // namespace

std::vector<LayerParameter> strip_parameters() {
  return {{.name = "strips", .otherwise = 1, .meaning = "vertical strips, one after the other"},
          flag("strip_first_w", "columns that the first strip reads"),
          flag("strip_mid_w", "columns that each in between adds"),
          flag("strip_last_w", "columns that the last adds"),
          flag("strip_first_out", "columns of outputs of the first"),
          flag("strip_mid_out", "columns of outputs of each in between"),
          flag("strip_last_out", "columns of outputs of the last")};
}

LayerParameter bypass_parameter() { return flag("bypass", "1: squares and products are left out"); }

std::vector<LayerParameter> stage_parameters() {
  std::vector<LayerParameter> out = {flag(kOwnStages, "1: its stages are those that follow")};
  for (const StageNames& names : kStages) {
    out.push_back(flag(names.there, "1: the stage isn't bypassed"));
    out.push_back(flag(names.alu, "1: it has a sum, a maximum or a minimum"));
    out.push_back(flag(names.mul, "1: it has a product"));
    out.push_back(flag(names.alu_operand, "1: an operand of the sum is read for each element"));
    out.push_back(flag(names.mul_operand, "1: a factor is read for each element"));
  }
  return out;
}

std::optional<UnitPin> pool_pin(const LayerSizes& s) {
  UnitPin out;
  out.to_last_write = true;
  if (s["strips"] <= 1) return out;
  const int64_t again = read_again(s);
  out.strips.push_back({s["strip_first_w"], s["strip_first_out"]});
  for (int64_t i = 2; i < s["strips"]; ++i)
    out.strips.push_back({s["strip_mid_w"] + again, s["strip_mid_out"]});
  out.strips.push_back({s["strip_last_w"] + again, s["strip_last_out"]});
  return out;
}

std::optional<UnitPin> lrn_pin(const LayerSizes& s) {
  if (s["bypass"] == 0) return std::nullopt;
  UnitPin out;
  out.bypass = true;
  return out;
}

std::optional<UnitPin> pointwise_pin(const LayerSizes& s) {
  if (s[kOwnStages] == 0) return std::nullopt;
  UnitPin out;
  out.stages.emplace();
  for (const StageNames& names : kStages)
    if (s[names.there] != 0)
      out.stages->push_back(
          {s[names.alu] != 0, s[names.mul] != 0,
           (s[names.alu_operand] != 0 ? 1 : 0) + (s[names.mul_operand] != 0 ? 1 : 0)});
  return out;
}

Status check_strips(const LayerSizes& s) {
  if (s["strips"] <= 1) return ok();
  const int64_t between = s["strips"] - 2;
  const int64_t outputs = s["strip_first_out"] + s["strip_last_out"] + between * s["strip_mid_out"];
  const int64_t columns = s["strip_first_w"] + s["strip_last_w"] + between * s["strip_mid_w"];
  if (s["strips"] > hw::kMostSideSize || outputs != outputs_of(s))
    return Error{Errc::invalid,
                 fmt::format("{} strips have {} columns of outputs, and the layer has {}",
                             s["strips"], outputs, outputs_of(s)),
                 ""};
  if (columns != s["w"])
    return Error{Errc::invalid,
                 fmt::format("{} strips read {} columns, and the layer has {}", s["strips"],
                             columns, s["w"]),
                 ""};
  return ok();
}

std::vector<PointFunction> stage_functions(const LayerSizes& s) {
  std::vector<PointFunction> out;
  for (const StageNames& names : kStages) {
    if (s[names.there] == 0) continue;
    if (s[names.alu] != 0) out.push_back({op::kAdd, s[names.alu_operand] != 0});
    if (s[names.mul] != 0) out.push_back({op::kMul, s[names.mul_operand] != 0});
  }
  if (out.empty()) out.push_back({op::kRelu});
  return out;
}

}  // namespace accsim::sim
