#pragma once
#include "sim/map/product/gemm_options.h"

namespace accsim::sim {

/// Bounds are computed in floating point, on values below 2^53 mostly; kSafe keeps rounding on the
/// safe side.
inline double real(int64_t v) { return static_cast<double>(v); }
inline constexpr double kSafe = 1.0 - 1e-12;

/// Of the memory in which a tensor lies.
inline const hw::ChannelConfig& channel_of(const hw::HwConfig& hw, const Place& place) {
  return hw.memory(place.memory).channel;
}

/// Least cycles of the loads of an operand: for each byte, and for each filling of a slot.
struct LoadCost {
  double byte = 0, each = 0;

  double cycles(double bytes) const { return bytes * byte + each; }
};

/// Of a byte at least, through a slot's port of `width` bytes; 0: as wide as need be.
double cycles_a_byte(hw::ByteRate rate, int64_t width);

/// How near a bound comes. Plain bounds decide in which order tilings are timed, and so which of
/// equal ones is taken. Sharp bounds are never lower. They only exclude tilings, so the result
/// doesn't depend on them.
enum class Bounds : uint8_t { plain, sharp };

/// Of activations; `byte`: where nothing turns them. Plain: where a load has a single row or
/// column, nothing counts as turned.
LoadCost activation_load_cost(const GemmProblem& p, const hw::HwConfig& hw, Bounds bounds,
                              const PixelOption& m, const ChannelOption& c, double byte);

/// A combination of options of weights.
struct WeightCut {
  Bounds bounds;
  hw::Dataflow dataflow;
  int64_t groups;  ///< packed
  const ChannelOption& c;
  const OutputOption& n;
};
/// Of weights; `byte`: where nothing turns them.
LoadCost weight_load_cost(const GemmProblem& p, const hw::HwConfig& hw, const WeightCut& cut,
                          double byte);

}  // namespace accsim::sim
