#include <fmt/format.h>

#include <algorithm>
#include <compare>
#include <optional>
#include <string_view>
#include <utility>
#include <variant>

#include "sim/base/sums.h"
#include "sim/elaborate/control_flow.h"
#include "sim/elaborate/expander.h"
#include "sim/elaborate/model_inputs.h"
#include "sim/elaborate/subgraph_outputs.h"
#include "sim/operators/op_table.h"

namespace accsim::sim {
namespace {

/// What a branch costs, as far as no machine is known.
struct Dearness {
  int64_t macs = 0;
  int64_t elements = 0;  ///< that its nodes write
  auto operator<=>(const Dearness&) const = default;
};

void add_node(const Graph& graph, const Node& node, Dearness& sum) {
  const OpRow* row = find_op(node);
  if (node.folded || row == nullptr || row->cost == nullptr) return;
  const Result<Work> work = row->cost(NodeView(graph, node));
  if (!work) return;  // said when it is lowered
  for (const WorkItem& item : *work)
    if (const auto* product = std::get_if<GemmOp>(&item))
      sum.macs = add_counts(sum.macs, product->macs());
  for (const TensorId id : node.outputs)
    if (id != kNoTensor) sum.elements = add_counts(sum.elements, elements(graph.tensor(id).dims));
}

/// The branch's nodes in place of the If; gives the tensors of its outputs.
Result<TensorIds> expand_branch(const NodeCall& call, bool then, Expander& expander) {
  const std::string_view branch = then ? "then_branch" : "else_branch";
  const GraphDef* body = call.graph_attribute(branch);
  if (body == nullptr)
    return call.error_at_node(Errc::invalid, fmt::format("lacks its {}", branch));
  Scope scope = call.scope.inner_scope(call.name + "/");
  const Status stored = add_initializers(*body, expander.builder(), scope);
  if (!stored) return stored.errors();
  return expander.expand_body(call, *body, scope);
}

/// Expands the branch, and takes it back.
Result<Dearness> branch_cost(const NodeCall& call, bool then, Expander& expander) {
  GraphBuilder& builder = expander.builder();
  const GraphBuilder::Mark mark = builder.current_mark();
  const Result<TensorIds> ids = expand_branch(call, then, expander);
  if (!ids) {
    builder.rewind_to(mark);
    Errors errors = ids.errors();
    for (Error& e : errors)
      e.message += fmt::format("; with --branch {}={} it isn't looked at", call.name,
                               then ? kElseBranch : kThenBranch);
    return errors;
  }
  Dearness out;
  for (size_t i = mark.nodes; i < builder.graph().nodes.size(); ++i)
    add_node(builder.graph(), builder.graph().nodes[i], out);
  builder.rewind_to(mark);
  return out;
}

/// Are they all of shapes? No run takes such a branch.
bool cant_be(const Errors& errors) {
  return std::ranges::all_of(errors, [](const Error& e) { return e.code == Errc::invalid; });
}

/// The branch that counts where only a run decides; the graph notes it.
Result<bool> assumed_branch(const NodeCall& call, Expander& expander) {
  GraphBuilder& builder = expander.builder();
  Assumption taken{.node = call.name, .op_type = call.def.op_type, .of = "branch"};
  const auto& branches = builder.graph().given_branches;
  bool then = true;
  if (const auto given = branches.find(call.name); given != branches.end()) {
    then = given->second;
    taken.given = true;
  } else {
    const Result<Dearness> if_true = branch_cost(call, true, expander);
    if (!if_true && !cant_be(if_true.errors())) return if_true.errors();
    const Result<Dearness> if_false = branch_cost(call, false, expander);
    if (!if_false && (!if_true || !cant_be(if_false.errors()))) return if_false.errors();
    then = !if_false || (if_true && *if_true >= *if_false);
    if (!if_true || !if_false) taken.of = "possible branch";
  }
  taken.branch = then ? kThenBranch : kElseBranch;
  builder.assume_branch(std::move(taken));
  return then;
}

}  // namespace

Status expand_if(const NodeCall& call, Expander& expander) {
  GraphBuilder& builder = expander.builder();
  if (call.input(0) == kNoTensor) return call.error_at_node(Errc::invalid, "lacks its condition");
  bool then = true;
  if (const std::optional<int64_t> condition = builder.known_scalar(call.input(0))) {
    then = *condition != 0;
  } else {
    const Result<bool> assumed = assumed_branch(call, expander);
    if (!assumed) return assumed.errors();
    then = *assumed;
  }
  const NodeId first_node = builder.next_node();
  const Result<TensorIds> ids = expand_branch(call, then, expander);
  if (!ids) return ids.errors();
  return bind_outputs(call, *ids, first_node, builder);
}

}  // namespace accsim::sim
