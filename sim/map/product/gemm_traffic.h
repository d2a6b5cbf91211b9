#pragma once
#include <algorithm>

#include "sim/map/product/load_cost.h"

namespace accsim::sim {

/// Bytes moved by operand, what loading them takes, and how often a slot is filled.
struct ProductTraffic {
  double a, w, parameters, out;
  LoadCost a_load, w_load;
  double a_fills, w_fills, out_fills;
  double a_beats, w_beats, out_beats;  ///< of the slot ports
  double staged = 0;                   ///< bytes of weights from DRAM to the shared buffer
  double first_staged = 0;             ///< of them, those that the first load of weights waits for
  double w_latency = 0;                ///< of what weights are loaded from

  /// Cycles of all loads.
  double a_cycles() const { return std::max(a * a_load.byte, a_beats) + a_fills * a_load.each; }
  double w_cycles() const { return std::max(w * w_load.byte, w_beats) + w_fills * w_load.each; }
};

/// Lower bounds of what the loads and stores of a combination of options move, admissible for every
/// program that emit() writes for it. For one dataflow and number of packed groups.
class TrafficBound {
 public:
  /// The problem and the machine must outlive it.
  TrafficBound(const GemmProblem& p, const hw::HwConfig& hw, hw::Dataflow dataflow, int64_t groups,
               bool im2col, Bounds bounds);

  /// Of the tiling its loop order is read and what is staged, with its sizes.
  ProductTraffic traffic_of(const Tiling& t, const PixelOption& m, const ChannelOption& c,
                            const OutputOption& n) const;
  /// Cycles to load both operands as often as the loops do, where nothing turns or stages them:
  /// the part of loads' bound that costs least to find out.
  double least_load_cycles(const Tiling& t, const PixelOption& m, const ChannelOption& c,
                           const OutputOption& n) const;
  /// Bytes from and to DRAM.
  double dram_bytes(const ProductTraffic& traffic) const;
  double dram_bytes(const Tiling& t, const PixelOption& m, const ChannelOption& c,
                    const OutputOption& n) const {
    return dram_bytes(traffic_of(t, m, c, n));
  }

 protected:
  const GemmProblem& p_;
  const hw::HwConfig& hw_;
  const hw::Dataflow dataflow_;
  const int64_t groups_, packs_;
  const bool im2col_;
  const Bounds bounds_;

 private:
  bool a_once(const PixelOption& m, const ChannelOption& c) const;
  bool w_once(const ChannelOption& c, const OutputOption& n) const;
  double a_pixels(const PixelOption& m) const;
  double a_bytes(const PixelOption& m, const ChannelOption& c) const;
  double w_bytes(const ChannelOption& c, const OutputOption& n) const;
  double w_beats(const ChannelOption& c, const OutputOption& n) const;
  double bytes_of_parameters(const Tiling& t, const PixelOption& m, const OutputOption& n) const;
  void stage_weights(const Tiling& t, const PixelOption& m, const ChannelOption& c,
                     const OutputOption& n, ProductTraffic& b) const;

  const double a_rate_, w_rate_;  ///< reciprocals, cycles a byte, of loads that nothing turns
};

}  // namespace accsim::sim
