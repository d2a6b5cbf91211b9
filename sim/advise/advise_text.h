#pragma once
#include <string>

#include "sim/advise/advise.h"
#include "sim/report/text.h"

namespace accsim::sim {

/// The fields that change cycles as a table, the largest saving first; the others in one line; what
/// the rules had to say. No line is wider than options.width, but never narrower than 60.
std::string to_text(const Advice& advice, const TextOptions& options);

/// As JSON, schema "accsim.advise/1": model, machine, base {cycles, time_us, energy_pj, area_mm2}
/// and fields [{field, unit, value, better, tenth, twofold}] in the advice's order; a move is
/// {wanted, value, cycles, cycles_saved, time_us, energy_pj, area_mm2, illegal} or {wanted,
/// refused}.
std::string to_json(const Advice& advice);

}  // namespace accsim::sim
