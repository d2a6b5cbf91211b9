#include "sim/map/gather_problem.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/map/gather_emitter.h"

namespace accsim::sim {
namespace {

/// Enough tiles for the first load and the last store to be a small part of the whole.
constexpr int64_t kGatherTiles = 8;
/// Indices that are loaded at once, at most: first all.
constexpr int64_t kLists[] = {INT64_MAX, 4096, 512, 64, 1};

/// Whole rows, as many as so many bytes are, or equal parts of one.
GatherTile tile_of(const GatherProblem& p, int64_t list, int64_t bytes) {
  const int64_t row = p.row_bytes();
  if (bytes >= row) return {list, std::min(list, bytes / row), row};
  return {list, 1, ceil_div(row, ceil_div(row, std::max<int64_t>(1, bytes)))};
}

int64_t all_bytes(const GatherProblem& p) { return p.rows.groups * p.rows.count * p.row_bytes(); }

}  // namespace

std::string to_string(const GatherTile& t) {
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

std::vector<GatherTile> gather_tiles(const GatherProblem& p) {
  std::vector<GatherTile> out;
  const int64_t all = all_bytes(p);
  for (const int64_t most : kLists) {
    const int64_t list = std::min(most, p.rows.count);
    const auto add = [&](int64_t tiles) {
      const GatherTile t = tile_of(p, list, all / tiles);
      if (std::ranges::find(out, t) == out.end()) out.push_back(t);
    };
    for (int64_t n = 1; n <= all; n *= 2) {
      add(n);
      if (n >= 2 && n + n / 2 <= all) add(n + n / 2);
    }
  }
  return out;
}

std::optional<GatherTile> heuristic_gather(const GatherProblem& p, const hw::HwConfig& hw) {
  const int64_t all = all_bytes(p);
  for (const int64_t most : kLists)
    for (int64_t n = std::min(all, kGatherTiles); n <= all; n *= 2) {
      const GatherTile t = tile_of(p, std::min(most, p.rows.count), all / n);
      if (fits(p, hw, t)) return t;
    }
  return std::nullopt;
}

hw::Program emit(const GatherProblem& p, const hw::HwConfig&, const GatherTile& t) {
  ProgramSink sink(hw::Dataflow::weight_stationary);
  GatherEmitter(p, t, sink).run();
  return sink.take();
}

}  // namespace accsim::sim
