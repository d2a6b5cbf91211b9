#pragma once
#include <string>
#include <vector>

#include "sim/graph/graph.h"
#include "sim/report/to_json.h"

namespace accsim::sim {

/// Sizes and branches that only a run decides, for people: a text an operator, which names its
/// first nodes with what they are taken as, and says how to give others.
std::vector<std::string> assumption_texts(const std::vector<Assumption>& assumed);

/// Nodes costed as traffic alone ("name (op)"), for people: a text an operator, with its first
/// names.
std::vector<std::string> unsupported_texts(const std::vector<std::string>& nodes);

/// All of them: [{node, op_type, of, bound, size, given}].
Json assumptions_json(const std::vector<Assumption>& assumed);

}  // namespace accsim::sim
