#include "hw/engines/tiled_commands.h"
#include "hw/engines/tiled_layer.h"

namespace accsim::hw {
namespace {

/// Input rows are [inner block], weights [column block][inner block], outputs [column block].
class GemmLayout final : public TileLayout {
 public:
  GemmLayout(const TiledGemm& sizes, std::string micro)
      : rows_(sizes.rows),
        inner_(sizes.inner / 16),
        columns_(sizes.columns / 16),
        tile_rows_(sizes.tile_rows),
        tile_inner_(sizes.tile_inner / 16),
        tile_columns_(sizes.tile_columns / 16),
        micro_(std::move(micro)) {}

  int64_t tiles(char axis) const override {
    return axis == 'm' ? rows_ / tile_rows_ : columns_ / tile_columns_;
  }
  OutputTile tile(const std::string& order, const std::vector<int64_t>& at) const override;
  int64_t steps() const override { return inner_ / tile_inner_; }
  int64_t sums() const override { return tile_rows_ * tile_columns_; }
  int64_t blocks() const override { return tile_columns_; }
  std::vector<EngineCommand> loads(const OutputTile& tile, int64_t step) const override;
  std::vector<EngineCommand> stores(const OutputTile& tile) const override;
  std::vector<MicroKernel> kernels(int64_t context) const override;

 private:
  MicroKernel per_column() const;
  MicroKernel per_row() const;
  std::vector<MicroKernel> one_by_one() const;
  MicroKernel per_sum() const;

  int64_t rows_, inner_, columns_;
  int64_t tile_rows_, tile_inner_, tile_columns_;
  std::string micro_;
};

OutputTile GemmLayout::tile(const std::string& order, const std::vector<int64_t>& at) const {
  OutputTile tile;
  for (size_t i = 0; i < at.size(); ++i)
    if (order[i] == 'm')
      tile.row = at[i] * tile_rows_;
    else
      tile.block = at[i] * tile_columns_;
  return tile;
}

std::vector<EngineCommand> GemmLayout::loads(const OutputTile& tile, int64_t step) const {
  const int64_t from = step * tile_inner_;
  return {element_command(tiled::kInp, {kInputBase, kVectorBytes, tile.row * inner_ + from,
                                        tile_rows_, tile_inner_, inner_}),
          element_command(tiled::kWgt, {kWeightBase, kBlockBytes, tile.block * inner_ + from,
                                        tile_columns_, tile_inner_, inner_})};
}

std::vector<EngineCommand> GemmLayout::stores(const OutputTile& tile) const {
  return {
      element_command(tiled::kStore, {kOutputBase, kVectorBytes, tile.row * columns_ + tile.block,
                                      tile_rows_, tile_columns_, columns_})};
}

MicroKernel GemmLayout::per_sum() const {
  MicroKernel kernel{{}, tile_rows_ * tile_columns_};
  for (int64_t q = 0; q < tile_inner_; ++q) kernel.operations.push_back({0, q, q});
  return kernel;
}

std::vector<MicroKernel> GemmLayout::one_by_one() const {
  std::vector<MicroKernel> kernels;
  for (int64_t q = 0; q < tile_inner_; ++q)
    kernels.push_back({{{0, q, q}}, tile_rows_ * tile_columns_});
  return kernels;
}

MicroKernel GemmLayout::per_row() const {
  MicroKernel kernel{{}, tile_rows_};
  const bool columns_outside = micro_ == "nk";
  const int64_t outer = columns_outside ? tile_columns_ : tile_inner_;
  const int64_t inner = columns_outside ? tile_inner_ : tile_columns_;
  for (int64_t a = 0; a < outer; ++a)
    for (int64_t b = 0; b < inner; ++b) {
      const int64_t column = columns_outside ? a : b, q = columns_outside ? b : a;
      kernel.operations.push_back({column, q, column * tile_inner_ + q});
    }
  return kernel;
}

MicroKernel GemmLayout::per_column() const {
  MicroKernel kernel{{}, tile_columns_};
  for (int64_t row = 0; row < tile_rows_; ++row)
    for (int64_t q = 0; q < tile_inner_; ++q)
      kernel.operations.push_back({row * tile_columns_, row * tile_inner_ + q, q});
  return kernel;
}

std::vector<MicroKernel> GemmLayout::kernels(int64_t context) const {
  std::vector<MicroKernel> kernels;
  if (micro_ == "1")
    kernels = one_by_one();
  else if (micro_ == "k")
    kernels = {per_sum()};
  else if (micro_ == "mk")
    kernels = {per_column()};
  else
    kernels = {per_row()};
  for (MicroKernel& kernel : kernels)
    for (MicroOperation& one : kernel.operations) {
      one.sums += context * sums();
      one.vector += context * tile_rows_ * tile_inner_;
      one.weights += context * tile_columns_ * tile_inner_;
    }
  return kernels;
}

}  // namespace

std::unique_ptr<TileLayout> make_gemm_layout(const TiledGemm& sizes, const std::string& micro) {
  return std::make_unique<GemmLayout>(sizes, micro);
}

}  // namespace accsim::hw
