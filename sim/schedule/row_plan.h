#pragma once
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "sim/map/mapper.h"
#include "sim/schedule/chain.h"
#include "sim/schedule/op_flow.h"
#include "sim/schedule/row_tile_shape.h"

namespace accsim::sim {

/// A run of rows as it is cut: where its ops' pieces lie, how they are mapped, and whose turn it is
/// when.
struct RowPlan {
  const RowGroup* run = nullptr;  ///< what is cut
  RowTileShape cut;
  std::vector<PieceOperands> operands;                   ///< by op
  std::vector<std::shared_ptr<const Mapping>> mappings;  ///< of a piece, or a part of it, by op
  std::vector<PartStep> order;
  std::vector<hw::MemoryId> between;  ///< where what op k makes for the next one lies
  int64_t shared = 0;                 ///< bytes in the shared buffer

  /// Bytes read from and written to DRAM.
  int64_t dram_bytes() const;
};

/// What runs are cut from.
struct RowPlanner {
  std::span<const ChainOp> ops;
  const Lowered& lowered;
  Mapper& mapper;
  int64_t capacity;  ///< bytes of the shared buffer

  /// Nothing where an op doesn't fall into so many pieces, or they don't fit.
  std::optional<RowPlan> plan_run(const RowGroup& run, const RowTileShape& as) const;
  std::vector<bool> on_array(const RowGroup& run) const;
  /// Numbers of pieces, few first: each is of rows that have their operands in common. Those that
  /// don't stay in the shared buffer go through DRAM.
  std::vector<int64_t> piece_counts(const RowGroup& run) const;
};

/// The tensors of a plan's turns, as a chain numbers them.
class StepTensors {
 public:
  /// `own`: number of the first tensor between pieces.
  StepTensors(const RowPlan& plan, std::span<const ChainOp> ops,
              std::span<const LayerTensors> tensors, int32_t own);

  /// Those of a turn, until the next call.
  std::span<const int32_t> tensors_of_step(const PartStep& turn);

 private:
  /// Of an op: the numbers of its tensors, and which of them are the pieces' own.
  struct Op {
    std::vector<int32_t> numbers;
    std::vector<size_t> in, out;
  };
  const RowPlan& plan_;
  const int32_t own_;
  std::vector<Op> ops_;
};

}  // namespace accsim::sim
