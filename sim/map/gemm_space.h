#pragma once
#include <vector>

#include "sim/map/gemm_problem.h"

namespace accsim {

/// What one choice in one dimension contributes to the totals of a tiling, so that the bound of a
/// combination costs a few multiplications.
struct PixelOption {
  int64_t images = 1, lines = 1, pixels = 1;
  int64_t tiles = 0;          ///< number of tiles
  int64_t stream_rows = 0;    ///< sum over tiles of max(rows of the tile, array rows)
  int64_t blocks = 0;         ///< input/output stationary: pixel blocks in all tiles
  int64_t input_pixels = 0;   ///< input pixels fetched, over all tiles
  int64_t first_input = 0;    ///< input pixels of the first tile
  int64_t last_rows = 0;      ///< output pixels of the last tile
  bool short_rows = false;    ///< some tile has fewer rows than the array
};
struct ChannelOption {
  int64_t channels = 1, chunks = 1;
  int64_t passes = 0;         ///< array passes over all chunks
  int64_t first = 0;          ///< channels of the first chunk
};
struct OutputOption {
  int64_t outputs = 1, chunks = 1;
  int64_t blocks = 0;         ///< column blocks over all chunks
  int64_t stream_columns = 0; ///< input stationary: sum over chunks of max(outputs, array columns)
  int64_t first = 0, last = 0;
};

struct Candidate {
  Tiling tiling;
  int64_t bound = 0;    ///< never more than the cycles of its program
  int64_t traffic = 0;  ///< bytes loaded and stored
};

/// What the user pins; an empty field is left to the search. Sizes that aren't among the candidates
/// are added to them.
struct MappingPin {
  std::string layers;  ///< glob over layer names; "" or "*": every layer
  std::vector<Dataflow> dataflow;
  std::vector<int64_t> lines, pixels, images, outputs, channels, groups;
  std::vector<bool> outputs_outer;
  bool im2col = false;
};

/// Every tiling that fits, with its bound; sorted by (bound, traffic), then by enumeration order. The
/// enumeration doesn't look at capacities or rates: a larger buffer only adds candidates, so the best
/// of them can only get better.
std::vector<Candidate> candidates(const GemmProblem& p, const HwConfig& hw,
                                  const std::vector<Dataflow>& dataflows, const MappingPin& pin);

}  // namespace accsim
