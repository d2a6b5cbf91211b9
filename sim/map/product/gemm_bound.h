#pragma once
#include "sim/map/product/gemm_options.h"
#include "sim/map/product/load_cost.h"

namespace accsim::sim {

/// Parts of the bounds of a combination of options, in cycles. Each is at most what the program
/// takes. "Fillings" of a buffer's slots are the cycles from a slot's first write until it is free
/// again, summed over all fillings.
struct GemmTimes {
  double loads = 0;  ///< the load queue's transfers, one behind the other; or those that come from
                     ///< DRAM with what is staged, whichever takes longer
  double execute = 0;  ///< the execute queue's streams, with waits for what is preloaded or drained
  double streams = 0;  ///< the same without those waits
  double posts = 0;    ///< the post queue's beats
  double stores = 0;   ///< the store queue's transfers
  double first_load = 0, first_stream = 0,
         first_post = 0;   ///< of the first tile, each with its way
                           ///< to the next queue
  double last_stream = 0;  ///< of the last tile
  double last_post = 0;    ///< of the last tile, from its last stream on
  double last_store = 0;   ///< of the last tile, until its last byte has arrived
  double load_latency = 0, store_latency = 0;
  double after_loads = 0;  ///< least from the last byte loaded to the end
  double bus = 0;          ///< transfers of both directions on a DRAM's one bus
  double bus_latency = 0;  ///< of the last of them, where it is a store
  double operand_fillings = 0, held_fillings = 0, sum_fillings = 0, output_fillings = 0;
  double operand_slots = 1, held_slots = 1, sum_slots = 1, output_slots = 1;
};

// Lower bounds of a program's cycles, one per resource. A queue does one thing at a time, so it
// takes at least the sum of its commands. Data dependences add cycles before its first command and
// behind its last one.

/// Execute queue: first_load + execute + last_post + last_store. Its first stream waits for the
/// first tile's operands, and behind its last one that tile's sums are still to be posted and
/// stored.
double execute_bound(const GemmTimes& t);

/// Load queue: loads + load_latency + after_loads. It has nothing to wait for at the start. The
/// last byte arrives a latency after it was sent. Then come the last tile's streams, way out and
/// store, or nothing if a parameter table may be the last load.
double load_bound(const GemmTimes& t);

/// Post queue: first_load + first_stream + posts + kPostLatency + kTokenLatency + last_store. The
/// first post waits for the first tile's sums; behind the last one its tile is stored.
double post_bound(const GemmTimes& t);

/// Store queue: first_load + first_stream + first_post + stores + store_latency. The first store
/// waits until the first tile is posted; the last byte arrives a latency after it was sent.
double store_bound(const GemmTimes& t);

/// Slots of the operand that moves through the array (activations; weights where inputs stay):
/// operand_fillings / operand_slots. A slot is filled again only when it is free, so the fillings
/// of one slot follow one another; of S slots one has at least an S-th of all fillings' time.
double operand_slot_bound(const GemmTimes& t);

/// Slots of the operand that the array holds: held_fillings / held_slots, for the same reason. A
/// filling lasts from its first byte until its last part is in the array. Between two fills there
/// is a stream or the fill itself, whichever is longer.
double held_slot_bound(const GemmTimes& t);

/// Slots of the accumulator: sum_fillings / sum_slots, for the same reason. A filling lasts from
/// the tile's first stream until its last post: streams with the fills between them, the way
/// through the array, and posts.
double sum_slot_bound(const GemmTimes& t);

/// Slots of the output buffer: output_fillings / output_slots, for the same reason. A filling lasts
/// from the tile's first post until its store has left: posts, the way between, and stores.
double output_slot_bound(const GemmTimes& t);

/// A DRAM's bus that both directions share: bus + bus_latency, as what is stored last must arrive.
/// 0 on machines whose directions have channels of their own.
double bus_bound(const GemmTimes& t);

/// The largest of them all.
double cycle_bound(const GemmTimes& t);

/// Lower bounds of what a combination of options costs, admissible for every program that emit()
/// writes for it. For one dataflow and number of packed groups.
class GemmBound {
 public:
  /// The problem and the machine must outlive it.
  GemmBound(const GemmProblem& p, const hw::HwConfig& hw, hw::Dataflow dataflow, int64_t groups,
            bool im2col, Bounds bounds = Bounds::plain);

  /// Streams of the array with `passes` passes over the channels, in cycles.
  double execute_cycles(const PixelOption& m, int64_t passes, const OutputOption& n) const;

