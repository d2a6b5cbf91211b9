#include "sim/map/product/gemm_space.h"

#include <algorithm>
#include <optional>
#include <tuple>

#include "sim/map/product/gemm_bound.h"
#include "sim/map/product/gemm_options.h"
#include "sim/map/product/incumbent.h"
#include "sim/map/product/weight_panels.h"

namespace accsim::sim {
namespace {

using Evaluate = std::function<Found(const Candidate&)>;

class Space {
 public:
  Space(const GemmProblem& p, const hw::HwConfig& hw, const SpaceOptions& options,
        const MappingPin& pin)
      : p_(p), hw_(hw), options_(options), pin_(pin) {}

  std::vector<Candidate> sorted_candidates() {
    enumerate_candidates();
    sort_pool();
    return std::move(pool_);
  }

  int64_t search_tilings(const Found& found, const Evaluate& evaluate) {
    incumbent_.start_from(found);
    evaluate_ = &evaluate;
    enumerate_candidates();
    sort_pool();
    size_t next = 0;
    while (next < pool_.size() && incumbent_.is_promising(pool_[next]) && !too_many())
      time_candidate(pool_[next++]);
    pool_.erase(pool_.begin(), pool_.begin() + static_cast<ptrdiff_t>(next));
    if (options_.objective.has_slack()) search_slack();
    tell_limit();
    return bounded_;
  }

 private:
  void time_candidate(const Candidate& c) {
    if (incumbent_.is_worth_timing(c)) incumbent_.update((*evaluate_)(c));
  }

  std::vector<Candidate>::iterator least_energy_traffic() {
    return std::min_element(pool_.begin(), pool_.end(), [](const Candidate& a, const Candidate& b) {
      return a.energy_traffic < b.energy_traffic;
    });
  }

  /// The fewest cycles are known: what is left may have less energy times traffic, the least first.
  void search_slack() {
    std::stable_sort(pool_.begin(), pool_.end(), [](const Candidate& a, const Candidate& b) {
      return a.energy_traffic < b.energy_traffic;
    });
    for (const Candidate& c : pool_) {
      if (!incumbent_.may_save_energy_traffic(c) || too_many()) break;
      if (incumbent_.is_within_slack(c.bound)) time_candidate(c);
    }
  }

  void enumerate_candidates() {
    for (const hw::Dataflow d : options_.dataflows) {
      const auto pixels = pixel_options(p_, hw_, d, pin_);
      for (const int64_t groups : pack_sizes(p_, pin_))
        combine_options(d, groups,
                        {pixels, channel_options(p_, hw_, groups, pin_),
                         output_options(p_, hw_, groups, pin_)});
    }
  }

  /// By bounds, then traffic, then as enumerated; keys are sorted, candidates moved once.
  void sort_pool() {
    struct Key {
      double score;
      int64_t bound, traffic;
      size_t place;
      auto operator<=>(const Key&) const = default;
    };
    std::vector<Key> keys(pool_.size());
    for (size_t i = 0; i < keys.size(); ++i)
      keys[i] = {pool_[i].score_bound, pool_[i].bound, pool_[i].traffic, i};
    std::sort(keys.begin(), keys.end());
    std::vector<Candidate> out;
    out.reserve(keys.size());
    for (const Key& key : keys) out.push_back(pool_[key.place]);
    pool_ = std::move(out);
  }

  /// Evaluates the most promising of a full pool, which may exclude many of the others and much of
  /// what hasn't been enumerated yet.
  void refine_pool() {
    auto first =
        std::min_element(pool_.begin(), pool_.end(), [](const Candidate& a, const Candidate& b) {
          return std::tie(a.score_bound, a.bound, a.traffic) <
                 std::tie(b.score_bound, b.bound, b.traffic);
        });
    if (!incumbent_.is_promising(*first)) first = least_energy_traffic();
    time_candidate(*first);
    std::iter_swap(first, pool_.end() - 1);
    pool_.pop_back();
    std::erase_if(pool_, [this](const Candidate& c) {
      return !incumbent_.is_promising(c) && !incumbent_.may_save(c);
    });
    pool_limit_ = std::max(kPool, 2 * pool_.size());
  }

  int64_t bytes_of_slot(hw::Buffer b) const { return hw_.buffer(b).slot_bytes(); }

  /// Dimension by dimension, leaving out what can't fit or can't be below the limit whatever
  /// follows.
  void combine_options(hw::Dataflow d, int64_t groups, const GemmOptions& o) {
    const GemmBound bound(p_, hw_, d, groups, pin_.im2col);
    sharp_.emplace(p_, hw_, d, groups, pin_.im2col, Bounds::sharp);
    if (o.channels.empty()) return;
    if (p_.epilogue.table && bytes_of_slot(hw::Buffer::parameter) < hw::SetTableCommand::kBytes)
      return;
    int64_t least_passes = o.channels.front().passes;
    for (const ChannelOption& c : o.channels) least_passes = std::min(least_passes, c.passes);
    for (const OutputOption& n : o.outputs) {
      if (p_.has_parameters && parameter_channels(p_, hw_, d, n.outputs) * p_.channel_parameters() >
                                   bytes_of_slot(hw::Buffer::parameter))
        continue;
      for (const PixelOption& m : o.pixels) {
        if (!sums_fit(d, m, n) || incumbent_.is_hopeless(bound.execute_cycles(m, least_passes, n)))
          continue;
        if (too_many()) return;
        for (const ChannelOption& c : o.channels)
          if (operands_fit(d, m, c, n, groups) &&
              !incumbent_.is_hopeless(bound.execute_cycles(m, c.passes, n)))
            add_tilings(d, groups, bound, m, c, n);
      }
    }
  }

