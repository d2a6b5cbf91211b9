#include "sim/rewrite/product.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/operators/work_counts.h"
#include "sim/work/op_space.h"

namespace accsim::sim::rewrite {
namespace {

int64_t tiles_along(int64_t length, int64_t size) { return (length - 1) / size + 1; }
int64_t tile_padding(int64_t length, int64_t size) {
  return tiles_along(length, size) * size - length;
}

std::string tile_label(const char* axis, size_t i) { return fmt::format("{}{}", axis, i); }

/// Zeros behind the last two axes up to whole tiles.
Value pad_to(Builder& builder, const Value& x, int64_t rows, int64_t cols,
             const std::string& label) {
  const Dims before(x.dims.size(), 0);
  Dims behind = before;
  behind[behind.size() - 2] = tile_padding(x.dim(-2), rows);
  behind.back() = tile_padding(x.dim(-1), cols);
  return builder.pad(x, before, behind, label);
}

using Grid = std::vector<std::vector<Value>>;

/// The first of the tiles of a product of matrices.
SpaceBox first_tile(const OpSpace& space, const TileSize& size) {
  SpaceBox out = space.whole_box();
  for (const auto& [dim, most] :
       {std::pair(GemmDim::width, size.m), {GemmDim::channel, size.k}, {GemmDim::output, size.n}}) {
    int64_t& count = out[static_cast<size_t>(dim)].count;
    count = std::min(count, most);
  }
  return out;
}

/// Cuts the last two axes into parts like the first one, of which a tile is made; labels are
/// "<rows><i><cols><j>".
Grid cut_up(Builder& builder, const Value& x, const Region& first, const std::string& rows,
            const std::string& cols) {
  Grid out;
  for (const Value& band : builder.cut_axis(x, x.rank() - 2, first[first.size() - 2].count, rows))
    out.push_back(builder.cut_axis(band, x.rank() - 1, first.back().count,
                                   fmt::format("{}{}{}", rows, out.size(), cols)));
  return out;
}

}  // namespace

std::optional<int64_t> tile_count(int64_t m, int64_t k, int64_t n, const TileSize& tile) {
  return checked_elements({tiles_along(m, tile.m), tiles_along(k, tile.k), tiles_along(n, tile.n)});
}

Value tiled_product(Builder& builder, Value a, Value b, const Cut& cut) {
  const int64_t m = a.dim(-2), n = b.dim(-1);
  if (cut.pad) {
    a = pad_to(builder, a, cut.tile.m, cut.tile.k, "a_padded");
    b = pad_to(builder, b, cut.tile.k, cut.tile.n, "b_padded");
  }
  const OpSpace space = *space_of(matrix_product(1, a.dim(-2), a.dim(-1), b.dim(-1)));
  const SpaceBox tile = first_tile(space, cut.tile);
  const auto part = [&](OperandRole role) { return region(space, *space.operand(role), tile); };
  const Grid a_tiles = cut_up(builder, a, part(OperandRole::a), "a_m", "_k");
  const Grid b_tiles = cut_up(builder, b, part(OperandRole::b), "b_k", "_n");
  std::vector<Value> rows;
  for (size_t i = 0; i < a_tiles.size(); ++i) {
    std::vector<Value> row;
    for (size_t j = 0; j < b_tiles[0].size(); ++j) {
      const std::string at = tile_label("m", i) + "_" + tile_label("n", j);
      std::vector<Value> terms;
      for (size_t l = 0; l < b_tiles.size(); ++l)
        terms.push_back(
            builder.matmul(a_tiles[i][l], b_tiles[l][j], at + "_" + tile_label("k", l)));
      row.push_back(builder.sum(terms, at));
    }
    rows.push_back(builder.concat(row, row[0].rank() - 1, tile_label("m", i)));
  }
  const Value whole = builder.concat(rows, rows[0].rank() - 2, "whole");
  return whole.dim(-2) == m && whole.dim(-1) == n ? whole : builder.crop(whole, m, n, "cropped");
}

Value tiled_matmul(Builder& builder, const Value& a, const Value& b, const Dims& dims,
                   const Cut& cut) {
  const Value left = a.rank() == 1 ? builder.reshape(a, {1, a.dims[0]}, "a_row") : a;
  const Value right = b.rank() == 1 ? builder.reshape(b, {b.dims[0], 1}, "b_column") : b;
  return builder.reshape(tiled_product(builder, left, right, cut), dims, "shaped");
}

Value tiled_gemm(Builder& builder, const Value& a, const Value& b, const Value* c,
                 const GemmTerms& terms, const Cut& cut) {
  const Value left = terms.a_transposed ? builder.transpose(a, {1, 0}, "a_transposed") : a;
  const Value right = terms.b_transposed ? builder.transpose(b, {1, 0}, "b_transposed") : b;
  Value result = builder.scale(tiled_product(builder, left, right, cut), terms.alpha, "alpha");
  if (c == nullptr || terms.beta == 0) return result;
  return builder.add(result, builder.scale(*c, terms.beta, "beta"), "biased");
}

namespace {

/// Extents of the `rank` spatial axes, which are the last of an Extent3.
Dims spatial_extents(const Extent3& e, size_t rank) {
  return {e.end() - static_cast<ptrdiff_t>(rank), e.end()};
}

Dims joined_dims(Dims a, const Dims& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

/// Zeros around the image, as far as windows reach.
Value pad_image(Builder& builder, const Value& x, const GemmOp& op) {
  Dims before(x.dims.size(), 0), behind = before;
  const size_t rank = x.dims.size() - 2, skip = 3 - rank;
  for (size_t i = 0; i < rank; ++i) {
    const size_t e = skip + i;
    const int64_t reach = (op.out[e] - 1) * op.stride[e] + (op.kernel[e] - 1) * op.dilation[e] + 1;
    before[2 + i] = op.pad[e];
    behind[2 + i] = std::max<int64_t>(0, reach - op.in[e] - op.pad[e]);
  }
  return builder.pad(x, before, behind, "x_padded");
}

/// [N, C, in...] to [groups, N * out..., C / groups * kernel...].
Value im2col_columns(Builder& builder, const Value& x, const GemmOp& op) {
  Value v = pad_image(builder, x, op);
  const size_t rank = x.dims.size() - 2, skip = 3 - rank;
  for (size_t i = 0; i < rank; ++i) {
    const size_t e = skip + i;
    std::vector<int64_t> indices;
    for (int64_t k = 0; k < op.kernel[e]; ++k)
      for (int64_t o = 0; o < op.out[e]; ++o)
        indices.push_back(o * op.stride[e] + k * op.dilation[e]);
    v = builder.gather(v, static_cast<int64_t>(2 + 2 * i), {op.kernel[e], op.out[e]},
                       std::move(indices), fmt::format("x_windows{}", i));
  }
  // Now [N, C, kernel0, out0, ...].
  Dims grouped = {op.images, op.batch, op.channels};
  grouped = joined_dims(std::move(grouped), Dims(v.dims.begin() + 2, v.dims.end()));
  std::vector<int64_t> perm = {1, 0};
  for (size_t i = 0; i < rank; ++i) perm.push_back(static_cast<int64_t>(4 + 2 * i));
  perm.push_back(2);
  for (size_t i = 0; i < rank; ++i) perm.push_back(static_cast<int64_t>(3 + 2 * i));
  v = builder.transpose(builder.reshape(v, grouped, "x_groups"), perm, "x_pixels");
  return builder.reshape(v, {op.batch, op.m(), op.k()}, "x_columns");
}

}  // namespace

Value tiled_conv(Builder& builder, const Value& x, const Value& w, const Value* bias,
                 const GemmOp& op, const Cut& cut) {
  const size_t rank = x.dims.size() - 2;
  const Dims out = spatial_extents(op.out, rank);
  const Value a = im2col_columns(builder, x, op);
  const Value flat = builder.reshape(w, {op.batch, op.outputs, op.k()}, "w_rows");
  const Value b = builder.transpose(flat, {0, 2, 1}, "w_columns");
  Value y = tiled_product(builder, a, b, cut);
  if (bias != nullptr) {
    // While channels are innermost: a bias that no node reshapes still counts as a parameter.
    const Dims per_group = {op.batch, 1, op.outputs};
    y = builder.add(y, op.batch == 1 ? *bias : builder.reshape(*bias, per_group, "bias"), "biased");
  }
  y = builder.reshape(y, joined_dims(joined_dims({op.batch, op.images}, out), {op.outputs}),
                      "y_pixels");
  std::vector<int64_t> perm = {1, 0, static_cast<int64_t>(rank) + 2};
  for (size_t i = 0; i < rank; ++i) perm.push_back(static_cast<int64_t>(2 + i));
  y = builder.transpose(y, perm, "y_groups");
  return builder.reshape(y, joined_dims({op.images, op.batch * op.outputs}, out), "y_image");
}

}  // namespace accsim::sim::rewrite
