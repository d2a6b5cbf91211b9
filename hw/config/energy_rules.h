#pragma once
#include "hw/config/rules.h"

namespace accsim::hw {

/// Rules of what follows from energy.technology.
void energies_are_known(RuleContext& c);
void modes_have_energies(RuleContext& c);
void dram_has_one_kind(RuleContext& c);

}  // namespace accsim::hw
