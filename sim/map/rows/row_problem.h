#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/map/kind.h"
#include "sim/map/product/gemm_problem.h"
#include "sim/work/row_work.h"

namespace accsim::sim {

/// Numbers of a RowCommand that say what its elements stand for; costs don't depend on them. As
/// they are here: exp(x) of elements of scale 1, or normalised elements as they are.
struct RowNumbers {
  int32_t row_multiplier = 1, mask_multiplier = 1, difference_shift = 0;
  int32_t numerator = 1 << 30, exponent = 8;  ///< of an output scale of 1/256
  int32_t input_zero = 0;
  int64_t epsilon = 0;
  hw::Epilogue epilogue{};
  hw::RowLogarithm logarithm{};  ///< but for where it lies
};

/// Rows that a machine of int8 works on by RowCommands: golden gives what the op gives.
struct RowProblem {
  RowWork work;
  Place in, out, mask, log;
  Place parameters;  ///< tables of a softmax, or of each channel its words
  RowNumbers numbers{};

  bool is_softmax() const { return work.kind == RowKind::softmax; }
  /// Channels of a row; a softmax has none.
  int64_t channels() const { return is_softmax() ? 0 : work.run / work.per_channel; }
  /// Bytes of the tables, or of the channels of so many rows.
  int64_t parameter_bytes(const RowNest& rows) const;
};

/// When the parameters are loaded. Either before all chunks; or with each chunk the parameters of
/// its rows; or with each chunk twice, for the two halves of a row's channels, each with a command
/// of its own.
enum class RowParameters : uint8_t { once, each_chunk, halves };

/// One way to cut a problem: rows of a chunk, by level.
struct RowTile {
  RowNest rows{1, 1, 1, 1};
  RowParameters parameters = RowParameters::once;
  friend bool operator==(const RowTile&, const RowTile&) = default;
};
/// "96 rows of 768, halves of the channels, 2 chunks".
std::string to_string(const RowProblem& p, const RowTile& t);

/// Rows of int8 by RowCommands, where the machine has them of this length.
struct RowSource : KindSource<RowProblem, RowTile> {
  static std::optional<RowProblem> of_request(const OpRequest& r, const hw::HwConfig& hw);
};

/// Tiles of about `chunks` equal chunks, one for each level whose rows may be filled first.
std::vector<RowTile> row_tiles(const RowProblem& p, int64_t chunks);

/// Do rows, mask and parameters of the largest chunk fit into the slots?
bool fits(const RowProblem& p, const hw::HwConfig& hw, const RowTile& t);

/// The fixed rule's choice.
std::optional<RowTile> rule_tiling(const RowProblem& p, const hw::HwConfig& hw);
/// Those of about so many chunks.
std::vector<RowTile> chunked_tilings(const RowProblem& p, const hw::HwConfig& hw, int64_t chunks);
/// Every tiling that is tried and fits, with its bound.
std::vector<std::pair<int64_t, RowTile>> tilings(const RowProblem& p, const hw::HwConfig& hw);

/// Never more than the cycles of that program: each queue's own time, with the shortest way in
/// before it and out behind it.
int64_t lower_bound(const RowProblem& p, const hw::HwConfig& hw, const RowTile& t);

}  // namespace accsim::sim
