#pragma once
#include "hw/config/rules.h"

namespace accsim::hw {

/// Rules of the section `engines`, of machines that have it. Their statements stand in rules.cpp.
void engines_are_there(RuleContext& c);
void engines_have_names_of_their_own(RuleContext& c);
void engines_have_whole_beats(RuleContext& c);
void one_engine_writes(RuleContext& c);

}  // namespace accsim::hw
