#pragma once
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "hw/timing/chain.h"
#include "sim/map/mapper.h"
#include "sim/schedule/chain.h"
#include "sim/schedule/line_groups.h"
#include "sim/schedule/line_tile_shape.h"
#include "sim/schedule/row_groups.h"
#include "sim/schedule/row_tile_shape.h"
#include "sim/schedule/scheduled_op.h"
#include "sim/schedule/shared_places.h"

namespace accsim::sim {

/// A network's text with what it takes.
struct Schedule {
  std::vector<ScheduledOp> order;
  std::vector<Cycles> cycles;      ///< by stretch: its share of the chain
  std::vector<hw::Timing> shares;  ///< by op: of all its stretches
  int64_t total = 0;               ///< cycles; as hw::Chain has them
  struct SharedUse {
    size_t first_layer, last_layer;
    int64_t bytes;
  };
  /// Bytes of the shared buffer in use while layers take turns.
  std::vector<SharedUse> shared{};
  /// Ops in pieces, as a whole, with the memories in which their pieces find what they read.
  std::map<size_t, OpRequest> cut{};
  std::vector<RowShapeChoice> row_choices{};  ///< of runs of rows, one for all of equal ops
  SharedAddresses addresses{};  ///< where layers take turns; none where residency's are good
};

/// How a run of lines is cut.
struct LineChoice {
  LineGroup run;  ///< all of it, or its first two ops
  LineTileShape cut;
};
/// By the first op of a run of lines; nothing where its ops are better as a whole.
using LineChoices = std::map<size_t, std::optional<LineChoice>>;

/// What a network is scheduled from.
struct ScheduleInput {
  const hw::HwConfig& hw;
  std::span<const ChainOp> ops;
  std::span<const std::shared_ptr<const Mapping>> mappings;  ///< by op
  std::span<const LayerTensors> tensors;                     ///< by layer
  std::span<const RowGroup> runs;
  std::span<const LineGroup> line_groups;  ///< none of an op of `runs`; none under the fixed rule
  const Lowered& lowered;
  Mapper& mapper;                     ///< of pieces
  hw::ChainMemory* memory = nullptr;  ///< of the chains of other machines
  Mapper* sketches = nullptr;         ///< of pieces that are only tried: no programs; null: its own
  /// Of the same network with other mappings: runs found here are cut as they were there, and the
  /// others are added. Null: of none.
  LineChoices* choices = nullptr;
  /// How much more than the fewest cycles a run of rows may take where that moves fewer bytes from
  /// and to DRAM; never as much as its ops as a whole.
  double run_slack = 0;
  double most_run_slack = run_slack;  ///< that `row_choices` of the result is asked for
};

/// Puts a network's ops one behind the other. Ops of a run take turns in pieces if that makes the
/// network faster, and if all tensors in the shared buffer then have a place there.
Schedule schedule(const ScheduleInput& input);

}  // namespace accsim::sim
