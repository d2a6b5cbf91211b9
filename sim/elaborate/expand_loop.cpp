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

/// How many iterations a Loop runs for, as far as that is known.
class Trips {
 public:
  Trips(const NodeCall& call, GraphBuilder& builder) : call_(call), builder_(builder) {
    if (call.input(0) == kNoTensor) return;
    stated_ = builder.known_scalar(call.input(0));
    unknown_ = !stated_;
  }

  /// Whether iteration `i` runs behind this condition.
  Result<bool> goes_on(TensorId condition, int64_t i) {
    const std::optional<int64_t> go_on = builder_.known_scalar(condition);
    if (go_on && *go_on == 0) return false;
    if ((unknown_ || !go_on) && !assumed_)
      if (Status s = assume_trips(i); !s) return s.errors();
    if ((stated_ && i >= *stated_) || (assumed_ && i >= *assumed_)) return false;
    if (i >= kMostIterations)
      return call_.error_at_node(
          Errc::capacity,
          fmt::format("runs for more than {} iterations, which aren't expanded; give it "
                      "fewer, or cost its body by itself",
                      kMostIterations));
    return true;
  }

 private:
  /// From iteration `i` on only a run decides. A trip count that says nothing, as exporters write
  /// it for a while loop, counts as none.
  Status assume_trips(int64_t i) {
    const bool bounded = stated_ && *stated_ <= kMostIterations;
    const Result<int64_t> trips =
        builder_.assume_size({.node = call_.name,
                              .op_type = call_.def.op_type,
                              .of = "iterations",
                              .bound = bounded ? std::max<int64_t>(0, *stated_) : kMostIterations,
                              .size = bounded ? std::max<int64_t>(0, *stated_) : 1});
    if (!trips) return call_.errors_at_node(trips.errors());
    if (*trips < i)
      return call_.error_at_node(Errc::usage,
                                 fmt::format("--assume gives {} iterations, but there are at "
                                             "least {}",
                                             *trips, i));
    assumed_ = *trips;
    return ok();
  }

  const NodeCall& call_;
  GraphBuilder& builder_;
  std::optional<int64_t> stated_, assumed_;
  bool unknown_ = false;  ///< there is a trip count that isn't constant
};

/// The first values of what is carried, among them empty optionals.
Result<TensorIds> first_values(const NodeCall& call) {
  TensorIds out;
  for (size_t i = 2; i < call.def.inputs.size(); ++i) {
    if (call.def.inputs[i].empty())
      return call.error_at_node(Errc::invalid, "lacks the first value of something it carries");
    out.push_back(call.input(i));
  }
  return out;
}

/// Runs the iterations inside of `constants`; their outputs go into `values`.
Status run_iterations(const NodeCall& call, const GraphDef& body, const Scope& constants,
                      IterationValues& values, Expander& expander) {
  GraphBuilder& builder = expander.builder();
  Trips trips(call, builder);
  const Result<TensorId> always =
      builder.add_integers(constants.prefix + "always", {}, {1}, DType::boolean);
  if (!always) return always.errors();
  TensorId condition = call.input(1) == kNoTensor ? *always : call.input(1);
  for (int64_t i = 0;; ++i) {
    const Result<bool> runs = trips.goes_on(condition, i);
    if (!runs) return runs.errors();
    if (!*runs) return ok();
    if (const Status step = expander.budget().take_step(); !step)
      return call.errors_at_node(step.errors());
    Scope scope = constants.inner_scope(fmt::format("{}{}/", constants.prefix, i));
    const Result<TensorId> counter = builder.add_integers(scope.prefix + "iteration", {}, {i});
    if (!counter) return counter.errors();
    scope.names[body.inputs[0].name] = *counter;
    scope.names[body.inputs[1].name] = condition;
    for (size_t k = 0; k < values.carried.size(); ++k)
      scope.names[body.inputs[2 + k].name] = values.carried[k];
    const Result<TensorIds> ids = expander.expand_body(call, body, scope);
    if (!ids) return ids.errors();
    condition = ids->front();
    if (condition < 0)
      return call.error_at_node(Errc::invalid, "its body's condition isn't a tensor");
    values.take_outputs(*ids, 1);
  }
  return ok();
}

}  // namespace

Status expand_loop(const NodeCall& call, Expander& expander) {
  GraphBuilder& builder = expander.builder();
  const GraphDef* body = call.graph_attribute("body");
  if (body == nullptr) return call.error_at_node(Errc::invalid, "lacks its body");
  Result<TensorIds> first = first_values(call);
  if (!first) return first.errors();
  IterationValues values;
  values.carried = std::move(*first);
  const size_t carried = values.carried.size();
  if (body->inputs.size() != carried + 2 || body->outputs.size() < carried + 1)
    return call.error_at_node(
        Errc::invalid, fmt::format("carries {} values, but its body has {} inputs and {} outputs",
                                   carried, body->inputs.size(), body->outputs.size()));
  values.scanned.resize(body->outputs.size() - 1 - carried);
  Scope constants = call.scope.inner_scope(call.name + "/");
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
