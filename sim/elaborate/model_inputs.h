#pragma once
#include "sim/base/result.h"
#include "sim/elaborate/elaborate.h"
#include "sim/elaborate/graph_builder.h"
#include "sim/elaborate/scope.h"
#include "sim/elaborate/symbols.h"
#include "sim/graph/model_def.h"

namespace accsim::sim {

/// The inputs that are given in every run: neither listed as initializers too nor fixed to a value
/// by the options. Errors name the input.
Result<InputDefs> free_inputs(const ModelDef& model, const ElaborateOptions& options);

/// Adds those inputs with the shapes of `bound`, and as initializers those that the options fix to
/// a value. Gives the ids of the former, and puts all names into `scope`. Errors name the input.
Result<TensorIds> add_model_inputs(const ModelDef& model, const ElaborateOptions& options,
                                   const InputDefs& inputs, BoundInputs bound,
                                   GraphBuilder& builder, Scope& scope);

/// Adds the initializers of the model's graph or of a subgraph and puts their names into `scope`,
/// whose prefix goes before the tensors' names. Errors name the initializer.
Status add_initializers(const GraphDef& graph, GraphBuilder& builder, Scope& scope);

}  // namespace accsim::sim
