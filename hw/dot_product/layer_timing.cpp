#include "hw/dot_product/layer_timing.h"

#include <algorithm>
#include <utility>

#include "hw/dot_product/read_port.h"
#include "hw/dot_product/stripe_timer.h"
#include "sim/base/sums.h"

namespace accsim::hw {
namespace {

constexpr int64_t kLastCycle = int64_t{1} << 59;  // cut_layer() lets a layer take twice as many

/// Layers on one engine: the port, the stripes, and what the next layer needs to know of this one.
class EngineRun {
 public:
  explicit EngineRun(const DotProductEngine& engine)
      : engine_(engine), port_(engine), stripes_(engine) {}

  LayerEvents run(const DotProductLayer& layer, const DotProductWork& work);

 private:
  ReadRequests demand(const DotProductLayer& layer, const DotProductWork& work) const;
  void run_groups(const DotProductLayer& layer, const DotProductWork& work);
  int64_t allowed(const DotProductLayer& layer, const DotProductWork& work, int64_t freed) const {
    return allowed_entries(layer.banks.weights, freed, work.weight_entries, engine_);
  }

  DotProductEngine engine_;
  ReadPort port_;
  StripeTimer stripes_;
  std::optional<BankDivision> before_;  // of the layer before
  int64_t held_ = 0;                    // entries of its weights
  std::vector<EntriesFrom> freed_;      // of its groups: entries that are free, from when on
};

LayerEvents EngineRun::run(const DotProductLayer& layer, const DotProductWork& work) {
  port_.begin_layer(demand(layer, work));
  stripes_.begin_layer();
  run_groups(layer, work);
  before_ = layer.banks;
  held_ = work.weight_entries;
  LayerEvents events;
  events.first_read = port_.first_read();
  events.last_read = port_.last_read();
  if (!layer.has_weights) events.last_weight_read = port_.weight_read(work.weight_entries);
  events.last_feature_read = port_.last_feature_read();
  events.first_write = stripes_.first_atom() + engine_.atom_to_write;
  events.last_write = stripes_.last_atom() + engine_.atom_to_write;
  events.read_wait = stripes_.waited();
  return events;
}

/// Sections "Reads" and "Layers in sequence": from when on what may be asked for.
ReadRequests EngineRun::demand(const DotProductLayer& layer, const DotProductWork& work) const {
  ReadRequests wanted{work.feature_entries, engine_.feature_start, {}};
  if (before_) wanted.features_begin = stripes_.blocks_end() + engine_.layer_to_reads;
  if (layer.has_weights) return wanted;
  if (!before_) {
    wanted.weights.push_back({engine_.weight_start, allowed(layer, work, 0)});
    return wanted;
  }
  const int64_t begin = *before_ == layer.banks
                            ? port_.last_read() + engine_.read_latency + engine_.weight_start
                            : wanted.features_begin;
  wanted.weights.push_back({begin, allowed(layer, work, -held_)});
  for (const EntriesFrom& freed : freed_)
    wanted.weights.push_back(
        {std::max(begin, freed.cycle), allowed(layer, work, freed.entries - held_)});
  return wanted;
}

void EngineRun::run_groups(const DotProductLayer& layer, const DotProductWork& work) {
  freed_.clear();
  const int64_t features_there =
      port_.last_feature_read() + engine_.read_latency + engine_.feature_latency;
  for (int64_t g = 0; g < work.groups; ++g) {
    const int64_t needed = work.needed(g, engine_);
    const int64_t kernels = work.kernels(g, engine_);
    GroupStripes group{work.blocks, std::max(engine_.load_cycles, kernels * engine_.kernel_cycles),
                       features_there};
    if (!layer.has_weights)
      group.there = std::max(group.there, port_.weight_read(needed) + engine_.read_latency);
    stripes_.run_group(work.stripes, group);
    if (layer.keeps_weights) continue;
    freed_.push_back({stripes_.last_load() + engine_.load_to_entries, needed});
    if (!layer.has_weights) port_.allow({freed_.back().cycle, allowed(layer, work, needed)});
  }
}

/// Section "Layers in sequence", rule 5: kept weights are there for the next layer, and no other.
Status check_sequence(std::span<const DotProductLayer> layers) {
  for (size_t i = 0; i < layers.size(); ++i) {
    const bool kept = i > 0 && layers[i - 1].keeps_weights;
    if (kept != layers[i].has_weights || (kept && layers[i - 1].banks != layers[i].banks))
      return Error{Errc::invalid, "weights are kept, or there, for no layer", {}};
  }
  return ok();
}

}  // namespace

Result<LayerEvents> time_layer(const DotProductLayer& layer, const DotProductEngine& engine) {
  if (Status fields = check_engine(engine); !fields) return fields.errors();
  Result<DotProductWork> work = cut_layer(layer, engine);
  if (!work) return work.errors();
  return EngineRun(engine).run(layer, *work);
}

Result<std::vector<LayerEvents>> time_overlapped(std::span<const DotProductLayer> layers,
                                                 const DotProductEngine& engine) {
  if (Status fields = check_engine(engine); !fields) return fields.errors();
  if (Status order = check_sequence(layers); !order) return order.errors();
  std::vector<DotProductWork> works;
  for (const DotProductLayer& layer : layers) {
    Result<DotProductWork> work = cut_layer(layer, engine);
    if (!work) return work.errors();
    works.push_back(*std::move(work));
  }
  std::vector<LayerEvents> events;
  EngineRun run(engine);
  for (size_t i = 0; i < layers.size(); ++i) {
    events.push_back(run.run(layers[i], works[i]));
    if (events.back().last_write > kLastCycle)
      return Error{Errc::overflow, "cycles of a sequence of layers leave 64 bits", {}};
  }
  return events;
}

Result<Cycles> time_one_by_one(std::span<const DotProductLayer> layers,
                               const DotProductEngine& engine) {
  int64_t cycles = 0;
  for (const DotProductLayer& layer : layers) {
    Result<LayerEvents> events = time_layer(layer, engine);
    if (!events) return events.errors();
    cycles = add_counts(cycles, events->last_write);
  }
  if (cycles == kBeyond)
    return Error{Errc::overflow, "cycles of a sequence of layers leave 64 bits", {}};
  return Cycles(cycles);
}

}  // namespace accsim::hw
