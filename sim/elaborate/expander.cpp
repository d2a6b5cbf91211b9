#include "sim/elaborate/expander.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "sim/elaborate/control_flow.h"
#include "sim/elaborate/declared_type.h"
#include "sim/elaborate/expand_function.h"
#include "sim/elaborate/node_label.h"
#include "sim/elaborate/node_order.h"
#include "sim/elaborate/rotary.h"
#include "sim/elaborate/subgraph_outputs.h"
#include "sim/graph/module_path.h"
#include "sim/operators/matmul/einsum_rules.h"
#include "sim/operators/names.h"
#include "sim/operators/op_table.h"

namespace accsim::sim {
namespace {

std::vector<std::string> output_names(const GraphDef& graph) {
  std::vector<std::string> names;
  for (const ValueDef& output : graph.outputs) names.push_back(output.name);
  return names;
}

/// A misspelt attribute would silently leave its default. Operators of other domains than ai.onnx
/// and newer ones may have attributes that aren't known here.
Status check_attributes(const NodeCall& call) {
  const OpRow* row = find_op(call.def.domain, call.def.op_type);
  if (row == nullptr || !row->domain.empty() || call.opset > kNewestOpset) return ok();
  for (const Attribute& attribute : call.attributes)
    if (!row->has_attribute(attribute.name))
      return call.error_at_node(
          Errc::invalid, fmt::format("{} has no attribute '{}'{}{}", row->name, attribute.name,
                                     row->attributes.size() == 0 ? "" : "; it has ",
                                     fmt::join(row->attributes, ", ")));
  return ok();
}

/// What is declared of each output of a node.
std::vector<DeclaredType> declared_outputs(const NodeCall& call, const Graph& graph) {
  std::vector<DeclaredType> declared(call.def.outputs.size());
  if (call.scope.graph == nullptr) return declared;
  for (size_t i = 0; i < declared.size(); ++i)
    declared[i] = find_declared(*call.scope.graph, call.def.outputs[i], graph.bindings);
  return declared;
}

/// An Einsum that only permutes the axes of one operand is a Transpose, or changes nothing.
void name_permutation(const Graph& graph, Node& node) {
  if (!node.domain.empty() || node.op_type != op::kEinsum) return;
  const NodeView view(graph, node);
  if (!view.has_input(0) || view.dtype(0) == DType::string || view.dtype(0) == DType::boolean)
    return;  // its own rules refuse it
  const auto perm = einsum_permutation(view);
  if (!perm) return;
  const bool stays = std::ranges::is_sorted(*perm);
  node.written_as = std::exchange(node.op_type, stays ? op::kIdentity : op::kTranspose);
  node.attributes.clear();
  if (!stays) node.attributes.push_back({"perm", "", *perm});
}

/// Is it an Identity of a sequence or of an empty optional?
bool hands_on(const NodeCall& call, const GraphBuilder& builder) {
  const NodeDef& def = call.def;
  if (!def.domain.empty() || def.op_type != op::kIdentity || !call.wants_output(0)) return false;
  if (call.input(0) != kNoTensor) return builder.find_sequence(call.input(0)) != nullptr;
  return !def.inputs.empty() && !def.inputs[0].empty() && call.scope.find(def.inputs[0]) != nullptr;
}

}  // namespace

Expander::Expander(const ModelDef& model, const ElaborateOptions& options, GraphBuilder& builder,
                   Budget& budget)
    : opsets_(model.opsets),
      options_(options),
      functions_(model.functions),
      support_(functions_),
      builder_(builder),
      budget_(budget) {}

Status Expander::expand_nodes(const std::vector<NodeDef>& nodes, Scope& scope) {
  if (!options_.allow_unsupported) {
    Status support = support_.check_support(nodes, scope.prefix);
    if (!support) return support;
  }
  const auto known = [&](std::string_view name) { return scope.find(name) != nullptr; };
  const auto taken = [&](std::string_view name) { return scope.names.contains(name); };
  const Result<std::vector<size_t>> order = topological_order(nodes, known, taken);
  if (!order) return order.errors();
  const bool first = !std::exchange(expanding_, true);
  for (size_t i : *order) {
    Status status = expand_node(nodes[i], i, scope);
    if (!status) return status;
    if (first) origins_.resize(builder_.graph().nodes.size(), i);
  }
  return ok();
}

Result<TensorIds> Expander::expand_body(const NodeCall& call, const GraphDef& body, Scope& scope) {
  const Result<Budget::Level> level = budget_.enter_level();
  if (!level) return call.errors_at_node(level.errors());
  scope.graph = &body;
  Status status = expand_nodes(body.nodes, scope);
  if (!status) return status.errors();
  return find_outputs(call, output_names(body), scope);
}

Status Expander::expand_node(const NodeDef& def, size_t index, Scope& scope) {
  NodeCall call{def,
                scope.prefix + node_name(def, index),
                opset_of(def.domain, scope.frame),
                {},
                resolve_attributes(def.attributes, scope.frame),
                scope};
  for (const std::string& input : def.inputs) {
    const TensorId* id = input.empty() ? nullptr : scope.find(input);
    call.inputs.push_back(id == nullptr ? kNoTensor : *id);
  }
  while (!call.inputs.empty() && call.inputs.back() == kNoTensor) call.inputs.pop_back();
  if (const FunctionDef* function = functions_.find(def))
    return expand_function(call, *function, *this);
  return expand_call(call);
}

Status Expander::expand_call(const NodeCall& call) {
  const NodeDef& def = call.def;
  if (const Status step = budget_.take_step(); !step) return call.errors_at_node(step.errors());
  if (const ControlFlowRule rule = find_control_flow(def)) return rule(call, *this);
  if (hands_on(call, builder_)) {
    call.scope.names[def.outputs[0]] = call.input(0);
    return ok();
  }
  if (is_rotary(call) && !options_.as_written) {
    const Result<TensorId> made = spell_out_rotary(call, builder_, budget_, angles_);
    if (!made) return call.errors_at_node(made.errors());
    if (*made != kNoTensor) {
      call.scope.names[def.outputs[0]] = *made;
      return ok();
    }
  }
  if (!options_.as_written)
    if (const auto form = attention_of_call(call, builder_, budget_, attentions_))
      return add_attention(call, *form);
  if (const SpellRule rule = find_spelling(def.domain, def.op_type, options_.as_written))
    return expand_fused(call, rule);
  return add_plain(call);
}

Status Expander::expand_fused(const NodeCall& call, SpellRule rule) {
  const GraphBuilder::Mark mark = builder_.current_mark();
  if (const Status plain = add_plain(call); !plain) return plain;
  std::vector<std::pair<DType, Dims>> wanted;
  for (const std::string& output : call.def.outputs) {
    const TensorId id = output.empty() ? kNoTensor : *call.scope.find(output);
    if (id == kNoTensor) continue;
    wanted.emplace_back(builder_.graph().tensor(id).dtype, builder_.graph().tensor(id).dims);
  }
  builder_.rewind_to(mark);
  Spelling spelling(call, *this);
  const TensorIds ids = rule(spelling);
  const auto fits = [&] {
    if (!spelling.errors().empty() || ids.size() < call.def.outputs.size()) return false;
    size_t next = 0;
    for (size_t i = 0; i < call.def.outputs.size(); ++i) {
      if (call.def.outputs[i].empty()) continue;
      if (ids[i] == kNoTensor) return false;
      const Tensor& made = builder_.graph().tensor(ids[i]);
      if (std::pair(made.dtype, made.dims) != wanted[next++]) return false;
    }
    return true;
  };
  if (fits()) return bind_outputs(call, ids, static_cast<NodeId>(mark.nodes), builder_);
  builder_.rewind_to(mark);
  return add_plain(call);
}

Status Expander::add_attention(const NodeCall& call, AttentionOperator& form) {
  const GraphBuilder::Mark before = builder_.current_mark();
  if (const Status plain = add_plain(call); !plain) return plain;
  const Graph& graph = builder_.graph();
  if (!form.plan(NodeView(graph, graph.nodes.back()))) return ok();
  builder_.rewind_to(before);
  const Result<TensorIds> made = form.spell_out();
  if (!made) return call.errors_at_node(made.errors());
  for (size_t i = 0; i < made->size(); ++i)
    if ((*made)[i] != kNoTensor) call.scope.names[call.def.outputs[i]] = (*made)[i];
  return ok();
}

Status Expander::add_plain(const NodeCall& call) {
  const NodeDef& def = call.def;
  for (size_t i = 0; i < call.inputs.size(); ++i)
    if (builder_.find_sequence(call.inputs[i]))
      return call.error_at_node(Errc::invalid, "its input '" + def.inputs[i] +
                                                   "' is a sequence of tensors, not a tensor");
  std::vector<std::string> names;
  for (const std::string& output : def.outputs)
    names.push_back(output.empty() ? "" : call.scope.prefix + output);
  Node node{
      call.name,       def.op_type, def.domain,
      call.opset,      call.inputs, {},
      call.attributes, false,       def.module.empty() ? module_from_name(call.name) : def.module};
  if (const Status known = check_attributes(call); !known) return known;
  if (!options_.as_written) name_permutation(builder_.graph(), node);
  const OpRow* row = find_op(node);
  const Result<TensorIds> ids =
      row != nullptr ? builder_.add_node(std::move(node), names, *row)
                     : builder_.add_unsupported(std::move(node), names,
                                                declared_outputs(call, builder_.graph()));
  if (!ids) return ids.errors();
  for (size_t i = 0; i < ids->size(); ++i)
    if ((*ids)[i] != kNoTensor) call.scope.names[def.outputs[i]] = (*ids)[i];
  return ok();
}

int64_t Expander::opset_of(const std::string& domain, const CallFrame* frame) const {
  if (frame != nullptr) {
    const auto& own = frame->function->opsets;
    const auto found = own.find(domain);
    if (found != own.end()) return found->second;
  }
  const auto found = opsets_.find(domain);
  return found == opsets_.end() ? 1 : found->second;
}

}  // namespace accsim::sim
