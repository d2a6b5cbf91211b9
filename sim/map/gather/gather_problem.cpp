#include "sim/map/gather/gather_problem.h"

#include <fmt/format.h>

#include <algorithm>

#include "hw/program/program.h"

namespace accsim::sim {
namespace {

/// Enough tiles for the first load and the last store to be a small part of the whole.
constexpr int64_t kGatherTiles = 8;
/// Indices that are loaded at once, at most: first all.
constexpr int64_t kLists[] = {INT64_MAX, 4096, 512, 64, 1};

/// Indices that are loaded at once, at most so many: whole lists, or a part of one.
int64_t indices_at_once(const GatherProblem& p, int64_t most) {
  const int64_t count = p.rows.count, all = std::min(most, p.rows.indices());
  return all < count ? all : all / count * count;
}

/// Whole rows, as many as so many bytes are, or equal parts of one.
GatherTile tile_of(const GatherProblem& p, int64_t list, int64_t bytes) {
  const int64_t row = p.row_bytes(), items = std::min(list, p.rows.count);
  if (bytes >= row) return {list, std::min(items, bytes / row), row};
  return {list, 1, ceil_div(row, ceil_div(row, std::max<int64_t>(1, bytes)))};
}

int64_t all_bytes(const GatherProblem& p) { return p.rows.groups * p.rows.count * p.row_bytes(); }

}  // namespace

std::optional<GatherProblem> GatherSource::of_request(const OpRequest& r, const hw::HwConfig& hw) {
  const auto* memory = std::get_if<MemoryOp>(&r.item);
  if (memory == nullptr) return std::nullopt;
  const MemoryOp& op = *memory;
  if (!op.picked || op.inputs.size() != 2) return std::nullopt;
  const Operand data = operand_of_port(r.inputs, op.inputs[0].port, hw);
  const Operand indices = operand_of_port(r.inputs, op.inputs[1].port, hw);
  const Operand out = operand_of_port(r.outputs, op.outputs[0].port, hw);
  if (data.element_bytes != out.element_bytes) return std::nullopt;
  const GatherProblem p{*op.picked, data.place,         indices.place,
                        out.place,  data.element_bytes, indices.element_bytes};
  return has_gather_commands(p) ? std::optional(p) : std::nullopt;
}

std::string to_string(const GatherProblem&, const GatherTile& t) {
  return fmt::format("{} row{} of {} bytes by a list of {}", t.items, t.items == 1 ? "" : "s",
                     t.bytes, t.list);
}

bool has_gather_commands(const GatherProblem& p) {
  constexpr int64_t kWord = int64_t{1} << 32;
  const bool words = p.index_bytes == 4 || p.index_bytes == 8;
  return words && p.row_bytes() < kWord && p.rows.rows <= kWord;
}

bool fits(const GatherProblem& p, const hw::HwConfig& hw, const GatherTile& t) {
  const auto slot = [&](hw::Buffer b) { return hw.buffer(b).slot_bytes(); };
  return has_gather_commands(p) &&
         t.list * hw::Gather::kIndexBytes <= slot(hw::Buffer::parameter) &&
         t.items * t.bytes <= slot(hw::Buffer::output);
}

std::vector<std::pair<int64_t, GatherTile>> tilings(const GatherProblem& p,
                                                    const hw::HwConfig& hw) {
  std::vector<GatherTile> out;
  const int64_t all = all_bytes(p);
  for (const int64_t most : kLists) {
    const int64_t list = indices_at_once(p, most);
    for_chunk_counts(all, [&](int64_t tiles) {
      if (tiles > all) return;
      const GatherTile t = tile_of(p, list, all / tiles);
      if (std::ranges::find(out, t) == out.end()) out.push_back(t);
    });
  }
  std::vector<std::pair<int64_t, GatherTile>> fitting;
  for (const GatherTile& t : out)
    if (fits(p, hw, t)) fitting.push_back({0, t});
  return fitting;
}

std::optional<GatherTile> rule_tiling(const GatherProblem& p, const hw::HwConfig& hw) {
  const int64_t all = all_bytes(p);
  for (const int64_t most : kLists)
    for (int64_t n = std::min(all, kGatherTiles); n <= all; n *= 2) {
      const GatherTile t = tile_of(p, indices_at_once(p, most), all / n);
      if (fits(p, hw, t)) return t;
    }
  return std::nullopt;
}

}  // namespace accsim::sim
