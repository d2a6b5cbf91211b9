#pragma once
#include <optional>

#include "sim/map/product/gemm_problem.h"

namespace accsim::sim {

/// How a tiling stages weights. The outputs are cut into panels. A panel's weights go from DRAM to
/// the shared buffer once and stay while all tiles of pixels pass by. Each tile of pixels loads the
/// panel's weight tiles from there. Activations are loaded once per panel. The weight tiles lie in
/// regions, several in each. Once the last tile of pixels has loaded a region's tiles, the next
/// panel's are staged into it.
struct WeightPanels {
  /// A panel is one tile of outputs, its weight tiles are chunks of the channels; else they are
  /// tiles of outputs with all channels.
  bool by_channels = false;
  int64_t tiles = 0;         ///< weight tiles of a whole panel
  int64_t each = 0;          ///< of them in a region; in the last one maybe fewer
  int64_t regions = 0;       ///< of one slot each
  int64_t region_bytes = 0;  ///< of each
  int64_t panels = 0;
  int64_t last_outputs = 0;  ///< of the last panel

  int64_t bytes() const { return regions * region_bytes; }
};

/// Can the product's weights be staged on the machine, whatever the tiling: is there room, and do
/// both operands come from DRAM?
bool may_stage(const GemmProblem& p);

/// What `staged` of the tiling may be: outputs of a panel, `most` or the most that there is room
/// for, and then as few as make as many panels. 0: nothing to gain, or no room.
int64_t staged_outputs(const GemmProblem& p, const hw::HwConfig& hw, const Tiling& t, int64_t most);

/// Of a tiling whose `staged` is one that staged_outputs() gave.
WeightPanels weight_panels(const GemmProblem& p, const hw::HwConfig& hw, const Tiling& t);

/// Whether a region has its weights as [columns of the array][channels][of a column] where DRAM has
/// [channels][outputs]: they are put so while they are staged, once, and each tile of pixels loads
/// whole blocks. Else as DRAM has them: where columns don't fit, where weights are turned, and in
/// front of banks, which runs so short and far apart cost more than they save.
bool staged_in_blocks(const GemmProblem& p, const hw::HwConfig& hw, const Tiling& t);

/// The weights in one region, counted from the panel's first output; empty behind the last one.
struct RegionPart {
  int64_t first_output = 0, outputs = 0;
  int64_t first_channel = 0, channels = 0;
  int64_t first_tile = 0;
  bool empty() const { return outputs <= 0 || channels <= 0; }
};
/// `outputs`: of the panel.
RegionPart region_part(const GemmProblem& p, const Tiling& t, const WeightPanels& w, int64_t region,
                       int64_t outputs);

/// Where the weights of a region lie in DRAM: the walk over them, and where it begins, in bytes
/// from where the panel does.
struct RegionSource {
  hw::Walk walk;
  int64_t offset = 0;
};
/// That of a part, of a panel of so many outputs.
RegionSource region_source(const GemmProblem& p, const hw::HwConfig& hw, const Tiling& t,
                           const WeightPanels& w, const RegionPart& part, int64_t outputs);

}  // namespace accsim::sim
