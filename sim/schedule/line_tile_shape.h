#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/schedule/line_groups.h"

namespace accsim::sim {

/// How a run of lines is cut.
struct LineTileShape {
  int64_t lines = 1;   ///< of a tile of the first op on the array
  int64_t tiles = 1;   ///< of it in a piece
  int64_t chunks = 1;  ///< of a piece in the vector unit, or more where those don't fit
};

/// A piece of op `k` of a run, in the order of the text. What it stores is marked behind it; or
/// where the next one in the text reads of the same tensor what came before, behind that one's
/// wait, which so doesn't wait for it.
struct LineStep {
  size_t k = 0;
  int64_t piece = 0;
  PieceOperands operands;
  std::shared_ptr<const Mapping> mapping;
  int64_t awaits = -1;  ///< the last piece of the op before that it waits for
};

/// What a run is cut from.
struct LineTilingInput {
  const LineGroup& run;
  std::span<const OpRequest> requests;        ///< by op of the run
  std::span<const std::string* const> names;  ///< of its layer
  Mapper& mapper;
};

/// The most lines of a tile that have their sums on chip; 0: not even one.
int64_t most_lines(const LineGroup& run, std::span<const OpRequest> requests,
                   const hw::HwConfig& hw);

/// A way to cut a run, and what it takes.
struct FoundShape {
  LineTileShape cut;
  int64_t cycles = 0;
};
/// The best of the ways that are tried, of tiles of at most so many lines; none where that is 0.
/// `cycles` says what one takes, kBeyond (sim/base/sums.h) where a run can't be cut so.
std::optional<FoundShape> best_line_shape(
    int64_t most_lines, const std::function<int64_t(const LineTileShape&)>& cycles);

/// The pieces; nullopt where they are one or too many, or one has no mapping that is as cut.
std::optional<std::vector<LineStep>> cut_into(const LineTilingInput& in, const LineTileShape& cut);

}  // namespace accsim::sim
