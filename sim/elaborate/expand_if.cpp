#include <fmt/format.h>

#include <optional>
#include <string_view>

#include "sim/elaborate/control_flow.h"
#include "sim/elaborate/expander.h"
#include "sim/elaborate/model_inputs.h"
#include "sim/elaborate/subgraph_outputs.h"

namespace accsim::sim {

Status expand_if(const NodeCall& call, Expander& expander) {
  GraphBuilder& builder = expander.builder();
  if (call.input(0) == kNoTensor) return call.error(Errc::invalid, "lacks its condition");
  const std::optional<int64_t> condition = builder.known_scalar(call.input(0));
  if (!condition)
    return call.error(Errc::unsupported,
                      fmt::format("its condition '{}' isn't constant, so the branch can't be known",
                                  builder.graph().tensor(call.input(0)).name));
  const std::string_view branch = *condition != 0 ? "then_branch" : "else_branch";
  const GraphDef* body = call.graph(branch);
  if (body == nullptr) return call.error(Errc::invalid, fmt::format("lacks its {}", branch));
  Scope scope = call.scope.inside(call.name + "/");
  const NodeId first_node = builder.next_node();
  Status stored = add_initializers(*body, builder, scope);
  if (!stored) return stored;
  const Result<TensorIds> ids = expander.expand_body(call, *body, scope);
  if (!ids) return ids.errors();
  return bind_outputs(call, *ids, first_node, builder);
}

}  // namespace accsim::sim
