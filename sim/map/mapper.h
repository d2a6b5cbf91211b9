#pragma once
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hw/config/type_modes.h"
#include "sim/base/result.h"
#include "sim/map/map_options.h"
#include "sim/map/mapping.h"
#include "sim/map/mapping_memory.h"

namespace accsim::sim {

/// An op where it stands in a network.
struct NetworkOp {
  const OpRequest* request = nullptr;
  const std::string* layer = nullptr;
};

/// How often a piece of an op takes turns at the slots.
struct SlotChunks {
  int64_t chunks = 1;  ///< of rows or lanes in the vector unit, or more where those don't fit
  int64_t lines = 0;   ///< of a convolution's result in a tile; 0: all that there are
};

/// Finds the program that is best by the objective for each op, timing every candidate that its
/// lower bound doesn't exclude. Equal requests are answered from a cache. Not thread-safe.
class Mapper {
 public:
  Mapper(const hw::HwConfig& hw, MapOptions options)
      : hw_(hw), options_(std::move(options)), evaluator_(hw, options_.limit.get()) {}

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
  /// slack: its ops are cut where that saves cycles. Without its program, for most are only tried.
  Result<std::shared_ptr<const Mapping>> map_piece(const OpRequest& request,
                                                   const SlotChunks& turns,
                                                   const std::string& layer);
  /// A piece, or a mapping's `fewest` or `in_wide_slack`, with its program where options say so.
  /// The same one for the same one.
  std::shared_ptr<const Mapping> with_program(const std::shared_ptr<const Mapping>& mapping,
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
  bool is_searching() const { return options_.effort == MapEffort::search; }
  /// Has the user pinned the layer's mapping?
  bool is_pinned(const std::string& layer) const { return !pin_of(layer).is_free(); }

  /// The same without the cache.
  Result<Mapping> choose_mapping(const OpRequest& request, const std::string& layer);

  const MapOptions& options() const { return options_; }
  const hw::HwConfig& machine() const { return hw_; }
  /// The machine as the request sees it: hw::machine_of_mode() of a product's mode. Valid as long
  /// as the mapper.
  const hw::HwConfig& machine_of(const OpRequest& request) { return view_of_mode(request.mode).hw; }
  int64_t distinct_count() const { return static_cast<int64_t>(cache_.size()); }
  int64_t candidate_count() const { return candidates_; }   ///< tilings bounded so far
  int64_t evaluated_count() const { return evaluated_; }    ///< of them, timed
  int64_t remembered_count() const { return remembered_; }  ///< found in what remember() gave
  /// Has it come to its limit? Then its mappings are no good.
  bool is_over() const { return options_.limit && options_.limit->is_over(); }

 private:
  /// A machine, and what times its programs.
  struct View {
    const hw::HwConfig& hw;
    CostEvaluator& evaluator;
  };
  struct ModeView {
    ModeView(hw::HwConfig machine, SearchLimit* limit)
        : hw(std::move(machine)), evaluator(hw, limit) {}
    hw::HwConfig hw;
    CostEvaluator evaluator;
  };
  View view_of_mode(int mode);

  /// What is known of an op or a piece by its key; null: nothing.
  std::shared_ptr<const Mapping> find_known(const OpRequest& request, const std::string& key);
  /// What has been found becomes known.
  std::shared_ptr<const Mapping> keep_mapping(const OpRequest& request, const std::string& key,
                                              Mapping mapping);
  /// What has been found, with the layer named in errors, and counted.
  Result<Mapping> check_found(Result<Mapping> found, const std::string& layer);
  Result<Mapping> search_op(const OpRequest& request, const MappingPin& pin,
                            const ObjectiveFunction& objective);
  /// Of any other op: by a unit that the machine has for it, or by the first kind that has it and
  /// of which a tiling fits.
  Result<Mapping> search_others(const OpRequest& request, const MappingPin& pin);
  template <Kind Source>
  std::optional<Mapping> search_kind(const OpRequest& request, int64_t chunks);
  /// Writes the program of its source.
  void add_program(Mapping& mapping);
  void check_program(const std::string& layer, Mapping& mapping);
  const MappingPin& pin_of(const std::string& layer) const;

  const hw::HwConfig& hw_;
  const MapOptions options_;
  CostEvaluator evaluator_;
  std::map<int, std::unique_ptr<ModeView>> modes_;  ///< those that were asked for
  int64_t candidates_ = 0, evaluated_ = 0, remembered_ = 0;
  std::map<std::string, std::shared_ptr<const Mapping>> cache_;
  std::map<const Mapping*, std::shared_ptr<const Mapping>> written_;
  std::array<std::shared_ptr<MappingMemory::Alike>, 2> known_{};  ///< others, products
  std::map<std::string, OpSource> alike_;                         ///< by alike_key()
};

}  // namespace accsim::sim
