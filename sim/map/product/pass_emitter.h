#pragma once
#include "sim/map/product/reduction_passes.h"
#include "sim/map/product/tile_nest.h"

namespace accsim::sim {

/// The array passes of one tile (gemms and drains), and the posts that turn its accumulator slot
/// into an output slot of [pixel][output channel].
template <class Sink>
class PassEmitter {
 public:
  using Address = typename Sink::Address;

  /// `first_channel`: of the tile.
  PassEmitter(const GemmProblem& p, const hw::HwConfig& hw, const Tiling& t, const TileShape& tile,
              const Address& first_channel, Sink& sink)
      : p_(p),
        hw_(hw),
        t_(t),
        tile_(tile),
        sink_(sink),
        cut_(array_passes(p, hw, tile.channels, t.im2col)),
        reduction_(p, cut_, tile.channels, t.im2col, sink) {
    if (p.scale_count() > 1) scale_rows_ = divide(first_channel, p.scale_group) * group_rows();
  }

  void write_gemms() {
    if (t_.dataflow == hw::Dataflow::weight_stationary) return weight_stationary();
    for_blocks([&](const Block& b) {
      if (t_.dataflow == hw::Dataflow::input_stationary)
        input_stationary(b);
      else
        output_stationary(b);
    });
  }

  void write_posts() {
    if (t_.dataflow == hw::Dataflow::input_stationary)
      for_blocks([&](const Block& b) {
        sink_.add_post(command_sizes(tile_.outputs, b.pixels), [&](auto& c) {
          fill_command(c, 0);
          c.accumulator_row = b.index * tile_.outputs;
          c.slot_offset = b.first * c.pitch;
        });
      });
    else
      for_columns([&](const Segment& s, const Address& start) {
        sink_.add_post(command_sizes(tile_.pixel_count(), s.size), [&](auto& c) {
          fill_command(c, start);
          c.accumulator_row = column_block(start) * tile_.pixel_count();
          c.slot_offset = start * p_.out_bytes;
          if (p_.has_parameters && !shares_parameters(p_, t_.dataflow))
            c.parameter_offset = start * p_.parameter_bytes;
        });
      });
  }

 private:
  using Pass = ReductionPass<Address>;

  /// Pixels of the tile that follow one another in (image, line, pixel) order.
  struct Block {
    int64_t pixels;
    Address first;  ///< pixels before it
    Address index;  ///< blocks before it
  };

  // ---- dataflows --------------------------------------------------------------------------------

  void weight_stationary() {
    for_columns([&](const Segment& s, const Address& start) {
      reduction_.for_passes([&](const Pass& pass) {
        sink_.add_gemm(command_sizes(pass, whole_tile(), s.size, true), [&](auto& c) {
          fill_command(c, pass, whole_tile());
          c.weights = weight_columns(pass, start, s.size);
          c.accumulator_row = scale_rows_ + column_block(start) * tile_.pixel_count();
        });
      });
    });
  }

  void input_stationary(const Block& b) {
    reduction_.for_passes([&](const Pass& pass) {
      sink_.add_gemm(command_sizes(pass, b, tile_.outputs, true), [&](auto& c) {
        fill_command(c, pass, b);
        c.weights = weight_rows(pass);
        c.accumulator_row = scale_rows_ + b.index * tile_.outputs;
      });
    });
  }

  void output_stationary(const Block& b) {
    for_columns([&](const Segment& s, const Address& start) {
      reduction_.for_passes([&](const Pass& pass) {
        sink_.add_gemm(command_sizes(pass, b, s.size, false), [&](auto& c) {
          fill_command(c, pass, b);
          c.weights = weight_columns(pass, start, s.size);
        });
      });
      PassSizes d{.m = b.pixels,
                  .n = s.size,
                  .first_of = tile_.channel_loops,
                  .accumulate = tile_.accumulate};
      sink_.add_drain(d, [&](auto& c) {
        c.accumulator_row = scale_rows_ + column_block(start) * tile_.pixel_count() + b.first;
      });
    });
  }

  // ---- loops ------------------------------------------------------------------------------------

  template <class Inner>
  void for_columns(Inner inner) {
    for_segments(sink_, "nb", split(tile_.outputs, hw_.array.cols),
                 [&](const Segment& s, const Address& start, int) { inner(s, start); });
  }

  template <class Inner>
  void for_blocks(Inner inner) {
    const int64_t size = pixel_block(hw_, t_.dataflow, tile_.pixel_count());
    for_segments(sink_, "mb", split(tile_.pixel_count(), size),
                 [&](const Segment& s, const Address& start, int) {
                   inner(Block{s.size, start, divide(start, size)});
                 });
  }

  // ---- operands ---------------------------------------------------------------------------------

  int64_t k_of_tile() const { return p_.kernel_taps() * tile_.channels; }
  Block whole_tile() const { return {tile_.pixel_count(), 0, 0}; }
  Address column_block(const Address& start) const { return divide(start, hw_.array.cols); }

