#pragma once
#include "sim/base/result.h"
#include "sim/elaborate/elaborate.h"
#include "sim/elaborate/graph_builder.h"
#include "sim/elaborate/scope.h"
#include "sim/graph/model_def.h"

namespace accsim::sim {

/// Adds the model's inputs, symbols bound, and those that the options fix to a value as
/// initializers; inputs that are listed as initializers too are left to these. Gives the inputs'
/// ids, and puts all names into `scope`. Errors name the input.
Result<TensorIds> add_model_inputs(const ModelDef& model, const ElaborateOptions& options,
                                   GraphBuilder& builder, Scope& scope);

/// Adds the initializers of the model's graph or of a subgraph and puts their names into `scope`,
/// whose prefix goes before the tensors' names. Errors name the initializer.
Status add_initializers(const GraphDef& graph, GraphBuilder& builder, Scope& scope);

}  // namespace accsim::sim
