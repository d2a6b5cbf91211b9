#pragma once
#include "hw/program/program.h"

namespace accsim::hw {

/// Energy of a program by component: its counts times the machine's table (EnergyConfig, whose YAML
/// names the published source of each number).
struct Energy {
  Picojoules mac;     ///< every MAC the array computes, zero blocks of packed groups included
  Picojoules vector;  ///< vector lane operations
  Picojoules sram;    ///< bytes read and written in the slot buffers
  Picojoules shared;  ///< bytes read and written in the shared buffer
  Picojoules dram;
  Picojoules leakage;  ///< static power over the cycles
};

/// The sum over all components.
Picojoules total(const Energy& e);

/// Energy of a program that does `counts` and takes `cycles` (for leakage) on the machine.
Energy energy(const Counts& counts, Cycles cycles, const HwConfig& hw);

}  // namespace accsim::hw
