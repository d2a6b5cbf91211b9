#include "sim/map/product/load_cost.h"

#include <algorithm>

#include "hw/program/contract.h"

namespace accsim::sim {
namespace {

/// What is left of `length` behind its whole tiles of `tile`; a whole one where that is nothing.
int64_t length_of_last(int64_t length, int64_t tile) {
  return length % tile == 0 ? tile : length % tile;
}

/// A length cut into tiles, in units of which one alone isn't turned.
struct Cut {
  int64_t length, tile, last, tiles;
};

/// The shortest tile of more than one.
int64_t least_turned(const Cut& c) { return c.last > 1 ? std::min(c.tile, c.last) : c.tile; }
/// The share of the tiles that have more than one, and of the length.
double turned_tiles(const Cut& c) { return c.last > 1 ? 1 : real(c.tiles - 1) / real(c.tiles); }
double turned_length(const Cut& c) { return c.last > 1 ? 1 : real(c.length - 1) / real(c.length); }

/// The share of outputs that tiles don't leave alone in a block of the array's columns; no more
/// than that of a whole tile.
double beside_lone_columns(const Cut& outputs, int64_t columns) {
  const auto lone = [&](int64_t tile) { return tile % columns == 1 ? 1.0 : 0.0; };
  const double share = 1 - ((real(outputs.tiles) - 1) * lone(outputs.tile) + lone(outputs.last)) /
                               real(outputs.length);
  return std::min(share, 1 - lone(outputs.tile) / real(outputs.tile));
}

/// Outputs of the last block of columns of a tile that has more than one.
int64_t last_block(int64_t tile, int64_t columns) {
  const int64_t whole = std::min(columns, tile), ragged = length_of_last(tile, whole);
  return ragged > 1 ? ragged : whole;
}

/// Matrices that loads turn: sizes of the largest and of the smallest of more than one row and
/// column; what share of all elements those have, and what share of the fillings has such a matrix.
struct Matrices {
  int64_t rows, cols, least_rows, least_cols;
  double elements = 1, fillings = 1;
};

/// Cycles that loads through the transposer take. With q = min(r, c) of the r rows and c columns of
/// its first block, a block has max(r, c) cycles, so q elements in each. The last block takes r to
/// be asked for and its columns to be written, which is q more than its elements' share; and its
/// columns come on top where the channel is what is slow. A matrix of a single row or column isn't
/// turned. `side`: of the transposer, in elements of so many bytes.
LoadCost turned_load_cost(Bounds bounds, int64_t side, int64_t element, double byte,
                          const Matrices& m) {
  const int64_t lanes = std::min({m.rows, m.cols, side});
  if (m.rows <= 1 || m.cols <= 1 || lanes == 0) return {byte, 0};
  if (bounds == Bounds::plain && m.elements < 1) return {byte, 0};
  const int64_t last = std::min(
      {side, m.least_rows, length_of_last(m.cols, side), length_of_last(m.least_cols, side)});
  return {std::max(byte, m.elements / real(lanes * element)), real(last) * m.fillings};
}

int64_t transposer_side(const hw::HwConfig& hw, hw::Buffer to, int64_t element) {
  return hw::contract::transposer_side(hw.array, hw.buffer(to).width, element);
}

}  // namespace

double cycles_a_byte(hw::ByteRate rate, int64_t width) {
  return std::max(1 / rate.value(), width > 0 ? 1 / real(width) : 0);
}

LoadCost activation_load_cost(const GemmProblem& p, const hw::HwConfig& hw, Bounds bounds,
                              const PixelOption& m, const ChannelOption& c, double byte) {
  const GemmOp& op = p.op;
  const bool plain =
      p.kernel_taps() == 1 && op.images * op.in[0] * op.in[1] == 1 && op.in[2] == op.out[2];
  if (!op.a_transposed || !plain) return {byte, 0};
  const Cut channels{op.channels, c.channels, c.last, c.chunks};
  const Cut pixels{op.out[2], m.pixels, m.last_rows, m.tiles};
  return turned_load_cost(bounds, transposer_side(hw, hw::Buffer::activation, p.a_bytes), p.a_bytes,
                          byte,
                          {c.channels, m.pixels, least_turned(channels), least_turned(pixels),
                           turned_length(channels) * turned_length(pixels),
                           turned_tiles(channels) * turned_tiles(pixels)});
}

LoadCost weight_load_cost(const GemmProblem& p, const hw::HwConfig& hw, const WeightCut& cut,
                          double byte) {
  const bool held_inputs = cut.dataflow == hw::Dataflow::input_stationary;
  if (p.b.constant || p.b_encoding.is_packed() || weights_n_major(p) == held_inputs)
    return {byte, 0};
  const GemmOp& op = p.op;
  const auto loads = [&](const Matrices& m) {
    return turned_load_cost(cut.bounds, transposer_side(hw, hw::Buffer::weight, p.b_bytes()),
                            p.b_bytes(), byte, m);
  };
  if (cut.groups > 1) return loads({op.outputs, op.channels, op.outputs, op.channels});
  const auto& [bounds, dataflow, groups, c, n] = cut;
  const Cut channels{op.channels, c.channels, c.last, c.chunks};
  const Cut outputs{op.outputs, n.outputs, n.last, n.chunks};
  const double fillings = turned_tiles(channels) * turned_tiles(outputs);
  if (held_inputs)
    return loads({c.channels, n.outputs, least_turned(channels), least_turned(outputs),
                  turned_length(channels) * turned_length(outputs), fillings});
  // One block of columns after the other.
  const int64_t cols = hw.array.cols;
  int64_t least = last_block(n.outputs, cols);
  if (n.last > 1) least = std::min(least, last_block(n.last, cols));
  return loads({std::min(cols, n.outputs), c.channels, least, least_turned(channels),
                turned_length(channels) * beside_lone_columns(outputs, cols), fillings});
}

}  // namespace accsim::sim
