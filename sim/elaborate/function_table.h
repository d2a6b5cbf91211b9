#pragma once
#include <map>
#include <string_view>
#include <tuple>
#include <vector>

#include "sim/graph/model_def.h"

namespace accsim::sim {

/// The functions that a model defines itself. They go before operators of the same name.
class FunctionTable {
 public:
  /// The functions must outlive the table; of two of one name the first is taken.
  explicit FunctionTable(const std::vector<FunctionDef>& functions);
  /// The function that a node calls; nullptr when it calls none.
  const FunctionDef* find(const NodeDef& node) const;

 private:
  using Key = std::tuple<std::string_view, std::string_view, std::string_view>;
  std::map<Key, const FunctionDef*> functions_;  ///< by domain, name and overload
};

}  // namespace accsim::sim
