#pragma once
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hw/config/type_modes.h"
#include "hw/timing/timing.h"
#include "sim/base/result.h"
#include "sim/map/cost_evaluator.h"
#include "sim/map/gather_problem.h"
#include "sim/map/gemm_space.h"
#include "sim/map/lane_problem.h"
#include "sim/map/mapping_memory.h"
#include "sim/work/work.h"

namespace accsim::sim {

/// An input or output of a layer as its ops see it.
struct Operand {
  Place place;
  int64_t element_bytes = 1;  ///< of the tensor as it lies in memory
};

/// Which of its layer's operands those of an op are: by the op's port, the port of the layer and
/// the byte of its tensor that the op's begins at. None: the same ports, from their beginnings.
struct LayerPorts {
  struct Port {
    int index = 0;
    int64_t offset = 0;
  };
  std::vector<Port> inputs, outputs;

  /// The layer's port that the op's is, and where the op's begins in it.
  OperandPort of(const OperandPort& port) const;
  int64_t offset(const OperandPort& port) const;

 private:
  const Port* find(const OperandPort& port) const;
};

/// A WorkItem with the places of its ports.
struct OpRequest {
  WorkItem item;
  std::vector<Operand> inputs, outputs;  ///< by port
  bool relu = false;                     ///< a clip folded into the post unit
  int residual = -1;                     ///< input that the post unit adds; -1: none
  bool clips_sum = false;                ///< and a clip behind that
  bool table = false;                    ///< the post unit looks its results up in a table
  int64_t room = 0;                      ///< of a product: GemmProblem::room
  int mode = hw::kOwnTypes;              ///< of a product: which of the machine's modes it runs in
  LayerPorts ports{};                    ///< of no consequence for how the op is mapped
};

/// All that the mapping of a request depends on, as bytes to compare: equal for equal requests.
std::string key_of(const OpRequest& request);

/// What the program of a GemmOp was written from: what packing its operands needs.
struct GemmSource {
  GemmProblem problem;
  Tiling tiling;
};

/// The same of lane and row operations: what writing the program with other numbers needs.
struct LaneSource {
  LaneProblem problem;
  LaneTiling tiling;
};
struct RowSource {
  RowProblem problem;
  RowTile tile;
};

/// The chosen program with all that it costs.
struct Mapping {
  hw::Program program;  ///< empty without MapOptions::programs, as is the description
  hw::Timing timing;    ///< of the program alone; none with MapOptions::only_links()
  ChainLink link;       ///< the program among others
  hw::Counts counts;
  std::string description;  ///< Tiling as text, or the number of chunks
  std::optional<GemmSource> gemm;
  std::optional<LaneSource> lanes;
  std::optional<RowSource> rows;
  std::optional<VectorProblem> move;  ///< whose program is true
  std::optional<GatherProblem> gather;
  /// Why values and cycles of the program aren't those of golden and the core: its moves only stand
  /// for the op's traffic, or hw::why_not_verifiable(). "" where they are.
  std::string_view unverifiable = "not built";
  int64_t candidates = 0;   ///< tilings that fit
  int64_t evaluated = 0;    ///< of them, timed (the others' bounds excluded them)
  double tensor_bytes = 0;  ///< of a product, as burden() counts them
  /// Of a product that has taken its slack: the mapping of the fewest cycles, without its program.
  std::shared_ptr<const Mapping> fewest;
  /// Of a product that reads or writes some of its tensors in DRAM more than once: one that does so
  /// less, beyond its slack (kBeyondSlack), without its program.
  std::shared_ptr<const Mapping> beyond;
};

/// How much work goes into a mapping.
enum class MapEffort : uint8_t {
  search,  ///< every tiling that its bound doesn't exclude
  rule,    ///< one tiling by the fixed rule (rule.h); pinned layers are searched all the same
};

/// What mappings are chosen from, and by.
struct MapOptions {
  std::vector<hw::Dataflow> dataflows = {};  ///< empty: those of the machine
  Objective objective = Objective::cycles;
  double slack = kDefaultSlack, cycle_price = 0;  ///< as an Aim has them
  MapEffort effort = MapEffort::search;
  std::vector<MappingPin> pins = {};  ///< the first whose glob matches a layer applies
  bool programs = true;               ///< build and verify the chosen programs; else only cost them
  int threads = 1;                    ///< of map_ahead()
  std::shared_ptr<SearchLimit> limit = {};  ///< of all mappers that have it; none: no limit
  /// For a bound, not for a program: what is staged may have all of the shared buffer.
  bool all_room = false;
  /// Only dataflows whose sums stay in the array, or only those whose operands do: a program is one
  /// or the other as a whole (one_array_each()). Unset: any, as products alone may have them.
  std::optional<bool> sums_stay = {};

  /// The fixed rule leaves nothing to choose from.
  bool only_rule() const { return effort == MapEffort::rule && pins.empty(); }
  Aim aim() const { return {objective, only_rule() ? 0 : slack, cycle_price}; }
  /// Is there nothing to choose by cycles, and nobody to tell them to?
  bool only_links() const { return only_rule() && !programs; }
};

/// An op where it stands in a network.
struct NetworkOp {
  const OpRequest* request = nullptr;
  const std::string* layer = nullptr;
};

/// How often a piece of an op takes turns at the slots.
struct SlotTurns {
  int64_t chunks = 1;  ///< of rows or lanes in the vector unit, or more where those don't fit
  int64_t lines = 0;   ///< of a convolution's result in a tile; 0: all that there are
};

/// Finds the program that is best by the objective for each op, timing every candidate that its
/// lower bound doesn't exclude. Equal requests are answered from a cache. Not thread-safe.
class Mapper {
 public:
  Mapper(const hw::HwConfig& hw, MapOptions options)
      : hw_(hw), options_(std::move(options)), evaluator_(hw) {}

