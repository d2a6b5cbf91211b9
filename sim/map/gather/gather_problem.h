#pragma once
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/map/kind.h"
#include "sim/map/product/gemm_problem.h"
#include "sim/work/work.h"

namespace accsim::sim {

/// Rows that lists of indices pick, by gathered loads: golden gives what the op gives. An index
/// is the lower 32 bits of an element of the list, without a sign.
struct GatherProblem {
  PickedRows rows;
  Place data, indices, out;
  int64_t element_bytes = 1;  ///< of data and result
  int64_t index_bytes = 4;    ///< 4 or 8, little-endian

  int64_t row_bytes() const { return rows.row * element_bytes; }
};

/// How it is cut.
struct GatherTile {
  int64_t list = 1;   ///< indices that a parameter slot has at once: of whole lists, or of one
  int64_t items = 1;  ///< of a command
  int64_t bytes = 1;  ///< of each of its rows
  friend bool operator==(const GatherTile&, const GatherTile&) = default;
};
/// "16 rows of 768 bytes by a list of 128".
std::string to_string(const GatherProblem& p, const GatherTile& t);

/// Rows that lists pick, by gathered loads.
struct GatherSource : KindSource<GatherProblem, GatherTile> {
  static std::optional<GatherProblem> of_request(const OpRequest& r, const hw::HwConfig& hw);
};

/// Can commands say where the rows lie?
bool has_gather_commands(const GatherProblem& p);

/// Do list and rows fit into the slots?
bool fits(const GatherProblem& p, const hw::HwConfig& hw, const GatherTile& t);

/// Some eight tiles that overlap, or more where those don't fit.
std::optional<GatherTile> rule_tiling(const GatherProblem& p, const hw::HwConfig& hw);
/// Largest first; bounded by nothing.
std::vector<std::pair<int64_t, GatherTile>> tilings(const GatherProblem& p, const hw::HwConfig& hw);

}  // namespace accsim::sim
