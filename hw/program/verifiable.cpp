#include "hw/program/verifiable.h"

#include "hw/program/reach.h"
#include "hw/program/visit.h"

namespace accsim::hw {
namespace {

const Walk* walk_of(const Command& c) {
  if (const auto* load = std::get_if<LoadCommand>(&c)) return &load->walk;
  if (const auto* store = std::get_if<StoreCommand>(&c)) return &store->walk;
  const auto* stage = std::get_if<StageCommand>(&c);
  return stage ? &stage->walk : nullptr;
}

std::string_view why_not(const Command& c) {
  if (std::holds_alternative<VectorCommand>(c)) return "operations without a command";
  const Walk* walk = walk_of(c);
  if (walk && walk->levels.size() > kWalkLevels) return "walks of many levels";
  const auto* load = std::get_if<LoadCommand>(&c);
  if (!load) return "";
  if (load->padded) return "padded loads";
  if (load->buffer == Buffer::accumulator) return "loads into accumulators";
  return load->transposed > 1 ? "elements of several bytes turned" : "";
}

}  // namespace

std::string_view why_not_verifiable(const Program& program) {
  std::string_view why;
  visit_nest(program.body, [&](const Command& c) { return (why = why_not(c)).empty(); });
  return why;
}

std::string_view why_not_verifiable(const HwConfig& hw) {
  const bool weights = hw.types.weight == DType::int8 || hw.types.weight == DType::int4;
  if (hw.types.activation != DType::int8 || !weights || hw.types.accumulator != DType::int32)
    return "other types than the core's";
  if (hw.dram_model == DramModel::banked) return "banked DRAM";
  if (hw.one_bus()) return "a DRAM whose reads and writes share a bus";
  return hw.shared.weights == RunWeights::kept ? "weights that stay from run to run" : "";
}

}  // namespace accsim::hw
