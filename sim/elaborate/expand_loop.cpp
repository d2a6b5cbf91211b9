#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "sim/elaborate/control_flow.h"
#include "sim/elaborate/expander.h"
#include "sim/elaborate/iterations.h"
#include "sim/elaborate/model_inputs.h"
#include "sim/elaborate/subgraph_outputs.h"

namespace accsim::sim {
namespace {

/// The number of iterations that the Loop states; nullopt when it leaves that to its condition.
Result<std::optional<int64_t>> trip_count(const NodeCall& call, const GraphBuilder& builder) {
  if (call.input(0) == kNoTensor) return std::optional<int64_t>();
  const std::optional<int64_t> trips = builder.known_scalar(call.input(0));
  if (!trips)
    return call.error(Errc::unsupported, fmt::format("its trip count '{}' isn't constant",
                                                     builder.graph().tensor(call.input(0)).name));
  return trips;
}

/// Whether iteration `i` runs, by a condition that must be known.
Result<bool> goes_on(const NodeCall& call, TensorId condition, int64_t i, Expander& expander) {
  const std::optional<int64_t> go_on = expander.builder().known_scalar(condition);
  if (!go_on)
    return call.error(Errc::unsupported,
                      fmt::format("its condition '{}' isn't constant, so the number of iterations "
                                  "can't be known",
                                  expander.builder().graph().tensor(condition).name));
  if (*go_on == 0) return false;
  if (i >= kMostIterations)
    return call.error(Errc::capacity,
                      fmt::format("runs for more than {} iterations", kMostIterations));
  const Status stepped = expander.budget().take_step();
  if (!stepped) return call.errors(stepped.errors());
  return true;
}

/// Runs the iterations inside of `constants`; their outputs go into `values`.
Status run_iterations(const NodeCall& call, const GraphDef& body, const Scope& constants,
                      IterationValues& values, Expander& expander) {
  GraphBuilder& builder = expander.builder();
  const Result<std::optional<int64_t>> trips = trip_count(call, builder);
  if (!trips) return trips.errors();
  const Result<TensorId> always =
      builder.add_integers(constants.prefix + "always", {}, {1}, DType::boolean);
  if (!always) return always.errors();
  TensorId condition = call.input(1) == kNoTensor ? *always : call.input(1);
  for (int64_t i = 0; !*trips || i < **trips; ++i) {
    const Result<bool> runs = goes_on(call, condition, i, expander);
    if (!runs) return runs.errors();
    if (!*runs) return ok();
    Scope scope = constants.inside(fmt::format("{}{}/", constants.prefix, i));
    const Result<TensorId> counter = builder.add_integers(scope.prefix + "iteration", {}, {i});
    if (!counter) return counter.errors();
    scope.names[body.inputs[0].name] = *counter;
    scope.names[body.inputs[1].name] = condition;
    for (size_t k = 0; k < values.carried.size(); ++k)
      scope.names[body.inputs[2 + k].name] = values.carried[k];
    const Result<TensorIds> ids = expander.expand_body(call, body, scope);
    if (!ids) return ids.errors();
    condition = ids->front();
    values.take(*ids, 1);
  }
  return ok();
}

}  // namespace

Status expand_loop(const NodeCall& call, Expander& expander) {
  GraphBuilder& builder = expander.builder();
  const GraphDef* body = call.graph("body");
  if (body == nullptr) return call.error(Errc::invalid, "lacks its body");
  IterationValues values;
  // Trailing absent inputs were trimmed, so that a Loop may have fewer than two.
  values.carried.assign(call.inputs.begin() + std::min<ptrdiff_t>(2, std::ssize(call.inputs)),
                        call.inputs.end());
  const size_t carried = values.carried.size();
  if (body->inputs.size() != carried + 2 || body->outputs.size() < carried + 1)
    return call.error(Errc::invalid,
                      fmt::format("carries {} values, but its body has {} inputs and {} outputs",
                                  carried, body->inputs.size(), body->outputs.size()));
  if (std::ranges::find(values.carried, kNoTensor) != values.carried.end())
    return call.error(Errc::invalid, "lacks the first value of something it carries");
  values.scanned.resize(body->outputs.size() - 1 - carried);
  Scope constants = call.scope.inside(call.name + "/");
  const NodeId first_node = builder.next_node();
  Status status = add_initializers(*body, builder, constants);
  if (status) status = run_iterations(call, *body, constants, values, expander);
  if (!status) return status;
  TensorIds ids = values.carried;
  for (size_t k = 0; k < values.scanned.size(); ++k) {
    const CollectedOutput output{carried + k, 0, &body->outputs[1 + carried + k]};
    const Result<TensorId> all =
        stack_iterations(call, output, std::move(values.scanned[k]), builder);
    if (!all) return all.errors();
    ids.push_back(*all);
  }
  return bind_outputs(call, ids, first_node, builder);
}

}  // namespace accsim::sim
