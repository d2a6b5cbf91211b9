#pragma once
#include "hw/config/hw_config.h"

namespace accsim::hw {

/// Sets what follows from other fields of the machine, after any of them has changed:
/// - the rates and the latency of a banked DRAM: BankedDram::peak_channel();
/// - energies that aren't given, where energy.technology names one (hw/technology/technology.h):
///   MACs from the types of the machine and of its modes, buffers each slot of which is a memory of
///   its own, the shared memory as one, DRAM from dram.preset or energy.dram, and a part of the
///   array at full load for what is static. What can't follow stays 0, and breaks a rule.
void derive(HwConfig& hw);

/// The kind of DRAM that energies of DRAM follow from; custom where none is known.
DramKind dram_kind(const HwConfig& hw);

}  // namespace accsim::hw
