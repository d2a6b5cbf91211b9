#pragma once
#include "hw/config/hw_config.h"

namespace accsim::hw {

/// Sets what follows from other fields of the machine, after any of them has changed:
/// - the rates and the latency of a banked DRAM: BankedDram::peak_channel();
/// - energies that aren't given, where energy.technology names one (hw/technology/technology.h):
///   MACs from the types of the machine and of its modes, buffers each slot of which is a memory of
///   its own, as wide as its widest port (buffer_memory.h), the shared memory as one, DRAM from
///   dram.preset or energy.dram, and a part of the array at full load for what is static. What
///   can't follow stays 0, and breaks a rule.
/// A MAC has the registers of its element that it clocks: an operand that streams by, or both where
/// sums stay in the array, and the sum. Operands that stay are held, without a clock. Elements of a
/// mode with a rate above 1 have one sum for all of their MACs, a column of a dot product has one
/// for all of its rows, whose products meet in a tree.
void derive(HwConfig& hw);

/// The kind of DRAM that energies of DRAM follow from; custom where none is known.
DramKind dram_kind(const HwConfig& hw);

}  // namespace accsim::hw
