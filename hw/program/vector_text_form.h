#pragma once
#include <string>

#include "hw/program/text_form.h"

namespace accsim::hw {

/// The same of commands of the vector unit, and of tables.

/// The unit is its queue's.
template <class F, Like<SetTableCommand> C>
void write_form(F& f, C& c) {
  f.text("table <- parameters[");
  f.sum(c.parameter_offset);
  f.text("]");
}

/// An operand of lanes.
template <class F, Like<LaneOperand> O>
void write_form(F& f, O& o) {
  f.choice(o.buffer);
  f.text("[");
  f.sum(o.offset);
  f.text("] strides ");
  f.list(o.row_stride, ",");
  write_flag(f, o.splat, " splat");
  f.text(" (zero ");
  f.number(o.zero);
  f.text(") * ");
  f.number(o.multiplier);
}

/// How a command of lanes goes over its rows: weights, across, or sliding.
template <class F, class C>
void write_lane_way(F& f, C& c) {
  if (c.weighs()) {
    f.text(", weights at ");
    f.list(c.weight_stride, ",");
    f.text(", channels[");
    f.sum(c.channel_offset);
    f.text("], ");
    f.number(c.macs);
    f.text(" MACs");
    return;
  }
  write_flag(f, c.across, " (");
  if (c.across) {
    f.choice(c.tap_op);
    f.text(" across)");
  } else if (f.option(c.slide != 0, ", sliding by ")) {
    f.number(c.slide);
  }
}

/// A command of lanes.
template <class F, Like<LaneCommand> C>
void write_form(F& f, C& c) {
  f.choice(c.op);
  f.text(" output[");
  f.sum(c.slot_offset);
  f.text("] strides ");
  f.list(c.out_stride, ",");
  f.text(" <- ");
  write_form(f, c.a);
  const bool one_tap = c.taps == std::array<int64_t, kTapLevels>{1, 1} &&
                       c.tap_stride == std::array<int64_t, kTapLevels>{} &&
                       (c.tap_op == TapOp::sum || c.across);
  if (f.option(!one_tap, " of ")) {
    f.list(c.taps, "x");
    f.text(" ");
    f.choice(c.tap_op);
    f.text(" taps at ");
    f.list(c.tap_stride, ",");
  }
  if (begin_optional(f, c.b, " and ")) write_form(f, *c.b);
  f.text(", rows ");
  f.list(c.rows, "x");
  f.text(" of ");
  f.number(c.run);
  f.text(" bytes");
  write_lane_way(f, c);
  f.text(", / 2^");
  f.number(c.shift);
  f.text(", ");
  write_limits(f, c.epilogue);
  write_flag(f, c.epilogue.table, ", table");
}

/// Rows behind the name of their buffer.
template <class F, Like<RowOperand> O>
void write_form(F& f, O& o) {
  f.text("[");
  f.sum(o.offset);
  f.text("] strides ");
  f.list(o.row_stride, ",");
  f.text(",");
  f.number(o.piece_stride);
}

/// The second result of a softmax.
template <class F, Like<RowLogarithm> L>
void write_form(F& f, L& l) {
  f.text("[");
  f.sum(l.offset);
  f.text("] <- (rows * ");
  f.number(l.row_multiplier);
  f.text(" + log2 * ");
  f.number(l.sum_multiplier);
  f.text(" + ");
  f.number(l.addend);
  f.text(") / 2^");
  f.number(l.shift);
}

/// What only a softmax has.
template <class F, class C>
void write_softmax(F& f, C& c) {
  f.text(" * ");
  f.number(c.row_multiplier);
  f.text(" + mask * ");
  f.number(c.mask_multiplier);
  f.text(", / 2^");
  f.number(c.difference_shift);
  f.text(", numerator ");
  f.number(c.numerator);
  f.text(" exponent ");
  f.number(c.exponent);
  f.text(", zero ");
  f.number(c.epilogue.zero);
  if (begin_optional(f, c.logarithm, ", logarithms output")) write_form(f, *c.logarithm);
}

/// What only a norm has.
template <class F, class C>
void write_norm(F& f, C& c) {
  f.text(" strides ");
  f.list(c.parameter_stride, ",");
  f.text(" of ");
  f.number(c.per_channel);
  f.text(" elements a channel, (zero ");
  f.number(c.input_zero);
  f.text(") epsilon ");
  f.number(c.epsilon);
  f.text(", ");
  f.number(c.unit_bits);
  f.text(" unit bits, ");
  write_limits(f, c.epilogue);
}

/// A command of rows.
template <class F, Like<RowCommand> C>
void write_form(F& f, C& c) {
  f.choice(c.op);
  f.text(" output");
  write_form(f, c.out);
  f.text(" <- activation");
  write_form(f, c.in);
  if (begin_optional(f, c.mask, " and mask activation")) write_form(f, *c.mask);
  f.text(", rows ");
  f.list(c.rows, "x");
  f.text(" of ");
  f.number(c.pieces);
  f.text("x");
  f.number(c.run);
  f.text(" elements, parameters[");
  f.sum(c.parameter_offset);
  f.text("]");
  if (c.op == RowOp::softmax)
    write_softmax(f, c);
  else
    write_norm(f, c);
}

/// Operations that are only counted.
template <class F, Like<VectorCommand> C>
void write_form(F& f, C& c) {
  f.text("vector");
  for (size_t i = 0; i < kLaneClasses; ++i)
    f.counted(c.ops[i] != 0, " ", c.ops[i], " " + std::string(kLaneClassNames[i]));
  f.text(", ");
  f.number(c.in_bytes);
  f.text(" bytes in, ");
  f.number(c.out_bytes);
  f.text(" bytes out");
}

}  // namespace accsim::hw