  /// `to_accumulator`: the first pass overwrites accumulator rows, so tile loops count too; else
  /// only the sums in the array.
  PassSizes command_sizes(const Pass& pass, const Block& b, int64_t n, bool to_accumulator) const {
    PassSizes s{.m = b.pixels, .k = pass.k, .n = n};
    s.useful_macs = s.m * s.k * s.n / tile_.groups;
    s.accumulate = pass.later;
    s.weights = p_.b_encoding;
    if (to_accumulator) {
      s.first_of = tile_.channel_loops;
      s.accumulate |= tile_.accumulate;
    }
    for (const int loop : pass.loops) s.first_of.push_back(loop);
    return s;
  }

  void fill_command(hw::GemmCommand& c, const Pass& pass, const Block& b) const {
    c.window = t_.im2col ? im2col_window() : raw_window(pass);
    c.window.first = b.first;
    c.window.offset = pass.flat * p_.a_bytes;
    c.window.line = cut_.line * p_.a_bytes;
    c.window.pad_value = p_.a_zero;
  }

  hw::OperandWindow raw_window(const Pass& pass) const {
    hw::OperandWindow w;
    const bool images = t_.images > 1;
    w.tile = {images ? tile_.image.size : tile_.z.in_size, tile_.y.in_size, tile_.x.in_size};
    w.pixel = tile_.channels * p_.a_bytes;
    w.count = {tile_.image.size, tile_.y.size, tile_.x.size};
    w.stride = {1, p_.y.stride, p_.x.stride};
    w.origin = {images ? Address(0) : pass.z + Address(tile_.z.origin),
                pass.y + Address(tile_.y.origin), pass.x + Address(tile_.x.origin)};
    w.line_step = p_.y.dilation;
    return w;
  }

  hw::OperandWindow im2col_window() const {
    hw::OperandWindow w;
    w.tile = w.count = {1, 1, tile_.pixel_count()};
    w.pixel = k_of_tile() * p_.a_bytes;
    return w;
  }

  /// `row`: elements of one row of the slot.
  hw::WeightTile packed_weights(const Pass& pass, const Address& offset, int64_t row) const {
    const GemmOp& op = p_.op;
    return {offset, row * p_.b_bytes(), tile_.groups, op.channels, op.outputs, pass.k_row};
  }

  /// Column blocks of [k][columns] follow one another in the slot. The columns of packed groups are
  /// one block.
  /// Of input stationary: a row for each output.
  hw::WeightTile weight_rows(const Pass& pass) const {
    if (tile_.groups > 1) return packed_weights(pass, 0, k_of_tile() / tile_.groups);
    if (p_.b_encoding.is_packed()) return {pass.outer * tile_.outputs, p_.weight_row(pass.k)};
    return {pass.k_row * p_.b_bytes(), k_of_tile() * p_.b_bytes()};
  }
  hw::WeightTile weight_columns(const Pass& pass, const Address& start, int64_t columns) const {
    if (tile_.groups > 1)
      return packed_weights(pass, pass.k_row * (p_.op.outputs * p_.b_bytes()), p_.op.outputs);
    const int64_t pitch = p_.weight_row(columns);
    if (p_.b_encoding.is_packed())
      return {
          column_block(start) * (k_of_tile() * p_.weight_row(hw_.array.cols)) + pass.k_row * pitch,
          pitch};
    return {start * (k_of_tile() * p_.b_bytes()) + pass.k_row * pitch, pitch};
  }

  PostSizes command_sizes(int64_t rows, int64_t cols) const {
    return {.rows = rows,
            .cols = cols,
            .transposed = t_.dataflow == hw::Dataflow::input_stationary,
            .has_parameters = p_.has_parameters,
            .groups = p_.scale_count(),
            .residual = p_.residual.has_value(),
            .table = p_.epilogue.table};
  }
  /// Accumulator rows of the sums of one scale.
  int64_t group_rows() const {
    if (t_.dataflow != hw::Dataflow::input_stationary)
      return tile_.pixel_count() * ceil_div(tile_.outputs, hw_.array.cols);
    return tile_.outputs *
           ceil_div(tile_.pixel_count(), pixel_block(hw_, t_.dataflow, tile_.pixel_count()));
  }
  /// `first`: output channel of the tile. Behind the parameters of all channels lie, post by post,
  /// the multipliers of the other groups.
  void fill_command(hw::PostCommand& c, const Address& first) const {
    if (p_.scale_count() > 1) {
      c.group_rows = group_rows();
      c.group_offset = Address(tile_.outputs * p_.parameter_bytes) +
                       first * ((p_.scale_count() - 1) * hw::PostCommand::kGroupBytes);
    }
    c.pitch = tile_.outputs * p_.out_bytes;
    c.epilogue = p_.post_epilogue();
  }

  const GemmProblem& p_;
  const hw::HwConfig& hw_;
  const Tiling& t_;
  const TileShape& tile_;
  Sink& sink_;
  const Passes cut_;
  const ReductionPasses<Sink> reduction_;
  Address scale_rows_;  ///< accumulator rows before those of the tile's scale
};

}  // namespace accsim::sim
