#pragma once
#include <vector>

#include "sim/map/product/gemm_space.h"

namespace accsim::sim {

/// What one choice in one dimension contributes to the totals of a tiling, so that the bound of a
/// combination costs a few multiplications.
struct PixelOption {
  int64_t images = 1, lines = 1, pixels = 1;
  int64_t rows = 0;          ///< output pixels of the largest tile
  int64_t span = 0;          ///< input pixels that the slot must hold
  int64_t tiles = 0;         ///< number of tiles
  int64_t stream_rows = 0;   ///< sum over tiles of max(rows of the tile, cycles of a preload)
  int64_t tile_blocks = 0;   ///< input/output stationary: pixel blocks in the largest tile
  int64_t blocks = 0;        ///< and in all tiles
  int64_t input_pixels = 0;  ///< input pixels fetched, over all tiles
  int64_t first_input = 0;   ///< input pixels of the first tile
  int64_t first_rows = 0;    ///< output pixels of the first tile
  int64_t last_rows = 0;     ///< and of the last
  bool short_rows = false;   ///< some tile has fewer rows than a preload cycles
};

/// One way to cut the input channels (the reduction) into chunks of `channels`.
struct ChannelOption {
  int64_t channels = 1, chunks = 1;
  int64_t passes = 0;       ///< array passes over all chunks
  int64_t last_passes = 0;  ///< of the last chunk
  int64_t first = 0;        ///< channels of the first chunk
  int64_t last = 0;         ///< and of the last
  int64_t beats = 0;        ///< port beats of one pixel over all chunks
};

/// One way to cut the output channels into chunks of `outputs`.
struct OutputOption {
  int64_t outputs = 1, chunks = 1;
  int64_t blocks = 0;  ///< column blocks over all chunks
  int64_t first_blocks = 0, last_blocks = 0;
  int64_t stream_columns = 0;  ///< input stationary: sum over chunks of max(outputs, array columns)
  int64_t first = 0, last = 0;
  int64_t beats = 0;  ///< port beats of one output pixel over all chunks
};

/// The choices in each dimension for one dataflow and number of packed groups.
struct GemmOptions {
  std::vector<PixelOption> pixels;
  std::vector<ChannelOption> channels;
  std::vector<OutputOption> outputs;
};

/// Numbers of groups to pack: as many as fit the array and halves of that, which hold fewer zeros,
/// and those not far below that make packs of one size.
std::vector<int64_t> pack_sizes(const GemmProblem& p, const MappingPin& pin);

/// Pixel tiles: whole images, or whole lines of one image, or part of one line.
std::vector<PixelOption> pixel_options(const GemmProblem& p, const hw::HwConfig& hw, hw::Dataflow d,
                                       const MappingPin& pin);
/// Input channels in chunks: the sizes of tile_sizes() and those pinned, over `groups` packed
/// groups.
std::vector<ChannelOption> channel_options(const GemmProblem& p, const hw::HwConfig& hw,
                                           int64_t groups, const MappingPin& pin);
/// The same for output channels.
std::vector<OutputOption> output_options(const GemmProblem& p, const hw::HwConfig& hw,
                                         int64_t groups, const MappingPin& pin);

}  // namespace accsim::sim
