#include "hw/program/core_runs.h"

#include <fmt/format.h>

#include <array>

#include "hw/numbers/core_formats.h"
#include "hw/program/reach.h"
#include "hw/program/visit.h"

namespace accsim::hw {
namespace {

struct Reason {
  std::string_view name;      ///< in reports
  std::string_view sentence;  ///< of an error; "" where ports or commands have their own
};
/// By CoreLack.
constexpr std::array<Reason, kCoreLacks> kReasons = {{
    {"rows of dot products",
     "the core's array is systolic: verify a machine whose array.template is systolic"},
    {"other types than the core's", "the core computes int8 x int8 -> int32 only"},
    {"banked DRAM",
     "the core's memory port is the ideal DRAM: verify a copy of the machine with dram.model: "
     "ideal"},
    {"a DRAM whose reads and writes share a bus",
     "the core's memory has a channel for each direction: verify a copy of the machine with "
     "dram.bus: separate"},
    {"weights that stay from run to run",
     "every run of the core reads its weights from DRAM: verify a copy of the machine with "
     "buffers.shared.weights: read"},
    {"no core of this machine", ""},
    {"rates of a mode other than 1", ""},
    {"operations without a command", ""},
    {"walks of many levels", ""},
    {"padded loads", ""},
    {"loads into accumulators", ""},
    {"elements of several bytes turned", ""},
}};

const Reason& reason_for(CoreLack lack) { return kReasons[static_cast<size_t>(lack)]; }

bool is_coded_as(DType type, FormatId id) {
  const NumberFormat* format = format_of(type);
  return format && format->id == id;
}
bool has_types(DType activation, DType weight) {
  using namespace core_formats;
  return is_coded_as(activation, kOperand) &&
         (is_coded_as(weight, kOperand) || is_coded_as(weight, kPacked));
}

bool is_wide(const HwConfig& hw, size_t buffer, int64_t most) {
  return static_cast<Buffer>(buffer) != Buffer::accumulator && hw.buffers[buffer].width > most;
}
bool has_wide_ports(const HwConfig& hw, int64_t most) {
  for (size_t b = 0; b < kBuffers; ++b)
    if (is_wide(hw, b, most)) return true;
  return false;
}

Error unsupported_error(const HwConfig& hw, std::string_view message) {
  return {Errc::unsupported, std::string(message), hw.file.empty() ? hw.name : hw.file};
}

/// Errors for the ports that are wider than `most` bytes; `whose` limit it is begins the reason.
Errors wide_ports(const HwConfig& hw, int64_t most, std::string_view whose) {
  Errors out;
  for (size_t b = 0; b < kBuffers; ++b)
    if (is_wide(hw, b, most))
      out.push_back(unsupported_error(
          hw, fmt::format("buffers.{}.width is {}; {} at most {} bytes",
                          name(static_cast<Buffer>(b)), hw.buffers[b].width, whose, most)));
  return out;
}

const Walk* walk_of(const Command& c) {
  if (const auto* load = std::get_if<LoadCommand>(&c)) return &load->walk;
  if (const auto* store = std::get_if<StoreCommand>(&c)) return &store->walk;
  const auto* stage = std::get_if<StageCommand>(&c);
  return stage ? &stage->walk : nullptr;
}

}  // namespace

std::string_view name(std::optional<CoreLack> lack) { return lack ? reason_for(*lack).name : ""; }

std::optional<CoreLack> core_lacks(const HwConfig& hw) {
  if (hw.has_dot_products()) return CoreLack::dot_products;
  if (!has_types(hw.types.activation, hw.types.weight) ||
      !is_coded_as(hw.types.accumulator, core_formats::kAccumulator))
    return CoreLack::types;
  if (hw.dram_model == DramModel::banked) return CoreLack::banked_dram;
  if (hw.one_bus()) return CoreLack::one_bus;
  if (hw.shared.weights == RunWeights::kept) return CoreLack::kept_weights;
  if (has_wide_ports(hw, kMostCosimPort)) return CoreLack::wide_ports;
  return std::nullopt;
}

std::optional<CoreLack> core_lacks(const TypeMode& mode) {
  if (!has_types(mode.activation, mode.weight)) return CoreLack::types;
  if (mode.rate != 1) return CoreLack::mode_rate;
  return std::nullopt;
}

std::optional<CoreLack> core_lacks(const Command& command) {
  if (std::holds_alternative<VectorCommand>(command)) return CoreLack::operations;
  const Walk* walk = walk_of(command);
  if (walk && walk->levels.size() > kWalkLevels) return CoreLack::walk_levels;
  const auto* load = std::get_if<LoadCommand>(&command);
  if (!load) return std::nullopt;
  if (load->padded) return CoreLack::padded_loads;
  if (load->buffer == Buffer::accumulator) return CoreLack::accumulator_loads;
  if (load->transposed > 1) return CoreLack::wide_elements;
  return std::nullopt;
}

std::optional<CoreLack> core_lacks(const Program& program) {
  std::optional<CoreLack> out;
  visit_nest(program.body, [&](const Command& c) { return !(out = core_lacks(c)); });
  return out;
}

Status rtl_describes(const HwConfig& hw) {
  for (const CoreLack lack : {CoreLack::dot_products, CoreLack::types})
    if (core_lacks(hw) == lack) return unsupported_error(hw, reason_for(lack).sentence);
  if (Errors wide = wide_ports(hw, kMostRtlPort, "a beat of the core counts"); !wide.empty())
    return wide;
  return ok();
}

Status cosim_builds(const HwConfig& hw) {
  if (const Status described = rtl_describes(hw); !described) return described;
  if (Errors wide = wide_ports(hw, kMostCosimPort, "co-simulation's ports have"); !wide.empty())
    return wide;
  return ok();
}

Status core_runs(const HwConfig& hw) {
  const std::optional<CoreLack> lack = core_lacks(hw);
  if (!lack || *lack == CoreLack::wide_ports) return cosim_builds(hw);
  return unsupported_error(hw, reason_for(*lack).sentence);
}

}  // namespace accsim::hw