  /// `layer` names the layer in errors and picks the pin.
  Result<std::shared_ptr<const Mapping>> map(const OpRequest& request, const std::string& layer) {
    return map(request, layer, key_of(request));
  }
  /// `key`: that of the request.
  Result<std::shared_ptr<const Mapping>> map(const OpRequest& request, const std::string& layer,
                                             const std::string& key);

  /// Maps a network's ops in several threads; map() then finds what they found. What has no mapping
  /// is left to map() and its errors.
  void map_ahead(std::span<const NetworkOp> ops);

  /// Of a piece of an op, between those of others: it takes few turns at the slots. Activations of
  /// a product are loaded as `turns` says, and its weights at once, where they fit. It has no
  /// slack: its ops are cut where that saves cycles.
  Result<std::shared_ptr<const Mapping>> map_piece(const OpRequest& request, const SlotTurns& turns,
                                                   const std::string& layer);
  /// A mapping's `fewest` or `beyond`, with its program where options say so. The same one for the
  /// same one.
  std::shared_ptr<const Mapping> written(const std::shared_ptr<const Mapping>& mapping,
                                         const std::string& layer);
  /// Ops and pieces are looked up here first, vector and memory ops and products, and what is found
  /// is added. Precondition: this is what is known of the machine and the options; no pins.
  void remember(std::array<std::shared_ptr<MappingMemory::Alike>, 2> known) {
    known_ = std::move(known);
  }
  bool minimises_cycles() const { return options_.objective == Objective::cycles; }
  /// Do lane commands do all of the op?
  bool takes_lanes(const OpRequest& request) const;
  /// Does it look beyond the fixed rule?
  bool searches() const { return options_.effort == MapEffort::search; }
  /// Has the user pinned the layer's mapping?
  bool is_pinned(const std::string& layer) const { return !pin_of(layer).free(); }

  /// The same without the cache.
  Result<Mapping> choose(const OpRequest& request, const std::string& layer);

  const MapOptions& options() const { return options_; }
  const hw::HwConfig& machine() const { return hw_; }
  /// The machine as the request sees it: hw::machine_of_mode() of a product's mode. Valid as long
  /// as the mapper.
  const hw::HwConfig& machine_of(const OpRequest& request) { return view(request.mode).hw; }
  int64_t distinct() const { return static_cast<int64_t>(cache_.size()); }
  int64_t candidates() const { return candidates_; }  ///< tilings bounded so far
  int64_t evaluated() const { return evaluated_; }    ///< of them, timed
  int64_t remembered() const { return remembered_; }  ///< found in what remember() gave
  /// Has it come to its limit? Then its mappings are no good.
  bool is_over() const { return options_.limit && options_.limit->is_over(); }

 private:
  /// A machine, and what times its programs.
  struct View {
    const hw::HwConfig& hw;
    CostEvaluator& evaluator;
  };
  struct ModeView {
    explicit ModeView(hw::HwConfig machine) : hw(std::move(machine)), evaluator(hw) {}
    hw::HwConfig hw;
    CostEvaluator evaluator;
  };
  View view(int mode);

  /// The rule's choice, not timed.
  template <class Problem, class... Choice>
  static Mapping by_rule(CostEvaluator& evaluator, const Problem& p, const Choice&... choice) {
    CostEvaluator::Linked found = evaluator.linked(p, choice...);
    Mapping out;
    out.link = std::move(found.link);
    out.counts = found.counts;
    out.candidates = 1;
    return out;
  }
  /// What is known of an op or a piece by its key; null: nothing.
  std::shared_ptr<const Mapping> find(const OpRequest& request, const std::string& key);
  /// What has been found becomes known.
  std::shared_ptr<const Mapping> keep(const OpRequest& request, const std::string& key,
                                      Mapping mapping);
  /// What has been found, with the layer named in errors, and counted.
  Result<Mapping> checked(Result<Mapping> found, const std::string& layer);
  Result<Mapping> search(const OpRequest& request, const MappingPin& pin, const Aim& aim);
  Result<Mapping> search_gemm(const GemmProblem& p, const MappingPin& pin, const Aim& aim);
  void add_program(const GemmProblem& p, const Tiling& tiling, Mapping& mapping);
  void check_program(const std::string& layer, Mapping& mapping);
  Result<Mapping> search_vector(const VectorProblem& p);
  /// Nothing when not even a row fits: then the op's operations are streamed.
  std::optional<Mapping> search_rows(const RowProblem& p, int64_t chunks);
  /// In `chunks`, or in a few more where so many don't fit; 0: in however many.
  std::optional<Mapping> search_lanes(const LaneProblem& p, int64_t chunks);
  std::optional<Mapping> search_gather(const GatherProblem& p);
  std::vector<hw::Dataflow> dataflows(const MappingPin& pin, int mode);
  const MappingPin& pin_of(const std::string& layer) const;

  const hw::HwConfig& hw_;
  const MapOptions options_;
  CostEvaluator evaluator_;
  std::map<int, std::unique_ptr<ModeView>> modes_;  ///< those that were asked for
  int64_t candidates_ = 0, evaluated_ = 0, remembered_ = 0;
  std::map<std::string, std::shared_ptr<const Mapping>> cache_;
  std::map<const Mapping*, std::shared_ptr<const Mapping>> written_;
  std::array<std::shared_ptr<MappingMemory::Alike>, 2> known_{};  ///< others, products
  std::map<std::string, VectorCut> move_cuts_;                    ///< of moves, wherever they begin
};

}  // namespace accsim::sim
