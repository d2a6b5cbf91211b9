#include "sim/lower/pitched_work.h"

#include <algorithm>

namespace accsim::sim {
namespace {

/// Levels that the walks of moves may have; one of them is the run.
constexpr size_t kMoveAxes = 6;

/// Must an axis of `count` elements, `stride` apart, be cut so that it stays in a row of `p` or
/// goes from row to row? Elements of a part within a row; 0: no; nullopt: it can't be.
std::optional<int64_t> cut_of(int64_t count, int64_t stride, const Pitch& p) {
  if (p.is_dense() || count == 1 || stride % p.run == 0) return 0;
  if (stride < 0) return std::nullopt;
  if (count * stride <= p.run) return 0;
  if (p.run % stride != 0 || count % (p.run / stride) != 0) return std::nullopt;
  return p.run / stride;
}

// ---- products -----------------------------------------------------------------------------------

/// A matrix of each batch entry of a product.
struct ProductMatrix {
  int64_t rows, row;  ///< how many, and elements of one
};

bool is_plain(const GemmOp& op) {
  const Extent3 row{1, 1, op.out[2]};
  return !op.grouped && op.in == row && op.out == row && op.k() == op.channels;
}

/// Does each row of the matrices lie by itself, or each matrix as a whole?
bool lies_in_matrices(const Pitch& p, const ProductMatrix& m) {
  return p.is_dense() || p.run == m.row || p.run == m.rows * m.row;
}

/// Cuts the rows of a plain product into images, so that those of `p` are images of it. They may be
/// single rows, too. False where they are neither.
bool cut_into_images(GemmOp& op, const Pitch& p, int64_t row) {
  if (p.is_dense() || p.run == row) return true;
  if (!is_plain(op) || p.run % row != 0) return false;
  const int64_t rows = p.run / row;
  if (op.images > 1) return rows == op.out[2];
  if (op.m() % rows != 0) return false;
  op.images = op.m() / rows;
  op.in[2] = op.out[2] = rows;
  return true;
}

bool apply_pitches(GemmOp& op, const Layer& layer, const PortPitches& pitches) {
  const auto in_of = [&](ValuePort port) {
    return port.is_of_node() ? pitches.input(port) : Pitch{};
  };
  const int64_t groups = op.grouped ? op.batch : 1, out = groups * op.outputs;
  const Pitch a = in_of(op.a_port), b = in_of(op.b_port), residual = in_of(layer.residual);
  if (op.a_transposed) {
    const ProductMatrix columns{op.channels, op.in[2]};
    if (is_plain(op) && op.images == 1 ? !lies_in_matrices(a, columns)
                                       : !a.is_dense() && a.run != op.in[2])
      return false;
  } else if (!cut_into_images(op, a, groups * op.channels)) {
    return false;
  }
  const Pitch to = op.out_port.is_of_node() ? pitches.output(op.out_port) : Pitch{};
  // What a transposed operand has as its columns isn't cut.
  const auto takes = [&](const Pitch& p) {
    return op.a_transposed ? p.is_dense() || p.run == out : cut_into_images(op, p, out);
  };
  if (!takes(to) || !takes(residual)) return false;
  const ProductMatrix second = op.b_transposed ? ProductMatrix{op.outputs, op.channels}
                                               : ProductMatrix{op.channels, op.outputs};
  return (b.is_dense() || (is_plain(op) && lies_in_matrices(b, second))) &&
         in_of(op.bias_port).is_dense();
}

// ---- lane operations ----------------------------------------------------------------------------

void cut_axis(LaneWork& w, size_t at, int64_t inner) {
  LaneAxis &outer = w.axes[at], within = outer;
  outer.count /= inner;
  outer.a *= inner;
  outer.b *= inner;
  within.count = inner;
  outer.slide.extent = outer.count;
  within.slide.extent = inner;
  w.axes.insert(w.axes.begin() + static_cast<ptrdiff_t>(at) + 1, within);
}

enum class Side : uint8_t { a, b, out };

int64_t stride_of(const LaneWork& w, size_t at, Side side) {
  if (side != Side::out) return side == Side::a ? w.axes[at].a : w.axes[at].b;
  int64_t out = 1;
  for (size_t i = at + 1; i < w.axes.size(); ++i) out *= w.axes[i].count;
  return out;
}

/// Windows stay as they are: they have to go from row to row, or to lie in one.
bool cut_axes(LaneWork& w, Side side, const Pitch& p) {
  if (p.is_dense()) return true;
  if (side == Side::a && w.across > 1 && p.run % w.across != 0) return false;
  for (size_t i = 0; i < w.axes.size(); ++i) {
    const LaneSlide& s = w.axes[i].slide;
    const int64_t count = side == Side::a ? s.extent : w.axes[i].count;
    const auto inner = cut_of(count, stride_of(w, i, side), p);
    if (!inner || (*inner > 0 && !s.is_plain())) return false;
    if (*inner > 0) cut_axis(w, i, *inner);
  }
  return true;
}

// ---- row operations -----------------------------------------------------------------------------

/// A level of the nest of rows becomes two; the outermost one must be free.
bool cut_level(RowWork& w, size_t level, int64_t inner) {
  if (w.rows[0] != 1) return false;
  const auto move_out = [&](RowNest& nest) {
    std::copy(nest.begin() + 1, nest.begin() + static_cast<ptrdiff_t>(level) + 1, nest.begin());
  };
  move_out(w.rows);
  w.rows[level - 1] /= inner;
  w.rows[level] = inner;
  const auto strides = [&](RowNest& nest) {
    move_out(nest);
    nest[level - 1] *= inner;
  };
  strides(w.row_stride);
  strides(w.channel_stride);
  if (w.mask) strides(w.mask->row_stride);
  if (w.log) strides(w.log->row_stride);
  return true;
}

bool cut_levels(RowWork& w, const Pitch& p) {
  if (p.is_dense()) return true;
  if (w.run > p.run ? w.run % p.run != 0 : p.run % w.run != 0) return false;
  const auto pieces = cut_of(w.pieces, w.piece_stride, p);
  if (!pieces || *pieces > 0) return false;
  for (size_t l = 0; l < kRowLevels; ++l) {
    const auto inner = cut_of(w.rows[l], w.row_stride[l], p);
    if (!inner || (*inner > 0 && (l == 0 || !cut_level(w, l, *inner)))) return false;
    // The level that was cut is now the one before and is all right, as this one is.
  }
  return true;
}

// ---- vector operations --------------------------------------------------------------------------

Pitch of_port(const PortPitches& pitches, ValuePort port) {
  return !port.is_of_node() ? Pitch{} : pitches.input(port);
}

bool apply_pitches(VectorOp& op, const PortPitches& pitches) {
  const Pitch out = op.outputs.empty() || !op.outputs[0].port.is_of_node()
                        ? Pitch{}
                        : pitches.output(op.outputs[0].port);
  if (op.outputs.size() > 1) {
    for (const Access& a : op.outputs)
      if (a.port.is_of_node() && !pitches.output(a.port).is_dense()) return false;
  }
  if (op.row_work) {
    RowWork& w = *op.row_work;
    if (!cut_levels(w, of_port(pitches, w.in_port)) || !cut_levels(w, out)) return false;
    if (w.mask && !of_port(pitches, w.mask->port).is_dense()) return false;
  }
  if (!op.lane) return true;
  LaneWork& w = *op.lane;
  if (!cut_axes(w, Side::a, of_port(pitches, w.a_port))) return false;
  if (w.has_b() && !cut_axes(w, Side::b, of_port(pitches, w.b_port))) return false;
  return cut_axes(w, Side::out, out);
}

// ---- moves --------------------------------------------------------------------------------------

/// Of a move, as both sides have it.
struct Moved {
  std::vector<BoxAxis> axes;
  int64_t from = 0, to = 0;
};

bool pitch_side(Moved& m, int64_t BoxAxis::*side, int64_t Moved::*first, const Pitch& p) {
  if (p.is_dense()) return true;
  int64_t within = m.*first % p.run;
  for (size_t i = 0; i < m.axes.size(); ++i) {
    const auto inner = cut_of(m.axes[i].count, m.axes[i].*side, p);
    if (!inner) return false;
    if (*inner > 0) {
      BoxAxis part = m.axes[i];
      part.count = *inner;
      m.axes[i] = {m.axes[i].count / *inner, part.in * *inner, part.out * *inner};
      m.axes.insert(m.axes.begin() + static_cast<ptrdiff_t>(i) + 1, part);
    }
    if (m.axes[i].*side % p.run != 0) within += (m.axes[i].count - 1) * m.axes[i].*side;
  }
  if (within >= p.run) return false;
  for (BoxAxis& axis : m.axes) axis.*side = axis.count == 1 ? axis.*side : p.stride_of(axis.*side);
  m.*first = p.offset_of(m.*first);
  return true;
}

bool are_dense(const MemoryOp& op, const PortPitches& pitches) {
  const auto dense = [](const std::vector<Access>& side, const auto& of) {
    return std::ranges::all_of(
        side, [&](const Access& a) { return !a.port.is_of_node() || of(a.port).is_dense(); });
  };
  return dense(op.inputs, pitches.input) && dense(op.outputs, pitches.output);
}

bool apply_pitches(MemoryOp& op, const PortPitches& pitches) {
  const auto pitch = [](const std::vector<Access>& side, const auto& of) {
    return side.size() != 1 || !side[0].port.is_of_node() ? Pitch{} : of(side[0].port);
  };
  const Pitch in = pitch(op.inputs, pitches.input), out = pitch(op.outputs, pitches.output);
  if (are_dense(op, pitches)) return true;
  if (op.axes.empty() || op.picked || op.inputs.size() != 1 || op.outputs.size() != 1) return false;
  Moved m{{}, op.from, op.to};
  const std::vector<int64_t> spacing = spacing_of(op);
  for (size_t i = 0; i < op.axes.size(); ++i)
    m.axes.push_back({op.axes[i].count, op.axes[i].stride, spacing[i]});
  if (!pitch_side(m, &BoxAxis::in, &Moved::from, in)) return false;
  if (!pitch_side(m, &BoxAxis::out, &Moved::to, out)) return false;
  // Where neighbours of one side aren't neighbours on the other any more, each element is a piece.
  const auto is_next = [](const BoxAxis& axis) { return axis.in == 1; };
  if (std::ranges::none_of(m.axes, is_next) || m.axes.back().out != 1) m.axes.push_back({});
  if (m.axes.size() > kMoveAxes) return false;
  const auto limit = [](Access& a, const Pitch& p) {
    if (!p.is_dense()) a.run = a.run == 0 ? p.run : std::min(a.run, p.run);
  };
  limit(op.inputs[0], in);
  limit(op.outputs[0], out);
  op.axes.clear();
  op.spacing.clear();
  for (const BoxAxis& axis : m.axes) {
    op.axes.push_back({axis.count, axis.in});
    op.spacing.push_back(axis.out);
  }
  op.from = m.from;
  op.to = m.to;
  return true;
}

bool apply_pitches(WorkItem& item, const Layer& layer, const PortPitches& pitches) {
  if (auto* gemm = std::get_if<GemmOp>(&item)) return apply_pitches(*gemm, layer, pitches);
  if (auto* vector = std::get_if<VectorOp>(&item)) return apply_pitches(*vector, pitches);
  return apply_pitches(std::get<MemoryOp>(item), pitches);
}

}  // namespace

std::optional<Work> pitched_work(const Layer& layer, const PortPitches& pitches) {
  Work out = layer.work;
  for (WorkItem& item : out)
    if (!apply_pitches(item, layer, pitches)) return std::nullopt;
  return out;
}

bool takes_pitches(const Layer& layer, const WorkItem& item, const PortPitches& pitches) {
  const auto* move = std::get_if<MemoryOp>(&item);
  if (move != nullptr && are_dense(*move, pitches)) return true;
  WorkItem changed = item;
  return apply_pitches(changed, layer, pitches);
}

}  // namespace accsim::sim
