#include <algorithm>

#include "hw/engines/tiled_commands.h"
#include "hw/engines/tiled_layer.h"

namespace accsim::hw {
namespace {

/// One dimension of a tile's window: what lies in the input, and what is padded before and behind.
struct WindowSide {
  int64_t first = 0, inside = 0, before = 0, behind = 0;
};

WindowSide window_side(int64_t from, int64_t size, int64_t whole) {
  const int64_t first = std::max<int64_t>(from, 0), last = std::min(from + size, whole);
  return {first, last - first, first - from, from + size - last};
}

/// Section "Padding" of docs/engines.md.
ReadPadding read_padding(const WindowSide& y, const WindowSide& x) {
  const int64_t width = x.before + x.inside + x.behind, sides = x.before + x.behind;
  return {.rows = y.before,
          .above = y.before * width + y.inside * sides,
          .passed = y.behind > 0 && sides == 0 ? y.inside : 0,
          .below = y.behind * width};
}

/// Inputs are [block][height][width], weights [output block][input block][tap][tap], outputs
/// [block][height][width].
class ConvolutionLayout final : public TileLayout {
 public:
  ConvolutionLayout(const TiledConvolution& sizes, std::string micro)
      : c_(sizes),
        in_(sizes.channels / 16),
        out_(sizes.kernels / 16),
        tile_in_(sizes.tile_channels / 16),
        tile_out_(sizes.tile_kernels / 16),
        window_height_((sizes.tile_height - 1) * sizes.stride + sizes.taps),
        window_width_((sizes.tile_width - 1) * sizes.stride + sizes.taps),
        micro_(std::move(micro)) {}

  int64_t tiles(char axis) const override {
    if (axis == 'h') return c_.out_height / c_.tile_height;
    return axis == 'w' ? c_.out_width / c_.tile_width : out_ / tile_out_;
  }
  OutputTile tile(const std::string& order, const std::vector<int64_t>& at) const override;
  int64_t steps() const override { return in_ / tile_in_; }
  int64_t sums() const override { return tile_out_ * c_.tile_height * c_.tile_width; }
  int64_t blocks() const override { return tile_out_; }
  std::vector<EngineCommand> loads(const OutputTile& tile, int64_t step) const override;
  std::vector<EngineCommand> stores(const OutputTile& tile) const override;
  std::vector<MicroKernel> kernels(int64_t context) const override;

 private:
  std::vector<MicroOperation> pair(int64_t out, int64_t in) const;
  std::vector<MicroOperation> rows_of(int64_t in) const;
  std::vector<MicroKernel> by_rows() const;
  std::vector<MicroKernel> by_pairs() const;
  int64_t weights(int64_t out, int64_t in, int64_t y, int64_t x) const {
    return ((out * tile_in_ + in) * c_.taps + y) * c_.taps + x;
  }

