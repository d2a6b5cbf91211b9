#pragma once
#include "sim/map/gemm_options.h"

namespace accsim::sim {

/// Lower bounds of what a combination of options costs, admissible for every program that emit() writes
/// for it. For one dataflow and number of packed groups. Cycles are the largest of:
///  - the execute queue's streams, behind the first tile's loads and before the last tile's way out;
///  - the load queue's transfers, before the last tile's streams and way out;
///  - the post and store queues, behind the first tile's streams;
///  - for a buffer of S slots, the sum of what each filling of a slot takes from its first write until
///    it is free again, over S: a slot is filled again only then.
class GemmBound {
 public:
  GemmBound(const GemmProblem& p, const hw::HwConfig& hw, hw::Dataflow dataflow, int64_t groups,
            bool im2col);

  /// Streams of the array with `passes` passes over the channels.
  double execute(const PixelOption& m, int64_t passes, const OutputOption& n) const;

  /// All bounds of a combination; `tiling` is copied into the result.
  Candidate operator()(const Tiling& tiling, const PixelOption& m, const ChannelOption& c,
                       const OutputOption& n, Objective objective) const;

 private:
  struct Traffic;
  struct Times;
  Traffic traffic(const Tiling& t, const PixelOption& m, const ChannelOption& c,
                  const OutputOption& n) const;
  Times times(const Traffic& bytes, const PixelOption& m, const ChannelOption& c,
              const OutputOption& n) const;
  double cycles(const Traffic& bytes, const Times& t, bool parameters_last) const;
  double picojoules(const Traffic& bytes, const PixelOption& m, const ChannelOption& c,
                    const OutputOption& n, double cycles) const;
  double stream(int64_t rows, int64_t blocks, int64_t columns, int64_t passes) const;

  const GemmProblem& p_;
  const hw::HwConfig& hw_;
  const hw::Dataflow dataflow_;
  const int64_t groups_, packs_;
  const bool im2col_;
  const bool ragged_packs_;  ///< the last pack holds fewer groups: its tiles are smaller than said
  /// Reciprocals of rates, cycles a byte.
  double a_rate_, w_rate_, p_rate_, out_rate_;
  double a_latency_, w_latency_, p_latency_, out_latency_;
};

}  // namespace accsim::sim
