#include "sim/base/key_bytes.h"
#include "sim/map/mapper.h"

namespace accsim::sim {

Result<std::shared_ptr<const Mapping>> Mapper::map_piece(const OpRequest& request,
                                                         const SlotTurns& turns,
                                                         const std::string& layer) {
  const std::string key = key_of(request) + KeyBytes().add(turns.chunks, turns.lines).take();
  if (const auto known = cache_.find(key); known != cache_.end()) return known->second;
  MappingMemory::Alike* const alike = pieces_[std::holds_alternative<GemmOp>(request.item)].get();
  if (alike != nullptr)
    if (MappingMemory::Found known = alike->find(key)) return known;
  MappingPin pin;
  pin.chunks = turns.chunks;
  if (const auto* gemm = std::get_if<GemmOp>(&request.item)) {
    pin.pixels = {turns.lines > 0 ? gemm->out[2] : gemm->m()};
    if (turns.lines > 0) pin.lines = {turns.lines};
    pin.channels = {gemm->channels};
    pin.outputs = {gemm->outputs};
  }
  Aim aim = options_.aim();
  aim.slack = 0;
  Result<Mapping> found = search(request, pin, aim);
  if (!found && !pin.free()) {
    pin.outputs.clear();
    found = search(request, pin, aim);
  }
  found = checked(std::move(found), layer);
  if (!found) return found.errors();
  MappingMemory::Found mapping = std::make_shared<const Mapping>(std::move(found).value());
  if (alike != nullptr) return alike->add(key, std::move(mapping));
  cache_.emplace(key, mapping);
  return mapping;
}

}  // namespace accsim::sim
