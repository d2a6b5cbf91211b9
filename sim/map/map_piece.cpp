#include <algorithm>
#include <optional>

#include "sim/base/key_bytes.h"
#include "sim/map/mapper.h"

namespace accsim::sim {
namespace {

/// What is tried, until it fits: a product's channels and outputs at once, its channels, and of
/// rows that are too long for a slot the fewest parts of them.
std::vector<MappingPin> pins_of(const OpRequest& request, const SlotChunks& turns,
                                const hw::HwConfig& hw) {
  MappingPin pin;
  pin.chunks = turns.chunks;
  const auto* gemm = std::get_if<GemmOp>(&request.item);
  if (gemm == nullptr) return {pin};
  const bool lines = turns.lines > 0;
  pin.pixels = {lines ? gemm->out[2] : gemm->m()};
  if (lines) pin.lines = {turns.lines};
  std::vector<MappingPin> out;
  const int64_t blocks = ceil_div(gemm->channels, hw.array.rows);
  for (int64_t parts = 1; parts == 1 || (!lines && parts < 2 * blocks); parts *= 2) {
    const int64_t channels = ceil_div(blocks, parts) * hw.array.rows;
    pin.channels = {std::min(gemm->channels, channels)};
    pin.outputs = {gemm->outputs};
    out.push_back(pin);
    pin.outputs.clear();
    out.push_back(pin);
  }
  return out;
}

}  // namespace

Result<std::shared_ptr<const Mapping>> Mapper::map_piece(const OpRequest& request,
                                                         const SlotChunks& turns,
                                                         const std::string& layer) {
  const std::string key = key_of(request) + KeyBytes().add(turns.chunks, turns.lines).take_bytes();
  if (auto known = find_known(request, key)) return known;
  ObjectiveFunction objective = options_.objective_function();
  objective.slack = 0;
  std::optional<Result<Mapping>> tried;
  for (const MappingPin& pin : pins_of(request, turns, machine_of(request)))
    if (!tried || !*tried) tried = search_op(request, pin, objective);
  Result<Mapping> found = std::move(*tried);
  found = check_found(std::move(found), layer);
  if (!found) return found.errors();
  return keep_mapping(request, key, std::move(*found));
}

}  // namespace accsim::sim
