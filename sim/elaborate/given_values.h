#pragma once
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "sim/base/result.h"
#include "sim/graph/given_value.h"
#include "sim/graph/graph.h"
#include "sim/graph/model_def.h"

namespace accsim::sim {

/// Values of tensors by name.
using GivenValues = std::map<std::string, GivenValue>;

/// The numbers of a text: "3", "1,2,3", "true", or lists in brackets as JSON and Python write them,
/// "[[1, 2], [3, 4]]", which state the shape. Errc::usage, without a `where`, for any other text.
Result<GivenValue> parse_value(std::string_view text);

/// The value as the tensor's own type holds it. Errc::usage, without a `where`, that says what is
/// expected, where shape or type are others.
Result<ConstPtr> fit_value(const GivenValue& given, const Tensor& tensor);

/// Errors of given names that no tensor of the model can have, whatever its loops expand to.
Status check_value_names(const GivenValues& given, const ModelDef& model);

/// Errors of the values in graph.given_values that decide nothing: neither a shape nor what a node
/// costs, themselves or by what follows from them. `given`: the tensors that have them. `asked`:
/// tensors whose values decided on branches and loops.
Status check_values_used(const Graph& graph, const std::map<std::string, TensorId>& given,
                         const std::set<TensorId>& asked);

}  // namespace accsim::sim