  /// Cycles to load both operands as often as the loops do, where nothing turns or stages them:
  /// the part of loads' bound that costs least to find out.
  double least_load_cycles(const Tiling& tiling, const PixelOption& m, const ChannelOption& c,
                           const OutputOption& n) const;

  /// What the bounds of a combination are made of; of the tiling its loop order is read and what is
  /// staged, with its sizes.
  GemmTimes bound_times(const Tiling& tiling, const PixelOption& m, const ChannelOption& c,
                        const OutputOption& n) const;

  /// All bounds of a combination; `tiling` is copied into the result.
  Candidate operator()(const Tiling& tiling, const PixelOption& m, const ChannelOption& c,
                       const OutputOption& n, const Aim& aim) const;

  /// The largest bound of the cycles of a combination's program.
  int64_t least_cycles(const Tiling& tiling, const PixelOption& m, const ChannelOption& c,
                       const OutputOption& n) const;
  /// Never more than a combination's program moves from and to DRAM.
  double dram_bytes(const Tiling& tiling, const PixelOption& m, const ChannelOption& c,
                    const OutputOption& n) const;
  /// Never more than burden() of a combination's program.
  double burden_bound(const Candidate& of, const PixelOption& m, const ChannelOption& c,
                      const OutputOption& n, const Aim& aim) const;

 private:
  struct Traffic;
  struct Fills;
  double a_times(const Tiling& t, const PixelOption& m, const ChannelOption& c,
                 const OutputOption& n) const;
  double w_times(const Tiling& t, const PixelOption& m, const ChannelOption& c,
                 const OutputOption& n) const;
  bool a_once(const PixelOption& m, const ChannelOption& c) const;
  bool w_once(const ChannelOption& c, const OutputOption& n) const;
  double a_pixels(const PixelOption& m) const;
  double a_bytes(const PixelOption& m, const ChannelOption& c) const;
  double w_bytes(const ChannelOption& c, const OutputOption& n) const;
  double w_beats(const ChannelOption& c, const OutputOption& n) const;
  double bytes_of_parameters(const Tiling& t, const PixelOption& m, const OutputOption& n) const;
  void stage_weights(const Tiling& t, const PixelOption& m, const ChannelOption& c,
                     const OutputOption& n, Traffic& b) const;
  Traffic traffic_of(const Tiling& t, const PixelOption& m, const ChannelOption& c,
                     const OutputOption& n) const;
  GemmTimes bound_times(const Tiling& tiling, const Traffic& b, const PixelOption& m,
                        const ChannelOption& c, const OutputOption& n) const;
  void first_tile(const Traffic& b, const PixelOption& m, const ChannelOption& c,
                  const OutputOption& n, GemmTimes& t) const;
  void last_tile(const PixelOption& m, const ChannelOption& c, const OutputOption& n,
                 GemmTimes& t) const;
  double after_last_start(const PixelOption& m, const OutputOption& n) const;
  double pixel_blocks(int64_t rows) const;
  double first_load(const Traffic& b, const PixelOption& m, const ChannelOption& c,
                    const OutputOption& n) const;
  void set_fillings(const Traffic& b, const Fills& fills, GemmTimes& t) const;
  double dram_bytes(const Traffic& bytes) const;
  double least_picojoules(const Traffic& bytes, const PixelOption& m, const ChannelOption& c,
                          const OutputOption& n, double cycles) const;
  double sums_stay(int64_t rows, int64_t blocks, int64_t passes, int64_t k) const;
  double stream_cycles(int64_t rows, int64_t blocks, int64_t columns, int64_t passes,
                       int64_t channels) const;
  Fills slot_fills(const Tiling& tiling, const GemmTimes& t, const Traffic& b, const PixelOption& m,
                   const ChannelOption& c, const OutputOption& n) const;
  double post_cycles(double rows, double outputs, double row_blocks, double column_blocks) const;
  double through_array() const;
  double way_out() const;

  const GemmProblem& p_;
  const hw::HwConfig& hw_;
  const hw::Dataflow dataflow_;
  const int64_t groups_, packs_;
  const bool im2col_;
  const Bounds bounds_;
  const bool ragged_packs_;  ///< the last pack holds fewer groups: its tiles are smaller than said
  /// Reciprocals of rates, cycles a byte; of loads those that nothing turns.
  double a_rate_, w_rate_, p_rate_, out_rate_;
  double a_latency_, w_latency_, p_latency_, out_latency_;
};

}  // namespace accsim::sim
