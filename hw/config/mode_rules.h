#pragma once
#include "hw/config/rules.h"

namespace accsim::hw {

/// Rules of types.modes, each at the line of the mode that breaks it.
void modes_are_a_set(RuleContext& c);
void modes_have_types_that_go_together(RuleContext& c);
void modes_have_products_of_activations(RuleContext& c);
void modes_have_whole_rows(RuleContext& c);
void modes_hold_what_is_multiplied(RuleContext& c);
void modes_fit_the_slots(RuleContext& c);

/// What a slot of a buffer must hold.
struct SlotNeed {
  Buffer buffer;
  int64_t bytes;
  std::string_view what;
};
/// One vector, tile, set of parameters, row of sums and row of outputs of a machine's own types.
SlotNeed vector_need(const HwConfig& hw);
SlotNeed tile_need(const HwConfig& hw);
SlotNeed parameter_need(const HwConfig& hw);
SlotNeed sums_need(const HwConfig& hw);
SlotNeed output_need(const HwConfig& hw);
/// Of machines of int4 weights with groups; else nothing. Two groups are the fewest that count.
std::vector<SlotNeed> group_needs(const HwConfig& hw);

}  // namespace accsim::hw
