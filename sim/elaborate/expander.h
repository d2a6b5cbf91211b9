#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "sim/base/result.h"
#include "sim/elaborate/attention_operator.h"
#include "sim/elaborate/budget.h"
#include "sim/elaborate/elaborate.h"
#include "sim/elaborate/function_table.h"
#include "sim/elaborate/fused_forms.h"
#include "sim/elaborate/graph_builder.h"
#include "sim/elaborate/scope.h"
#include "sim/elaborate/support.h"
#include "sim/graph/model_def.h"

namespace accsim::sim {

/// Goes over lists of nodes and puts what they stand for into a graph. Plain nodes stay as they
/// are. If, Loop, Scan and calls of functions become the lists inside them (control_flow.h,
/// expand_function.h), for which it is called again. Errors name the node.
class Expander {
 public:
  /// The model, the options, the builder and the budget must outlive the expander. Of the options:
  /// allow_unsupported keeps nodes of unknown operators, with declared shapes; as_written keeps
  /// operators that are spelled out else.
  Expander(const ModelDef& model, const ElaborateOptions& options, GraphBuilder& builder,
           Budget& budget);

  /// Expands the nodes in topological order. Their inputs are looked up in `scope`, their outputs'
  /// names are put there. Nodes without support are reported all at once as Errc::unsupported,
  /// otherwise the first problem.
  Status expand_nodes(const std::vector<NodeDef>& nodes, Scope& scope);
  /// Expands a subgraph of `call`, whose inputs and initializers are in `scope` already, one level
  /// deeper; gives the tensors of its outputs.
  Result<TensorIds> expand_body(const NodeCall& call, const GraphDef& body, Scope& scope);

  /// Puts what one node stands for into the graph, and its outputs into its scope. Calls of the
  /// model's own functions aren't looked for.
  Status expand_call(const NodeCall& call);

  /// By node of the graph, the index of the node that it stands for in the list that expand_nodes()
  /// was called with first.
  const std::vector<size_t>& origins() const { return origins_; }

  GraphBuilder& builder() { return builder_; }
  Budget& budget() { return budget_; }

 private:
  Status expand_node(const NodeDef& def, size_t index, Scope& scope);
  Status add_plain(const NodeCall& call);
  /// What an attention stands for, in the operator's place if it can be spelled out.
  Status add_attention(const NodeCall& call, AttentionOperator& form);
  /// What the rule spells out, where its outputs are as the operator's own row says; else the node.
  Status expand_fused(const NodeCall& call, SpellRule rule);
  int64_t opset_of(const std::string& domain, const CallFrame* frame) const;

  const std::map<std::string, int64_t>& opsets_;
  const ElaborateOptions& options_;
  const FunctionTable functions_;
  SupportChecker support_;
  GraphBuilder& builder_;
  Budget& budget_;
  RotaryAngles angles_;
  AttentionMemory attentions_{{}, {}, angles_};
  bool expanding_ = false;  ///< the first list is under way
  std::vector<size_t> origins_;
};

}  // namespace accsim::sim
