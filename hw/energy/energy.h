#pragma once
#include "hw/program/program.h"

namespace accsim::hw {

/// Energy of a program by component: its counts times the machine's table (EnergyConfig, whose YAML
/// names the published source of each number). What has no key of its own:
/// - a tap that a lane weighs: a lane operation, which is a product and a sum, too;
/// - a row command: a lane operation for each element and pass, one for a row's division and one
///   for its root;
/// - a stage: its bytes in DRAM and in the shared buffer, read here and written there;
/// - a transposed load: its bytes as any load's; a table: the bytes that are read for it.
/// A MAC takes its mean over data with `zeros` (EnergyConfig::mean_mac()).
/// The array's registers are in the MAC's energy where that follows from a technology (derive.h).
/// Other registers on the way, a post's arithmetic and look-ups in a table of 256 bytes are charged
/// nothing: of a memory's root, as machine files have it, 0.22 pJ beside a slot byte's 3 to 5 pJ.
struct Energy {
  Picojoules mac;     ///< every MAC the array computes, zero blocks of packed groups included
  Picojoules vector;  ///< vector lane operations
  Picojoules sram;    ///< bytes read and written in the slot buffers
  Picojoules shared;  ///< bytes read and written in the shared buffer
  Picojoules dram;
  Picojoules leakage;  ///< static power over the cycles
};

/// The sum over all components.
Picojoules total_energy(const Energy& e);

/// Energy of a program that does `counts` and takes `cycles` (for leakage) on the machine.
Energy energy(const Counts& counts, Cycles cycles, const HwConfig& hw);

}  // namespace accsim::hw
