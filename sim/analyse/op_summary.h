#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/variant.h"
#include "sim/graph/graph.h"

namespace accsim::sim {

/// What a file says for an attribute; tensors and graphs as words that describe them.
using AttributeValue = Variant<int64_t, double, std::string, std::vector<int64_t>,
                               std::vector<double>, std::vector<std::string>>;

/// One attribute over all nodes of an operator.
struct AttributeSummary {
  int64_t count = 0;                   ///< nodes that state it
  std::vector<AttributeValue> values;  ///< distinct, rising; at most kMostValues of them
  int64_t distinct = 0;
  std::optional<double> least, most;  ///< over all numbers, those in lists too
};
inline constexpr size_t kMostValues = 32;

/// One operator over all its nodes.
struct OpSummary {
  int64_t count = 0;
  int64_t constant = 0;  ///< of them computed off line
  std::map<std::string, AttributeSummary> attributes;
  using Shapes = std::vector<Dims>;
  std::map<std::pair<Shapes, Shapes>, int64_t>
      shapes;  ///< inputs and outputs -> nodes that have them
};

/// Of the tensors that are there; an omitted optional one has none.
std::vector<Dims> shapes_of(const Graph& graph, const std::vector<TensorId>& ids);

/// By op_label().
std::map<std::string, OpSummary> summarise_ops(const Graph& graph);

/// "3", "[3, 3]", "SAME_UPPER". Not called to_string: that would hide the one of Dims, which become
/// an attribute's value without being asked.
std::string value_text(const AttributeValue& value);

}  // namespace accsim::sim
