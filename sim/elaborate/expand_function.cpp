#include "sim/elaborate/expand_function.h"

#include <fmt/format.h>

#include "sim/elaborate/expander.h"
#include "sim/elaborate/subgraph_outputs.h"

namespace accsim::sim {

Status expand_function(const NodeCall& call, const FunctionDef& function, Expander& expander) {
  for (const CallFrame* frame = call.scope.frame; frame != nullptr; frame = frame->caller)
    if (frame->function == &function)
      return call.error_at_node(Errc::invalid, "the function calls itself");
  const Result<Budget::Level> level = expander.budget().enter_level();
  if (!level) return call.errors_at_node(level.errors());
  if (call.inputs.size() > function.inputs.size())
    return call.error_at_node(
        Errc::invalid, fmt::format("has {} inputs, the function takes {}", call.inputs.size(),
                                   function.inputs.size()));
  CallFrame frame{&function, call.scope.frame, call.attributes};
  for (const Attribute& fallback : function.attribute_defaults)
    if (call.find_attribute(fallback.name) == nullptr) frame.attributes.push_back(fallback);
  Scope scope;
  scope.frame = &frame;
  scope.prefix = call.name + "/";
  for (size_t i = 0; i < function.inputs.size(); ++i)
    scope.names.emplace(function.inputs[i], call.input(i));
  const NodeId first_node = expander.builder().next_node();
  Status status = expander.expand_nodes(function.nodes, scope);
  if (!status) return status;
  const Result<TensorIds> ids = find_outputs(call, function.outputs, scope);
  if (!ids) return ids.errors();
  return bind_outputs(call, *ids, first_node, expander.builder());
}

}  // namespace accsim::sim
