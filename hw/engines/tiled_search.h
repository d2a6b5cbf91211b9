#pragma once
#include "hw/engines/engine_timing.h"
#include "hw/engines/tiled_layer.h"

namespace accsim::hw {

/// What a machine's scratchpads hold.
struct TileRoom {
  int64_t inputs = 2048;   ///< vectors of 16 features
  int64_t weights = 1024;  ///< blocks of 16 x 16 weights
  int64_t sums = 2048;     ///< vectors of 16 sums
  int64_t outputs = 2048;  ///< vectors of 16 results
  int64_t micro = 2048;    ///< micro-operations: those of VTA, which no field of a machine says

  bool operator==(const TileRoom&) const = default;
};

/// Does the layer's program fit? Its number of micro-operations is that of make_tiled_program().
bool fits_room(const TiledLayer& layer, int64_t micro_operations, const TileRoom& room);

/// Cycles that no program of the layer goes below, on a machine that bind_tiled_program() takes:
/// each engine executes its commands one after the other, the first result needs the first
/// operands, and the last store needs all before it. What barriers add isn't counted.
int64_t least_tiled_cycles(const TiledLayer& layer, const EngineMachine& machine);

/// The program that a search has found.
struct TiledChoice {
  TiledLayer layer;
  Cycles cycles;
  /// Programs whose data fit: their micro-operations are counted as they are timed.
  int64_t candidates = 0;
  /// Of these, those that were timed. The others can't take fewer cycles than the choice, or have
  /// too many micro-operations.
  int64_t timed = 0;
};

/// What a search goes through at most, so that its memory and its time have a bound.
struct SearchLimits {
  int64_t tilings = 100'000;         ///< ways to cut and to nest a layer, whether they fit or not
  int64_t commands = 2'000'000'000;  ///< of all programs that are made
};

/// The program of fewest cycles of a layer's sizes, with its bias and its barriers, or without
/// them: over all whole tiles that fit, orders of tiles, up to kMostSearchContexts contexts, and
/// micro-operations read once or before every use. Of nestings whose commands are the same, the one
/// with the fewest micro-operations is tried. The first of equals counts, in an order that only
/// depends on the arguments. Errors: a machine that bind_tiled_program() refuses; Errc::capacity
/// where no program fits, and where there is more to search than the limits.
Result<TiledChoice> search_tiled_program(const TiledLayer& layer, const EngineMachine& machine,
                                         const TileRoom& room, const SearchLimits& limits = {});

/// Contexts that are tried.
inline constexpr int64_t kMostSearchContexts = 4;

}  // namespace accsim::hw
