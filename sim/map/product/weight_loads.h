#pragma once
#include "sim/map/product/gemm_problem.h"
#include "sim/map/product/tile_loads.h"

namespace accsim::sim {

/// What a tile's weights lie in: outputs and channels of all of it, and how much of it lies before
/// the tile.
template <class Sink>
struct WeightTilePlace {
  using Address = typename Sink::Address;
  int64_t outputs, channels;
  Address batch;  ///< bytes, of batch entries or packs
  Address n, c;   ///< outputs, channels
  bool blocks;    ///< it has the array's columns one behind the other, each [channels][of a column]
};

/// Sizes of a tile of weights, over all packed groups.
struct WeightTileSizes {
  int64_t groups, outputs, channels;
};

/// Loads one tile of weights. The slot holds column blocks of [k][columns], or [n][k] for input
/// stationary; of packed groups only what isn't zero (hw::WeightTile).
template <class Sink>
class WeightLoads {
 public:
  using Address = typename Sink::Address;

  /// All of them must outlive it.
  WeightLoads(const GemmProblem& p, const hw::HwConfig& hw, const Tiling& t,
              const WeightTileSizes& tile, const WeightTilePlace<Sink>& place,
              const TileLoads<Sink>& loads)
      : p_(p), hw_(hw), t_(t), tile_(tile), place_(place), loads_(loads) {}

  void load_tile() {
    if (p_.b_encoding.is_packed()) return load_narrow();
    if (p_.b.constant) return in_order();
    if (t_.groups > 1) return load_packed();
    if (place_.blocks) return load_blocks();
    load_computed();
  }

 private:
  int64_t k_of_tile() const { return p_.kernel_taps() * tile_.channels; }
  bool held_inputs() const { return t_.dataflow == hw::Dataflow::input_stationary; }

  /// Lies in the order of the tile loops.
  void in_order() {
    const int64_t b = p_.b_bytes(), n = tile_.outputs;
    loads_.load_plain({{}, k_of_tile() * n / tile_.groups * b}, [&](auto& c) {
      c.source = place_.batch + place_.c * (p_.kernel_taps() * n * b);
      if (t_.groups == 1) c.source += place_.n * (p_.op.k() * b);
    });
  }

  void load_blocks() {
    const int64_t column = hw_.array.cols * p_.b_bytes();
    loads_.load_plain(
        {{{tile_.outputs / hw_.array.cols, place_.channels * column}}, tile_.channels * column},
        [&](auto& c) {
          c.source = place_.n * (place_.channels * p_.b_bytes()) + place_.c * column;
        });
  }

  /// Lies as [k][n], or as [n][k].
  void load_computed() {
    const int64_t b = p_.b_bytes(), n = tile_.outputs, channels = tile_.channels;
    const bool n_major = weights_n_major(p_);
    const int64_t n_stride = n_major ? p_.kernel_taps() * place_.channels * b : b;
    const int64_t k_stride = n_major ? b : place_.outputs * b;
    const int64_t taps = p_.kernel_taps(), tap_stride = p_.op.channels * k_stride;
    const auto base = [&] { return place_.batch + place_.n * n_stride + place_.c * k_stride; };
    if (held_inputs()) {
      const auto source = [&](auto& c) { c.source = base(); };
      if (!n_major)  // of one tap
        return loads_.load_turned({}, {channels, k_stride}, n, b, source);
      return loads_.load_plain({{{n, n_stride}, {taps, tap_stride}}, channels * b}, source);
    }
    for (const Segment& s : split(n, hw_.array.cols)) {
      const hw::Walk blocks{{{s.count, s.step * n_stride}, {taps, tap_stride}}, 0};
      const auto fill = [&](auto& c) {
        c.source = base() + Address(s.start * n_stride);
        c.slot_offset = s.start * k_of_tile() * b;
      };
      if (n_major) {
        loads_.load_turned(blocks, {s.size, n_stride}, channels, b, fill);
        continue;
      }
      hw::Walk walk = blocks;
      walk.levels.push_back({channels, k_stride});
      walk.run = s.size * b;
      loads_.load_plain(walk, fill);
    }
  }

  /// Lies in the order of the tile loops, as the slot has it.
  void load_narrow() {
    const int64_t n = tile_.outputs;
    loads_.load_plain({{}, weight_tile_bytes(p_, hw_, t_, tile_.channels, n)}, [&](auto& c) {
      c.source = divide(place_.n, t_.outputs) * weight_chunk_bytes(p_, hw_, t_, t_.outputs) +
                 divide(place_.c, t_.channels) * weight_tile_bytes(p_, hw_, t_, t_.channels, n);
    });
  }

  /// Lies as [group][n][k].
  void load_packed() {
    const int64_t b = p_.b_bytes(), k_bytes = p_.op.k() * b, block_k = p_.op.channels * b;
    const auto source = [&](auto& c) { c.source = place_.batch; };
    if (held_inputs())
      return loads_.load_plain({{}, tile_.groups * p_.op.outputs * k_bytes}, source);
    loads_.load_turned({{{p_.kernel_taps(), block_k}, {tile_.groups, p_.op.outputs * k_bytes}}, 0},
                       {p_.op.outputs, k_bytes}, p_.op.channels, b, source);
  }

  const GemmProblem& p_;
  const hw::HwConfig& hw_;
  const Tiling& t_;
  const WeightTileSizes& tile_;
  const WeightTilePlace<Sink>& place_;
  const TileLoads<Sink>& loads_;
};

}  // namespace accsim::sim
