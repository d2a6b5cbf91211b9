#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hw/timing/timing.h"
#include "sim/base/result.h"
#include "sim/map/cost_evaluator.h"
#include "sim/map/gemm_space.h"
#include "sim/work/work.h"

namespace accsim::sim {

/// An input or output of a layer as its ops see it.
struct Operand {
  Place place;
  int64_t element_bytes = 1;  ///< of the tensor as it lies in memory
};

/// A WorkItem with the places of its ports.
struct OpRequest {
  WorkItem item;
  std::vector<Operand> inputs, outputs;  ///< by port
  bool relu = false;                     ///< a clip folded into the post unit
  int residual = -1;                     ///< input that the post unit adds; -1: none
  bool clips_sum = false;                ///< and a clip behind that
  bool table = false;                    ///< the post unit looks its results up in a table
};

/// All that the mapping of a request depends on, as bytes to compare: equal for equal requests.
std::string key_of(const OpRequest& request);

/// What the program of a GemmOp was written from: what packing its operands needs.
struct GemmSource {
  GemmProblem problem;
  Tiling tiling;
};

/// The chosen program with all that it costs.
struct Mapping {
  hw::Program program;  ///< empty without MapOptions::programs, as is the description
  hw::Timing timing;    ///< of the program alone
  ChainLink link;       ///< the program among others
  hw::Counts counts;
  std::string description;  ///< Tiling as text, or the number of chunks
  std::optional<GemmSource> gemm;
  int64_t candidates = 0;  ///< tilings that fit
  int64_t evaluated = 0;   ///< of them, timed (the others' bounds excluded them)
};

/// How much work goes into a mapping.
enum class MapEffort : uint8_t {
  search,  ///< every tiling that its bound doesn't exclude
  rule,    ///< one tiling by the fixed rule (rule.h); pinned layers are searched all the same
};

/// What mappings are chosen from, and by.
struct MapOptions {
  std::vector<hw::Dataflow> dataflows;  ///< empty: those of the machine
  Objective objective = Objective::cycles;
  MapEffort effort = MapEffort::search;
  std::vector<MappingPin> pins = {};  ///< the first whose glob matches a layer applies
  bool programs = true;               ///< build and verify the chosen programs; else only cost them
};

/// Finds the program that is best by the objective for each op, timing every candidate that its
/// lower bound doesn't exclude. Equal requests are answered from a cache. Not thread-safe.
class Mapper {
 public:
  Mapper(const hw::HwConfig& hw, MapOptions options)
      : hw_(hw), options_(std::move(options)), evaluator_(hw) {}

  /// `layer` names the layer in errors and picks the pin.
  Result<std::shared_ptr<const Mapping>> map(const OpRequest& request, const std::string& layer);

  /// The same without the cache.
  Result<Mapping> choose(const OpRequest& request, const std::string& layer);

  int64_t distinct() const { return static_cast<int64_t>(cache_.size()); }
  int64_t candidates() const { return candidates_; }  ///< tilings bounded so far
  int64_t evaluated() const { return evaluated_; }    ///< of them, timed

 private:
  Result<Mapping> search(const OpRequest& request, const MappingPin& pin);
  Result<Mapping> search_gemm(const GemmProblem& p, const MappingPin& pin);
  Result<Mapping> search_vector(const VectorProblem& p);
  /// Nothing when not even a row fits: then the op's operations are streamed.
  std::optional<Mapping> search_rows(const RowProblem& p);
  std::optional<Mapping> search_lanes(const LaneProblem& p);
  std::vector<hw::Dataflow> dataflows(const MappingPin& pin) const;
  const MappingPin& pin_of(const std::string& layer) const;

  const hw::HwConfig& hw_;
  const MapOptions options_;
  CostEvaluator evaluator_;
  int64_t candidates_ = 0, evaluated_ = 0;
  std::map<std::string, std::shared_ptr<const Mapping>> cache_;
};

}  // namespace accsim::sim