  /// Than somebody who has limits waits for, or has memory for.
  bool too_many() {
    constexpr size_t kMostKept = 300'000;
    constexpr int64_t kUntold = 1000;
    if (options_.limit == nullptr) return false;
    if (pool_.size() > kMostKept) options_.limit->give_up();
    if (bounded_ - told_bounded_ > kUntold) tell_limit();
    return options_.limit->is_over();
  }
  void tell_limit() {
    if (options_.limit == nullptr) return;
    options_.limit->add_bounded(bounded_ - told_bounded_);
    told_bounded_ = bounded_;
  }

  bool sums_fit(hw::Dataflow d, const PixelOption& m, const OutputOption& n) const {
    const int64_t rows = d == hw::Dataflow::input_stationary
                             ? n.outputs * m.tile_blocks
                             : m.rows * ceil_div(n.outputs, hw_.array.cols);
    return rows * p_.scale_count() <= hw_.accumulator_rows() &&
           m.rows * n.outputs * p_.out_bytes <= bytes_of_slot(hw::Buffer::output);
  }

  /// Of packed groups the weight slot has the blocks alone.
  bool operands_fit(hw::Dataflow d, const PixelOption& m, const ChannelOption& c,
                    const OutputOption& n, int64_t groups) const {
    const int64_t pixels = pin_.im2col ? m.rows * p_.kernel_taps() : m.span;
    const Tiling t{.dataflow = d, .groups = groups, .im2col = pin_.im2col};
    const int64_t weights = weight_tile_bytes(p_, hw_, t, c.channels, n.outputs);
    return pixels * c.channels * p_.a_bytes <= bytes_of_slot(hw::Buffer::activation) &&
           weights <= bytes_of_slot(hw::Buffer::weight);
  }

  void add_tilings(hw::Dataflow d, int64_t groups, const GemmBound& bound, const PixelOption& m,
                   const ChannelOption& c, const OutputOption& n) {
    Tiling t{.dataflow = d,
             .images = m.images,
             .lines = m.lines,
             .pixels = m.pixels,
             .groups = groups,
             .outputs = n.outputs,
             .channels = c.channels,
             .im2col = pin_.im2col};
    const bool pinned = !pin_.outputs_outer.empty();
    const bool one_order = n.chunks == 1 || m.tiles == 1;  // the program is the same in the other
    for (const bool outputs_outer : {false, true}) {
      if (pinned ? outputs_outer != pin_.outputs_outer.front() : outputs_outer && one_order)
        continue;
      t.outputs_outer = outputs_outer;
      if (pin_.staged.empty()) consider_tiling(bound, t, m, c, n);
      if (outputs_outer || !stages_) continue;
      add_staged(bound, t, m, c, n);
    }
  }

  /// Smaller panels, too, though larger ones mostly move less: so more room only adds tilings.
  void add_staged(const GemmBound& bound, Tiling t, const PixelOption& m, const ChannelOption& c,
                  const OutputOption& n) {
    int64_t most = pin_.staged.empty() ? p_.op.outputs : pin_.staged.front();
    while ((t.staged = staged_outputs(p_, hw_, t, most)) > 0) {
      consider_tiling(bound, t, m, c, n);
      if (!pin_.staged.empty()) return;
      most = t.staged - 1;
    }
  }

  void consider_tiling(const GemmBound& bound, const Tiling& t, const PixelOption& m,
                       const ChannelOption& c, const OutputOption& n) {
    ++bounded_;
    if (options_.below_dram_bytes > 0 &&
        bound.dram_bytes(t, m, c, n) >= static_cast<double>(options_.below_dram_bytes))
      return;
    if (incumbent_.is_hopeless(bound.least_load_cycles(t, m, c, n))) return;
    Candidate found = bound(t, m, c, n, options_.objective);
    if (options_.objective.has_slack() && incumbent_.is_within_slack(found.bound))
      found.energy_traffic = bound.energy_traffic_bound(found, m, c, n, options_.objective);
    if (!incumbent_.is_promising(found) && !incumbent_.may_save(found)) return;
    found.sharp = sharp_->least_cycles(t, m, c, n);
    pool_.push_back(found);
    if (evaluate_ && pool_.size() >= pool_limit_) refine_pool();
  }

  static constexpr size_t kPool = 32;

  const GemmProblem& p_;
  const hw::HwConfig& hw_;
  const SpaceOptions& options_;
  const MappingPin& pin_;
  const bool stages_ = may_stage(p_);
  const Evaluate* evaluate_ = nullptr;
  std::optional<GemmBound> sharp_;  ///< of what is being combined
  Incumbent incumbent_{options_};
  std::vector<Candidate> pool_;  ///< bounded, not evaluated
  size_t pool_limit_ = kPool;
  int64_t bounded_ = 0;
  int64_t told_bounded_ = 0;  ///< what the limit knows of
};

}  // namespace

std::vector<Candidate> tiling_candidates(const GemmProblem& p, const hw::HwConfig& hw,
                                         const SpaceOptions& options, const MappingPin& pin) {
  return Space(p, hw, options, pin).sorted_candidates();
}

int64_t search_space(const GemmProblem& p, const hw::HwConfig& hw, const SpaceOptions& options,
                     const MappingPin& pin, const Found& found, const Evaluate& evaluate) {
  return Space(p, hw, options, pin).search_tilings(found, evaluate);
}

}  // namespace accsim::sim
