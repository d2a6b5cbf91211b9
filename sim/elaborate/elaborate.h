#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "sim/base/dims.h"
#include "sim/base/limits.h"
#include "sim/base/result.h"
#include "sim/elaborate/cut.h"
#include "sim/graph/graph.h"
#include "sim/graph/model_def.h"

namespace accsim::sim {

/// The symbol whose binding is the size of all symbols that nothing else decides.
inline constexpr std::string_view kAllOthers = "*";

/// What the user fixes of a model before its graph is made.
struct ElaborateOptions {
  std::map<std::string, int64_t> bindings{};  ///< symbol -> size; of the others batches become 1
  std::map<std::string, Dims>
      input_shapes{};  ///< graph input -> shape, instead of the declared one
  std::map<std::string, StoredTensor> constants{};  ///< graph inputs that are fixed to a value
  std::map<std::string, int64_t> sizes{};  ///< node -> a size of its output that only a run decides
  /// Tensor -> its elements, which only data knows; in loops its name is behind the loop's path.
  std::map<std::string, GivenValue> values{};
  std::map<std::string, bool> branches{};  ///< If whose condition only a run decides -> is it then?
  GraphCut cut{};                          ///< the part of the graph that is wanted
  Limits limits{};                         ///< of what the model may ask for
  bool allow_unsupported = false;  ///< keep nodes of unknown operators, with declared shapes
  bool as_written = false;         ///< no real_graph() is made of it, no operator spelled out
  /// Keys of the blocks in which attention is done (in_key_blocks()); 0: as it is; nullopt: in the
  /// blocks or not in which a machine does it best (cost_network()).
  std::optional<int64_t> key_blocks = {};
  bool skip_unknown = false;  ///< bindings and shapes of what the model doesn't have are no error
};

/// Makes the flat graph of a model. Symbols are bound, nodes in topological order, functions
/// inlined, If, Loop and Scan expanded, sequences resolved. Every shape, and every constant that
/// shapes depend on, is computed. Then `cut` is applied. Budgets bound what a model may ask for
/// (budget.h). Errors name file and node or tensor. Unknown operators are reported all at once as
/// Errc::unsupported, sizes that nobody gave as Errc::usage; else the first problem.
Result<Graph> elaborate(const ModelDef& model, const ElaborateOptions& options);

}  // namespace accsim::sim
