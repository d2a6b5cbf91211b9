#pragma once
#include <string>
#include <vector>

#include "sim/elaborate/elaborate.h"
#include "sim/rewrite/tiled_from.h"

namespace accsim::sim {

/// Matrix products that one model may be cut into: what elaboration takes, with room for the rest.
inline constexpr int64_t kMostProducts = 300'000;

/// Which products tile_model() cuts, and how.
struct TileOptions {
  TileSize tile;
  bool pad = false;           ///< edges padded with zeros to whole tiles; else smaller tiles
  bool convolutions = false;  ///< Conv too, as explicit im2col
  std::string layers = "*";   ///< glob of the names of the nodes to cut
};

/// A model after tile_model(), and what became of its products.
struct TiledModel {
  std::string bytes;              ///< the file
  std::vector<TiledFrom> layers;  ///< what was cut, in the graph's order
  /// Products that weren't cut: "name (op): why" of matching ones, "count op: why" of those in
  /// bodies and of operators that aren't cut.
  std::vector<std::string> kept;
  std::vector<std::string> external;        ///< files of external data that the model refers to
  std::map<std::string, int64_t> bindings;  ///< symbols that are fixed now
};

/// The model with every matching Gemm and MatMul of its main graph replaced by an equivalent
/// subgraph of tile-sized MatMuls. Operands are cut (weights by Slice, activations by Split). There
/// is a MatMul per tile, a Sum over k, a Concat over n, then m, and the bias last. Names end in
/// m<i>, n<j>, k<l>. Bodies of functions, If, Loop and Scan stay. Shapes are those of `elaborate`'s
/// bindings. Errors: of reading and elaborating; nothing to cut; more than kMostProducts.
Result<TiledModel> tile_model(const std::string& path, const ElaborateOptions& elaborate_options,
                              const TileOptions& options);

}  // namespace accsim::sim
