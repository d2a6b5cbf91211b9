#include "sim/flow/line_cuts.h"

#include <algorithm>

#include "sim/flow/chain.h"
#include "sim/flow/row_runs.h"

namespace accsim::sim {
namespace {

constexpr int64_t kMostPieces = 64;  ///< of an op
constexpr int64_t kMostTiles = 3;    ///< of a piece

const OpRequest& request_of(const LineCutInput& in, size_t k) {
  return *in.ops[in.run.ops[k]].request;
}

const GemmOp& product(const LineCutInput& in) {
  return std::get<GemmOp>(request_of(in, in.run.on_array[0] ? 0 : 1).item);
}

/// Is a wait for an operand the first thing of the load queue in its outermost loop? Then it may as
/// well stand before the loop.
bool waits_first(const ChainLink& link, const OperandPort& port) {
  size_t end = 0;  // of the outermost loop
  bool loaded = false;
  for (size_t i = 0; i < link.steps.size(); ++i) {
    const hw::Step& s = link.steps[i];
    if (i >= end) {
      loaded = false;
      end = s.kind == hw::Step::Kind::loop ? i + 1 + static_cast<size_t>(s.span) : i + 1;
    }
    if (s.kind == hw::Step::Kind::wait_marks &&
        link.ports[static_cast<size_t>(s.tensor)] == port)
      return !loaded && s.to_read;
    if (s.kind == hw::Step::Kind::stage) return false;
    loaded = loaded || s.kind == hw::Step::Kind::load;
  }
  return false;
}

/// Says which marks pieces wait for; false where these don't cover what they read.
bool set_marks(const LineRun& run, const std::vector<std::vector<int64_t>>& ends,
               std::vector<LineTurn>& turns) {
  std::vector<int64_t> marked(run.ops.size(), -1);
  for (size_t i = 0; i < turns.size(); ++i) {
    LineTurn& t = turns[i];
    if (t.k > 0) {
      t.awaits = marked[t.k - 1];
      const int64_t needed = run.flows[t.k].needed(ends[t.k][static_cast<size_t>(t.piece)]);
      if (t.awaits < 0 || ends[t.k - 1][static_cast<size_t>(t.awaits)] < needed) return false;
      if (turns[i - 1].k == t.k - 1) marked[t.k - 1] = turns[i - 1].piece;
    }
    const bool read_next = i + 1 < turns.size() && turns[i + 1].k == t.k + 1;
    if (!read_next) marked[t.k] = t.piece;
  }
  return true;
}

}  // namespace

std::vector<LineCut> line_cuts(const LineCutInput& in) {
  std::vector<LineCut> out;
  const GemmOp& op = product(in);
  const int64_t most = std::min(op.out[1] / 2, in.hw.accumulator_rows() / op.out[2]);
  for (int64_t tiles = kMostTiles; tiles >= 1; --tiles)
    for (int64_t lines = most; lines >= 1; lines /= 2) {
      const int64_t count = ceil_div(op.out[1], lines * tiles);
      if (count > 1 && count <= kMostPieces) out.push_back({lines, tiles});
    }
  return out;
}

std::optional<std::vector<LineTurn>> cut_into(const LineCutInput& in, const LineCut& cut) {
  const LineRun& run = in.run;
  const auto ends = line_ends(run, cut.lines * cut.tiles);
  std::vector<LineTurn> out;
  for (const Turn& t : turns(run.on_array, std::ssize(ends[0]))) {
    const auto piece = static_cast<size_t>(t.piece);
    const int64_t first = piece == 0 ? 0 : ends[t.k][piece - 1], count = ends[t.k][piece] - first;
    if (count == 0) continue;
    LineTurn turn{t.k, t.piece, cut_lines(request_of(in, t.k), first, count, in.hw), {}};
    const SlotTurns slots{.chunks = 1,
                          .lines = run.on_array[t.k] ? std::min(cut.lines, count) : 0};
    const auto mapping = in.mapper.map_piece(turn.op.request, slots, *in.names[t.k]);
    if (!mapping || !loads_first((*mapping)->link)) return std::nullopt;
    if (t.k > 0 && !waits_first((*mapping)->link, run.flows[t.k].in)) return std::nullopt;
    turn.mapping = *mapping;
    out.push_back(std::move(turn));
  }
  if (!set_marks(run, ends, out)) return std::nullopt;
  return out;
}

}  // namespace accsim::sim
