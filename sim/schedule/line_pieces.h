#pragma once
#include <optional>
#include <vector>

#include "sim/map/mapper.h"
#include "sim/work/lane_work.h"

namespace accsim::sim {

/// An op that makes its result line by line: each line of it of some lines of what it reads at one
/// port, and of other operands. Lines lie densely, one behind the other.
struct LineFlow {
  OperandPort in, out;
  int64_t lines = 0;                  ///< of the result
  LaneSlide window{};                 ///< of the lines that it reads
  int64_t in_line = 0, out_line = 0;  ///< bytes

  /// Lines that it reads, from the first on, for so many of the first ones of its result.
  int64_t lines_needed(int64_t results) const;
};
/// Of convolutions of one image with constant weights, and of what lane commands do line by line;
/// nullopt for all else.
std::optional<LineFlow> line_flow(const OpRequest& request, const hw::HwConfig& hw);

/// Some lines of an op's result, one behind the other.
struct OpLines {
  OpRequest request;
  struct Port {
    OperandPort port;
    int64_t offset = 0;  ///< bytes from where the op finds the operand
  };
  std::vector<Port> ports{};  ///< those where it isn't 0

  int64_t offset(const OperandPort& port) const;
};
/// `count` lines of the result of an op that has a LineFlow, from line `first` on.
OpLines cut_lines(const OpRequest& request, int64_t first, int64_t count, const hw::HwConfig& hw);

}  // namespace accsim::sim
