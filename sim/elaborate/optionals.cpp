#include "sim/elaborate/optionals.h"

#include "sim/elaborate/expander.h"
#include "sim/elaborate/subgraph_outputs.h"

namespace accsim::sim {
namespace {

Status stand_for(const NodeCall& call, TensorId id, Expander& expander) {
  GraphBuilder& builder = expander.builder();
  return bind_outputs(call, {id}, builder.next_node(), builder);
}

}  // namespace

Status make_optional(const NodeCall& call, Expander& expander) {
  if (call.input(0) != kNoTensor) return stand_for(call, call.input(0), expander);
  if (call.find_attribute("type") == nullptr)
    return call.error_at_node(Errc::invalid, "has neither an element nor a type");
  return stand_for(call, kNoTensor, expander);
}

Status optional_element(const NodeCall& call, Expander& expander) {
  if (call.input(0) != kNoTensor) return stand_for(call, call.input(0), expander);
  return call.error_at_node(Errc::invalid, "its optional is empty");
}

Status optional_has_element(const NodeCall& call, Expander& expander) {
  const int64_t is_there = call.input(0) != kNoTensor ? 1 : 0;
  const Result<TensorId> answer =
      expander.builder().add_integers(call.name + "/answer", {}, {is_there}, DType::boolean);
  if (!answer) return answer.errors();
  return stand_for(call, *answer, expander);
}

}  // namespace accsim::sim
