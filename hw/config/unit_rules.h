#pragma once
#include "hw/config/rules.h"

namespace accsim::hw {

/// Rules of machines with vector.template: units (config_rules(), which says each in a sentence).
/// Each says nothing of other machines, or where a field that it needs couldn't be read.
void units_stand_beside_dot_products(RuleContext& c);
void set_up_is_part_of_latencies(RuleContext& c);
void units_take_atoms_in_time(RuleContext& c);

}  // namespace accsim::hw