  TiledConvolution c_;
  int64_t in_, out_, tile_in_, tile_out_;
  int64_t window_height_, window_width_;
  std::string micro_;
};

OutputTile ConvolutionLayout::tile(const std::string& order, const std::vector<int64_t>& at) const {
  OutputTile tile;
  for (size_t i = 0; i < at.size(); ++i) {
    if (order[i] == 'h') tile.row = at[i] * c_.tile_height;
    if (order[i] == 'w') tile.column = at[i] * c_.tile_width;
    if (order[i] == 'c') tile.block = at[i] * tile_out_;
  }
  return tile;
}

std::vector<EngineCommand> ConvolutionLayout::loads(const OutputTile& tile, int64_t step) const {
  const WindowSide y = window_side(tile.row * c_.stride - c_.pad, window_height_, c_.height);
  const WindowSide x = window_side(tile.column * c_.stride - c_.pad, window_width_, c_.width);
  std::vector<EngineCommand> loads;
  for (int64_t q = 0; q < tile_in_; ++q) {
    const int64_t first = ((step * tile_in_ + q) * c_.height + y.first) * c_.width + x.first;
    loads.push_back(element_command(
        tiled::kInp, {kInputBase, kVectorBytes, first, y.inside, x.inside, c_.width}));
    loads.back().padding = read_padding(y, x);
  }
  const int64_t area = c_.taps * c_.taps;
  loads.push_back(element_command(
      tiled::kWgt, {kWeightBase, kBlockBytes, (tile.block * in_ + step * tile_in_) * area,
                    tile_out_, tile_in_ * area, in_ * area}));
  return loads;
}

std::vector<EngineCommand> ConvolutionLayout::stores(const OutputTile& tile) const {
  std::vector<EngineCommand> stores;
  for (int64_t q = 0; q < tile_out_; ++q) {
    const int64_t first =
        ((tile.block + q) * c_.out_height + tile.row) * c_.out_width + tile.column;
    stores.push_back(element_command(tiled::kStore, {kOutputBase, kVectorBytes, first,
                                                     c_.tile_height, c_.tile_width, c_.out_width}));
  }
  return stores;
}

/// All taps of a block of outputs and a block of inputs.
std::vector<MicroOperation> ConvolutionLayout::pair(int64_t out, int64_t in) const {
  std::vector<MicroOperation> operations;
  for (int64_t y = 0; y < c_.taps; ++y)
    for (int64_t x = 0; x < c_.taps; ++x)
      operations.push_back({out * c_.tile_height * c_.tile_width,
                            (in * window_height_ + y) * window_width_ + x, weights(out, in, y, x)});
  return operations;
}

/// The first tap and the first column of all rows, for a block of inputs.
std::vector<MicroOperation> ConvolutionLayout::rows_of(int64_t in) const {
  std::vector<MicroOperation> operations;
  for (int64_t y = 0; y < c_.taps; ++y)
    for (int64_t out = 0; out < tile_out_; ++out)
      for (int64_t row = 0; row < c_.tile_height; ++row)
        operations.push_back({(out * c_.tile_height + row) * c_.tile_width,
                              (in * window_height_ + row * c_.stride + y) * window_width_,
                              weights(out, in, y, 0)});
  return operations;
}

std::vector<MicroKernel> ConvolutionLayout::by_rows() const {
  std::vector<MicroKernel> kernels;
  for (int64_t in = 0; in < tile_in_; ++in)
    kernels.push_back({rows_of(in), c_.tile_width * c_.taps});
  return kernels;
}

/// All pairs of blocks in one kernel, or a kernel each.
std::vector<MicroKernel> ConvolutionLayout::by_pairs() const {
  std::vector<MicroKernel> kernels;
  for (int64_t out = 0; out < tile_out_; ++out)
    for (int64_t in = 0; in < tile_in_; ++in) {
      if (kernels.empty() || micro_ == "kk1")
        kernels.push_back({{}, c_.tile_height * c_.tile_width});
      const std::vector<MicroOperation> taps = pair(out, in);
      std::vector<MicroOperation>& to = kernels.back().operations;
      to.insert(to.end(), taps.begin(), taps.end());
    }
  return kernels;
}

std::vector<MicroKernel> ConvolutionLayout::kernels(int64_t context) const {
  std::vector<MicroKernel> kernels = micro_ == "tvm" ? by_rows() : by_pairs();
  for (MicroKernel& kernel : kernels)
    for (MicroOperation& one : kernel.operations) {
      one.sums += context * sums();
      one.vector += context * tile_in_ * window_height_ * window_width_;
      one.weights += context * tile_out_ * tile_in_ * c_.taps * c_.taps;
    }
  return kernels;
}

}  // namespace

std::unique_ptr<TileLayout> make_convolution_layout(const TiledConvolution& sizes,
                                                    const std::string& micro) {
  return std::make_unique<ConvolutionLayout>(sizes, micro);
}

}  // namespace accsim::hw
