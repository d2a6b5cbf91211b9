#pragma once
#include <set>
#include <string>
#include <vector>

#include "sim/base/result.h"
#include "sim/elaborate/function_table.h"
#include "sim/graph/model_def.h"

namespace accsim::sim {

/// Finds the nodes that there is no support for: neither functions of the model nor operators of
/// the table.
class SupportChecker {
 public:
  /// `functions` must outlive the checker.
  explicit SupportChecker(const FunctionTable& functions) : functions_(functions) {}
  /// Errc::unsupported for every operator of such nodes of the list and of the functions that it
  /// calls; `prefix` goes before their names, of which the first is said. A function's body is
  /// looked at once in the checker's life, under the name of the first call. Subgraphs aren't
  /// looked at: a branch that isn't taken may hold anything.
  Status check_support(const std::vector<NodeDef>& nodes, const std::string& prefix);

 private:
  const FunctionTable& functions_;
  std::set<const FunctionDef*> checked_;
};

}  // namespace accsim::sim
