#pragma once
#include <optional>
#include <vector>

#include "sim/schedule/chain_text.h"
#include "sim/schedule/line_cuts.h"

namespace accsim::sim {

/// Puts runs of lines into a text.
class LineScheduler {
 public:
  explicit LineScheduler(ChainText& text);

  /// Adds a run cut into lines, or its first two ops, whichever is better, if that is better than
  /// its ops as a whole.
  bool add(const LineRun& run);

 private:
  std::optional<LineChoice> choose(const LineRun& run);
  /// What a run is cut from, when it has been moved to DRAM what ops make for the next one as far
  /// as the shared buffer hasn't room for all that is alive at once.
  struct Placed {
    std::vector<OpRequest> requests;
    int64_t shared = 0;
    bool moved = false;
  };
  Placed placed(const LineRun& run) const;
  /// Nothing where a run can't be cut so.
  std::optional<CutGroup> lines_as(const LineRun& run, const Placed& as, const LineCut& cut,
                                   Mapper& mapper) const;
  /// The fastest way to cut a run; nothing where none is faster than its ops as a whole.
  std::optional<LineCut> best_lines(const LineRun& run, const Placed& as);
  Stretch stretch(const LineRun& run, const LineTurn& t) const;

  const ScheduleInput& in_;
  ChainText& text_;
  Mapper own_sketches_;
  Mapper& sketches_;  ///< of what is only tried: no programs
};

}  // namespace accsim::sim
