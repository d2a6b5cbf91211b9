#pragma once
#include "sim/rewrite/builder.h"
#include "sim/rewrite/tiled_from.h"
#include "sim/work/work.h"

namespace accsim::sim::rewrite {

/// The size of the products that others are cut into; `pad`: edges are padded to whole tiles.
struct Cut {
  TileSize tile;
  bool pad = false;
};

/// MatMul nodes that `cut` makes of an M x K x N product; nullopt beyond 62 bits.
std::optional<int64_t> tile_count(int64_t m, int64_t k, int64_t n, const TileSize& tile);

/// a [..., M, K] times b [..., K, N], batch dims broadcast, as MatMuls of at most the tile's size.
Value tiled_product(Builder& builder, Value a, Value b, const Cut& cut);

/// MatMul as ONNX has it, 1-D operands included; `dims` are the output's.
Value tiled_matmul(Builder& builder, const Value& a, const Value& b, const Dims& dims,
                   const Cut& cut);

/// The attributes of ONNX's Gemm.
struct GemmTerms {
  bool a_transposed = false, b_transposed = false;
  double alpha = 1, beta = 1;
};
/// alpha * a' * b' + beta * c; `c` is nullptr when there is none.
Value tiled_gemm(Builder& builder, const Value& a, const Value& b, const Value* c,
                 const GemmTerms& terms, const Cut& cut);

/// Conv of x [N, C, spatial...] by w [outputs, C / groups, kernel...]: im2col by Gather, a product
/// a group, the result put back; `op` is the convolution's.
Value tiled_conv(Builder& builder, const Value& x, const Value& w, const Value* bias,
                 const GemmOp& op, const Cut& cut);

}  // namespace accsim::sim::rewrite
