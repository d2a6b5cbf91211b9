#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "sim/graph/graph.h"
#include "sim/report/to_json.h"

namespace accsim::sim {

/// Sizes and branches that only a run decides, for people: a text an operator, which names its
/// first nodes with what they are taken as, and says how to give others.
std::vector<std::string> assumption_texts(const std::vector<Assumption>& assumed);

/// What symbols of shapes were bound to, in order; those of `defaulted` with the option that sets
/// them.
template <class Bindings>
std::string symbols_text(const Bindings& bindings, const std::vector<std::string>& defaulted) {
  std::string out;
  for (const auto& [symbol, value] : bindings) {
    if (!out.empty()) out += ", ";
    out += symbol + " = " + std::to_string(value);
    if (std::find(defaulted.begin(), defaulted.end(), symbol) != defaulted.end())
      out += " (default; set with --bind " + symbol + "=N)";
  }
  return out;
}

/// Nodes costed as traffic alone ("name (op)"), for people: a text an operator, with its first
/// names.
std::vector<std::string> unsupported_texts(const std::vector<std::string>& nodes);

/// All of them: [{node, op_type, of, bound, size, given}].
Json assumptions_json(const std::vector<Assumption>& assumed);

}  // namespace accsim::sim
