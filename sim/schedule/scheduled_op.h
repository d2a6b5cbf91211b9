#pragma once
#include <memory>
#include <vector>

#include "sim/map/mapper.h"

namespace accsim::sim {

/// An op of a network, or a piece of it, where it stands in the network's text.
struct ScheduledOp {
  size_t layer = 0;
  size_t op = 0;                           ///< index among the network's ops
  std::shared_ptr<const Mapping> mapping;  ///< of the op or of each of its pieces
  int64_t piece = -1;                      ///< -1: all of the op
  std::vector<int32_t> tensors;            ///< those of the trace, as the chain numbers them
  std::vector<int64_t> offsets{};  ///< by tensor of the trace: where the op's or piece's begins
  /// By tensor of the trace: which one it is a part of, where pieces wait for parts; or none.
  std::vector<int32_t> whole{};

  /// Whose bytes the tensors of the trace are, as the chain numbers them.
  const std::vector<int32_t>& owners() const { return whole.empty() ? tensors : whole; }
};

}  // namespace accsim::sim
