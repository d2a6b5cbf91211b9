#include "sim/map/rows/row_operands.h"

#include <algorithm>

#include "sim/base/inline_vector.h"

namespace accsim::sim {
namespace {

RowLevels levels(const RowNest& rows, int64_t pieces, int64_t run) {
  RowLevels out{};
  std::ranges::copy(rows, out.begin());
  out[kPieceLevel] = pieces;
  out[kRunLevel] = run;
  return out;
}

RowNest row_strides(const RowPart& part) {
  RowNest out{};
  std::copy_n(part.stride.begin(), kRowLevels, out.begin());
  return out;
}

hw::RowOperand row_operand(const RowPart& part, int64_t offset) {
  return {hw::Affine(offset), row_strides(part), part.stride[kPieceLevel]};
}

/// Fraction bits of a normalised element of rows of a length (docs/vector-arithmetic.md).
int32_t unit_bits(int64_t length) {
  int bits = 0;
  while (int64_t{1} << bits < length) ++bits;
  return 30 - (bits + 1) / 2;
}

void set_numbers(const RowProblem& p, hw::RowCommand& c) {
  const RowNumbers& n = p.numbers;
  c.epilogue = n.epilogue;
  if (p.is_softmax()) {
    c.row_multiplier = n.row_multiplier;
    c.mask_multiplier = c.mask ? n.mask_multiplier : 0;
    c.difference_shift = n.difference_shift;
    c.numerator = n.numerator;
    c.exponent = n.exponent;
    if (p.work.log) c.logarithm = n.logarithm;
    return;
  }
  c.input_zero = n.input_zero;
  c.unit_bits = unit_bits(c.length());
  c.epsilon = n.epsilon;
}

/// A row is read with the half that is wanted last, and the other is written where the next row's
/// half of the same channels comes, which that row's own then overwrites.
void take_half(hw::RowCommand& c, int64_t half) {
  const int64_t length = c.run, part = length / 2;
  c.run = part;
  c.pieces = 2;
  c.in.offset = hw::Affine(half == 0 ? part : 0);
  c.in.piece_stride = half == 0 ? -part : part;
  c.out.offset = hw::Affine(half * part + length);
  c.out.piece_stride = -length;
}

}  // namespace

RowPart row_part(const RowLevels& counts, const RowLevels& strides, int64_t unit) {
  InlineVector<size_t, kRowLevels + 2> order;
  for (size_t l = 0; l < counts.size(); ++l)
    if (counts[l] > 1 && strides[l] != 0) order.push_back(l);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return strides[a] > strides[b]; });
  RowPart out;
  out.walk.run = out.bytes = unit;
  for (size_t i = order.size(); i-- > 0;) {
    out.stride[order[i]] = out.bytes;
    out.bytes *= counts[order[i]];
  }
  for (const size_t l : order) out.walk.levels.push_back({counts[l], strides[l] * unit});
  out.walk.merge();
  return out;
}

RowPart rows_part(const RowProblem& p, const RowNest& rows) {
  RowLevels strides = levels(p.work.row_stride, p.work.piece_stride, 1);
  return row_part(levels(rows, p.work.pieces, p.work.run), strides, 1);
}

RowPart mask_part(const RowProblem& p, const RowNest& rows) {
  const RowMask& m = *p.work.mask;
  return row_part(levels(rows, p.work.pieces, p.work.run), levels(m.row_stride, m.piece_stride, 1),
                  1);
}

RowPart parameter_part(const RowProblem& p, const RowNest& rows) {
  if (p.is_softmax()) return row_part({1, 1, 1, 1, 1, 1}, {}, hw::RowCommand::kTableBytes);
  return row_part(levels(rows, 1, p.channels()), levels(p.work.channel_stride, 0, 1),
                  hw::RowCommand::kChannelBytes);
}

int64_t RowProblem::parameter_bytes(const RowNest& rows) const {
  return parameter_part(*this, rows).bytes;
}

RowPart log_part(const RowProblem& p, const RowNest& rows) {
  return row_part(levels(rows, 1, 1), levels(p.work.log->row_stride, 0, 1), 1);
}

int64_t log_offset(const RowProblem& p, const RowNest& rows) { return rows_part(p, rows).bytes; }

int64_t output_bytes(const RowProblem& p, const RowTile& t, const RowNest& rows) {
  const int64_t logs = p.work.log ? log_part(p, rows).bytes : 0;
  const int64_t half = t.parameters == RowParameters::halves ? p.work.row_length() : 0;
  return rows_part(p, rows).bytes + logs + half;
}

hw::RowCommand row_command(const RowProblem& p, const RowTile& t, const RowNest& rows,
                           int64_t half) {
  constexpr std::array kOps = {hw::RowOp::softmax, hw::RowOp::layer_norm, hw::RowOp::rms_norm};
  const RowWork& w = p.work;
  const RowPart in = rows_part(p, rows);
  hw::RowCommand c;
  c.op = kOps[static_cast<size_t>(w.kind)];
  c.rows = rows;
  c.pieces = w.pieces;
  c.run = w.run;
  c.in = c.out = row_operand(in, 0);
  if (w.mask) c.mask = row_operand(mask_part(p, rows), in.bytes);
  c.per_channel = w.per_channel;
  if (!p.is_softmax())
    c.parameter_stride =
        row_strides(parameter_part(p, t.parameters == RowParameters::once ? w.rows : rows));
  if (t.parameters == RowParameters::halves) take_half(c, half);
  set_numbers(p, c);
  if (c.logarithm) c.logarithm->offset = hw::Affine(log_offset(p, rows));
  return c;
}

}  // namespace accsim::sim
