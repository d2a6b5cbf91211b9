#include "sim/schedule/line_tile_shape.h"

#include <algorithm>
#include <bit>
#include <set>

#include "sim/schedule/chain.h"
#include "sim/schedule/row_groups.h"

namespace accsim::sim {
namespace {

constexpr int64_t kMostPieces = 64;  ///< of an op

/// Of the first op on the array.
const GemmOp& first_product(const LineGroup& run, std::span<const OpRequest> requests) {
  return std::get<GemmOp>(requests[run.on_array[0] ? 0 : 1].item);
}

/// Is a wait for an operand the first thing of the load queue in its outermost loop? Then it may as
/// well stand before the loop.
bool waits_first(const OpTrace& trace, const OperandPort& port) {
  size_t end = 0;  // of the outermost loop
  bool loaded = false;
  for (size_t i = 0; i < trace.steps.size(); ++i) {
    const hw::Step& s = trace.steps[i];
    if (i >= end) {
      loaded = false;
      end = s.kind == hw::Step::Kind::loop ? i + 1 + static_cast<size_t>(s.span) : i + 1;
    }
    if (s.kind == hw::Step::Kind::wait_marks && trace.ports[static_cast<size_t>(s.tensor)] == port)
      return !loaded && s.to_read;
    if (s.kind == hw::Step::Kind::stage) return false;
    loaded = loaded || s.kind == hw::Step::Kind::load;
  }
  return false;
}

/// Says which marks pieces wait for; false where these don't cover what they read.
bool set_marks(const LineGroup& run, const std::vector<std::vector<int64_t>>& ends,
               std::vector<LineStep>& turns) {
  std::vector<int64_t> marked(run.ops.size(), -1);
  for (size_t i = 0; i < turns.size(); ++i) {
    LineStep& t = turns[i];
    if (t.k > 0) {
      t.awaits = marked[t.k - 1];
      const int64_t needed = run.flows[t.k].slices_needed(ends[t.k][static_cast<size_t>(t.piece)]);
      if (t.awaits < 0 || ends[t.k - 1][static_cast<size_t>(t.awaits)] < needed) return false;
      if (turns[i - 1].k == t.k - 1) marked[t.k - 1] = turns[i - 1].piece;
    }
    const bool read_next = i + 1 < turns.size() && turns[i + 1].k == t.k + 1;
    if (!read_next) marked[t.k] = t.piece;
  }
  return true;
}

/// Does a piece of op `k` run as it is cut: as lane commands where it isn't a product, with what it
/// waits for in front?
bool as_cut(const LineTilingInput& in, size_t k, const OpRequest& piece, const OpTrace& trace) {
  if (!in.run.on_array[k] && !in.mapper.takes_lanes(piece)) return false;
  return loads_first(trace) && (k == 0 || waits_first(trace, in.run.flows[k].in));
}

}  // namespace

int64_t most_lines(const LineGroup& run, std::span<const OpRequest> requests,
                   const hw::HwConfig& hw) {
  const GemmOp& op = first_product(run, requests);
  return std::min(op.out[1] / 2, hw.accumulator_rows() / op.out[2]);
}

std::optional<FoundShape> best_line_shape(
    int64_t most_lines, const std::function<int64_t(const LineTileShape&)>& cycles) {
  if (most_lines < 1) return std::nullopt;
  // Powers of two, all of them: where more fits, the same ones are tried and some more.
  std::optional<FoundShape> best;
  for (auto lines = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(most_lines)));
       lines > 0; lines /= 2)
    for (const int64_t tiles : {2, 1})
      for (const int64_t chunks : {1, 2}) {
        const LineTileShape cut{lines, tiles, chunks};
        const int64_t its = cycles(cut);
        if (!best || its < best->cycles) best = FoundShape{cut, its};
      }
  return best;
}

std::optional<std::vector<LineStep>> cut_into(const LineTilingInput& in, const LineTileShape& cut) {
  const LineGroup& run = in.run;
  const int64_t count = ceil_div(first_product(run, in.requests).out[1], cut.lines * cut.tiles);
  if (count == 1 || count > kMostPieces) return std::nullopt;
  const auto ends = line_ends(run, cut.lines * cut.tiles);
  std::vector<OpRequest> pieces(in.requests.begin(), in.requests.end());
  for (OpRequest& its : pieces) its.room = 0;
  std::vector<std::shared_ptr<const Mapping>> mappings(pieces.size());  // of those pieces
  std::vector<LineStep> out;
  std::set<std::pair<size_t, const Mapping*>> looked_at;  // equal pieces have one mapping
  for (const TileStep& t : interleave(run.on_array, count)) {
    const auto i = static_cast<size_t>(t.piece);
    const int64_t first = i == 0 ? 0 : ends[t.k][i - 1], lines = ends[t.k][i] - first;
    if (lines == 0) continue;
    OpPieces part = piece_of_lines(in.requests[t.k].item, run.flows[t.k], first, lines);
    OpRequest& piece = pieces[t.k];
    std::shared_ptr<const Mapping>& mapping = mappings[t.k];
    if (!mapping || part.item != piece.item) {
      piece.item = std::move(part.item);
      const SlotChunks slots{.chunks = cut.chunks,
                             .lines = run.on_array[t.k] ? std::min(cut.lines, lines) : 0};
      const auto found = in.mapper.map_piece(piece, slots, *in.names[t.k]);
      if (!found) return std::nullopt;
      mapping = *found;
      if (looked_at.emplace(t.k, mapping.get()).second && !as_cut(in, t.k, piece, mapping->trace))
        return std::nullopt;
    }
    out.push_back({t.k, t.piece, part.operands, mapping});
  }
  if (!set_marks(run, ends, out)) return std::nullopt;
  return out;
}

}  // namespace accsim::sim
