#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hw/engines/engine_program.h"

namespace accsim::hw {

/// A matrix product, out[rows, columns], with its tile. Inner sizes and columns are channels:
/// multiples of 16.
struct TiledGemm {
  int64_t rows = 16, inner = 16, columns = 16;
  int64_t tile_rows = 16, tile_inner = 16, tile_columns = 16;

  bool operator==(const TiledGemm&) const = default;
};

/// A convolution with a square kernel and equal pads on all sides, with its tile of the output.
/// Channels are multiples of 16.
struct TiledConvolution {
  int64_t height = 1, width = 1, channels = 16, kernels = 16;
  int64_t taps = 1, stride = 1, pad = 0;
  int64_t out_height = 1, out_width = 1;
  int64_t tile_height = 1, tile_width = 1, tile_channels = 16, tile_kernels = 16;

  bool operator==(const TiledConvolution&) const = default;
};

/// Words of TiledLayer::order and TiledLayer::micro, of products and of convolutions.
inline constexpr std::array<std::string_view, 2> kGemmOrders = {"mn", "nm"};
inline constexpr std::array<std::string_view, 5> kGemmNestings = {"k", "nk", "kn", "1", "mk"};
inline constexpr std::array<std::string_view, 6> kConvolutionOrders = {"hwc", "hcw", "whc",
                                                                       "wch", "chw", "cwh"};
inline constexpr std::array<std::string_view, 3> kConvolutionNestings = {"ckk", "tvm", "kk1"};

/// A layer in int8 as VTA runs it, cut into tiles, with all that decides its program (head of
/// validation/tables/vta_rtl.csv, "Program structure").
struct TiledLayer {
  std::variant<TiledGemm, TiledConvolution> sizes;
  std::string order = "mn";  ///< loops over tiles, outermost first
  int64_t contexts = 1;      ///< tiles that take turns
  bool barrier = false;      ///< all engines wait behind each group of tiles (sync tvm)
  std::string micro = "k";   ///< how micro-operations are nested
  bool micro_each = false;   ///< micro-operations are read before every use, not once
  bool bias = false;         ///< added before the shift

  bool operator==(const TiledLayer&) const = default;
};

/// An output tile: the context that it runs in, and where it begins in the output. Channels are
/// counted in blocks of 16.
struct OutputTile {
  int64_t context = 0, row = 0, column = 0, block = 0;
};

/// One item of a matrix engine: scratchpad places of the sums, of the vector and of the weights.
struct MicroOperation {
  int64_t sums = 0, vector = 0, weights = 0;

  auto operator<=>(const MicroOperation&) const = default;
};

/// Micro-operations that a command runs, and how often.
struct MicroKernel {
  std::vector<MicroOperation> operations;
  int64_t times = 1;
};

/// Bytes in memory: of a micro-operation, of 16 features, of 16 x 16 weights and of 16 sums.
inline constexpr int64_t kMicroBytes = 4, kVectorBytes = 16, kBlockBytes = 256, kSumsBytes = 64;
/// Where tensors begin in memory.
inline constexpr int64_t kMicroBase = 2 << 24, kInputBase = 3 << 24, kWeightBase = 4 << 24,
                         kBiasBase = 5 << 24, kOutputBase = 6 << 24;

/// A command that moves rows of elements between memory and a scratchpad.
struct ElementRows {
  int64_t base, bytes;  ///< of the tensor; of an element
  int64_t first, rows, size,
      pitch;  ///< elements: of the first row, their number, of a row, to the next
};
/// The same as a command of a kind.
EngineCommand element_command(int64_t kind, const ElementRows& rows);

/// How the tiles of a layer lie in memory and in the scratchpads.
class TileLayout {
 public:
  TileLayout() = default;
  TileLayout(const TileLayout&) = delete;
  TileLayout& operator=(const TileLayout&) = delete;
  virtual ~TileLayout() = default;

  /// Tiles along an axis of `order`.
  virtual int64_t tiles(char axis) const = 0;
  /// The tile whose number along each axis is this one.
  virtual OutputTile tile(const std::string& order, const std::vector<int64_t>& at) const = 0;
  /// Steps that a tile's sums take.
  virtual int64_t steps() const = 0;
  /// Sums of a tile, in vectors of 16, and its blocks of output channels.
  virtual int64_t sums() const = 0;
  virtual int64_t blocks() const = 0;
  /// Reads of a step of a tile; the last one reads weights.
  virtual std::vector<EngineCommand> loads(const OutputTile& tile, int64_t step) const = 0;
  /// Writes of a tile.
  virtual std::vector<EngineCommand> stores(const OutputTile& tile) const = 0;
  /// What the engine computes in a step.
  virtual std::vector<MicroKernel> kernels(int64_t context) const = 0;
};

/// The layout of a layer that check_tiled_layer() has passed.
std::unique_ptr<TileLayout> make_tile_layout(const TiledLayer& layer);

/// How tiles of a product lie, for sizes and nesting that were checked.
std::unique_ptr<TileLayout> make_gemm_layout(const TiledGemm& sizes, const std::string& micro);

/// How tiles and windows of a convolution lie, for sizes and nesting that were checked.
std::unique_ptr<TileLayout> make_convolution_layout(const TiledConvolution& sizes,
                                                    const std::string& micro);

/// Are all sizes positive, channels in blocks, tiles whole, every window partly in the input, and
/// names known? Errc::capacity: more commands or micro-operations than kMostCommands.
Status check_tiled_layer(const TiledLayer& layer);

}  // namespace accsim::hw
