#pragma once
#include <list>
#include <vector>

#include "sim/base/result.h"
#include "sim/elaborate/elaborate.h"
#include "sim/elaborate/graph_builder.h"
#include "sim/elaborate/scope.h"
#include "sim/elaborate/symbols.h"
#include "sim/graph/model_def.h"

namespace accsim::sim {

/// What a model is given in every run: its inputs that aren't listed as initializers, too. An
/// optional is the tensor in it, a sequence the tensors "<name>/0", "<name>/1" ...
struct ModelInputs {
  struct Input {
    const ValueDef* declared = nullptr;
    InputDefs tensors{};  ///< none: an optional that is left out, or an empty sequence
  };
  std::vector<Input> all{};
  InputDefs free{};            ///< the tensors that the options don't fix to a value
  std::list<ValueDef> made{};  ///< those of sequences
};

/// The inputs, as many tensors as options.sizes say: of an optional and of a sequence else one.
/// Errors name the input.
Result<ModelInputs> model_inputs(const ModelDef& model, const ElaborateOptions& options);

/// Adds the free inputs with the shapes of `bound`, and as initializers those that the options fix
/// to a value; notes how many tensors optionals and sequences have. Gives the ids of the former,
/// and puts all names into `scope`. Errors name the input.
Result<TensorIds> add_model_inputs(const ElaborateOptions& options, const ModelInputs& inputs,
                                   BoundInputs bound, GraphBuilder& builder, Scope& scope);

/// Adds the initializers of the model's graph or of a subgraph and puts their names into `scope`,
/// whose prefix goes before the tensors' names. Errors name the initializer.
Status add_initializers(const GraphDef& graph, GraphBuilder& builder, Scope& scope);

}  // namespace accsim::sim
