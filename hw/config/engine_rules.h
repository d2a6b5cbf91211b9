#pragma once
#include "hw/config/rules.h"

namespace accsim::hw {

/// Rules of machines of dot products (config_rules(), which says each in a sentence). Each says
/// nothing of other machines, or where a field that it needs couldn't be read.
void stripes_go_together(RuleContext& c);
void dot_products_have_one_width(RuleContext& c);
void dot_products_run_from_dram(RuleContext& c);
void banks_are_the_buffers(RuleContext& c);
void outputs_are_written_in_time(RuleContext& c);

}  // namespace accsim::hw
