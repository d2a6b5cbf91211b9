#pragma once
#include <string>
#include <vector>

#include "sim/compare/compare.h"
#include "sim/report/text.h"

namespace accsim::sim {

/// A comparison for the terminal: the sides, what differs of the machines, the waterfall, what
/// remains, and the layers that differ most (all that differ with options.all_layers). No line is
/// wider than options.width, but never narrower than 60.
std::string to_text(const Comparison& comparison, const TextOptions& options);

/// Comparisons as JSON, schema "accsim.compare/1":
///   schema, causes [{key, label, unit, definition}], comparisons
/// and in each of the last a and b (model, machine, clock, cycles, nanoseconds, ...), difference,
/// changed [{field, a, b}], waterfall [{cause, a, b, difference, nanoseconds}], remains
/// {array_ratio, speedup, time_speedup, ideal_cycles, units}, sentences, layers [{name, op_type,
/// match, a, b, difference, causes}]. Cycles are integers, and the differences of causes add up to
/// the difference exactly, layer by layer and in all. A layer's `causes` has those that aren't 0.
std::string to_json(const std::vector<Comparison>& comparisons);

/// Comparisons as a page that needs no network; it quotes the command line and version that made
/// it. Not empty.
std::string to_html(const std::vector<Comparison>& comparisons, const std::string& command,
                    const std::string& version);

}  // namespace accsim::sim
