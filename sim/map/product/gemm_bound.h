#pragma once
#include "sim/map/product/gemm_options.h"
#include "sim/map/product/gemm_times.h"
#include "sim/map/product/gemm_traffic.h"

namespace accsim::sim {

/// Lower bounds of what a combination of options costs: those of its traffic, and of what its
/// queues and slots do.
class GemmBound : public TrafficBound {
 public:
  /// The problem and the machine must outlive it.
  GemmBound(const GemmProblem& p, const hw::HwConfig& hw, hw::Dataflow dataflow, int64_t groups,
            bool im2col, Bounds bounds = Bounds::plain);

  /// Streams of the array with `passes` passes over the channels, in cycles.
  double execute_cycles(const PixelOption& m, int64_t passes, const OutputOption& n) const;

  /// What the bounds of a combination are made of; of the tiling its loop order is read and what is
  /// staged, with its sizes.
  GemmTimes bound_times(const Tiling& tiling, const PixelOption& m, const ChannelOption& c,
                        const OutputOption& n) const;

  /// All bounds of a combination; `tiling` is copied into the result.
  Candidate operator()(const Tiling& tiling, const PixelOption& m, const ChannelOption& c,
                       const OutputOption& n, const ObjectiveFunction& objective) const;

  /// The largest bound of the cycles of a combination's program.
  int64_t least_cycles(const Tiling& tiling, const PixelOption& m, const ChannelOption& c,
                       const OutputOption& n) const;
  /// Never more than energy_traffic() of a combination's program.
  double energy_traffic_bound(const Candidate& of, const PixelOption& m, const ChannelOption& c,
                              const OutputOption& n, const ObjectiveFunction& objective) const;

 private:
  struct Fills;
  GemmTimes bound_times(const Tiling& tiling, const ProductTraffic& b, const PixelOption& m,
                        const ChannelOption& c, const OutputOption& n) const;
  void first_tile(const ProductTraffic& b, const PixelOption& m, const ChannelOption& c,
                  const OutputOption& n, GemmTimes& t) const;
  void last_tile(const PixelOption& m, const ChannelOption& c, const OutputOption& n,
                 GemmTimes& t) const;
  double after_last_start(const PixelOption& m, const OutputOption& n) const;
  double pixel_blocks(int64_t rows) const;
  double first_load(const ProductTraffic& b, const PixelOption& m, const ChannelOption& c,
                    const OutputOption& n) const;
  void set_fillings(const ProductTraffic& b, const Fills& fills, GemmTimes& t) const;
  double least_picojoules(const ProductTraffic& bytes, const PixelOption& m, const ChannelOption& c,
                          const OutputOption& n, double cycles) const;
  double sums_stay(int64_t rows, int64_t blocks, int64_t passes, int64_t k) const;
  double stream_cycles(int64_t rows, int64_t blocks, int64_t columns, int64_t passes,
                       int64_t channels) const;
  Fills slot_fills(const Tiling& tiling, const GemmTimes& t, const ProductTraffic& b,
                   const PixelOption& m, const ChannelOption& c, const OutputOption& n) const;
  double post_cycles(double rows, double outputs, double row_blocks, double column_blocks) const;
  double through_array() const;
  double way_out() const;
  int64_t preload_cycles() const;

  const bool ragged_packs_;   ///< the last pack holds fewer groups: its tiles are smaller than said
  double p_rate_, out_rate_;  ///< reciprocals, cycles a byte
  double a_latency_, p_latency_, out_latency_;
};

}  // namespace accsim::sim
