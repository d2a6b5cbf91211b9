#pragma once
#include <optional>
#include <vector>

#include "sim/schedule/line_tile_shape.h"
#include "sim/schedule/op_order.h"

namespace accsim::sim {

/// Puts runs of lines into a order.
class LineScheduler {
 public:
  explicit LineScheduler(OpOrder& order);

  /// Adds a run cut into lines, or its first two ops, whichever is better, if that is better than
  /// its ops as a whole.
  bool schedule_run(const LineGroup& run);

 private:
  std::optional<LineChoice> choose_cut(const LineGroup& run);
  /// What a run is cut from once results between its ops have moved to DRAM. They move as far as
  /// the shared buffer lacks room for all that is alive at once.
  struct Placed {
    std::vector<OpRequest> requests;
    int64_t shared = 0;
    bool moved = false;
  };
  Placed placed_requests(const LineGroup& run) const;
  /// Nothing where a run can't be cut so.
  std::optional<CutGroup> lines_as(const LineGroup& run, const Placed& as, const LineTileShape& cut,
                                   Mapper& mapper) const;
  /// The fastest way to cut a run; nothing where none is faster than its ops as a whole.
  std::optional<LineTileShape> best_lines(const LineGroup& run, const Placed& as);
  ScheduledOp scheduled_piece(const LineGroup& run, const LineStep& t) const;

  const ScheduleInput& in_;
  OpOrder& order_;
  Mapper own_sketches_;
  Mapper& sketches_;  ///< of what is only tried: no programs
};

}  // namespace accsim::sim
