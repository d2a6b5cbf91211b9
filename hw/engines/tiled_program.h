#pragma once
#include "hw/engines/tiled_layer.h"

namespace accsim::hw {

/// A layer's program, and the micro-operations that it reads.
struct TiledProgram {
  EngineProgram commands;
  int64_t micro_operations = 0;
};

/// The program of a tiled layer (head of validation/tables/vta_rtl.csv, "Program structure"):
/// groups of tiles that take turns; of each group sums are cleared, operands loaded and multiplied
/// step by step, results shifted and limited, and stored. It is in the numbers of a machine that
/// has passed check_engine_machine(). Errors are those of check_tiled_layer() and
/// bind_tiled_program().
Result<TiledProgram> make_tiled_program(const TiledLayer& layer, const EngineMachine& machine);

}  // namespace accsim::hw
