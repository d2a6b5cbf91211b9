#pragma once
#include <string>
#include <vector>

#include "sim/base/result.h"
#include "sim/work/work.h"

namespace accsim::sim {

/// Rows, reduction and columns of the largest product of a cut layer.
struct TileSize {
  int64_t m = 64, k = 64, n = 64;
};

/// The metadata property of a cut model that says what was cut: a line a layer.
inline constexpr const char* kTiledFrom = "accsim.tiled_from";

/// A layer before it was cut.
struct TiledFrom {
  std::string layer;  ///< name of the node
  std::string op_type;
  std::string prefix;  ///< of the names of all nodes that it became, up to the last '/'
  GemmOp op;
  TileSize tile;
  bool padded = false;
  int64_t products = 0;             ///< MatMul nodes that it became
  std::vector<std::string> inputs;  ///< tensors; "" for an absent one
  std::string output;
};

/// "key=value" fields separated by spaces, names percent-encoded; one line.
std::string to_line(const TiledFrom& from);
/// Reads a property's lines. Errors name `file` and the line.
Result<std::vector<TiledFrom>> parse_tiled_from(const std::string& text, const std::string& file);

}  // namespace accsim::sim
