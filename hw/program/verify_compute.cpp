#include <fmt/format.h>

#include "hw/program/contract.h"
#include "hw/program/verifier.h"

namespace accsim::hw {
namespace {

/// Elements of one result of a LaneCommand: their sum stays within 32 bits.
constexpr int64_t kMostTaps = int64_t{1} << 20;
/// Coordinates of a window's positions, in lines and bytes, lie between it and its negative; its
/// kernel lines are shorter than kMostLine. So the core's sums of them have 32 bits.
constexpr int64_t kFarthest = (int64_t{1} << 30) - 1;
constexpr int64_t kMostLine = int64_t{1} << 28;
/// Rows of k before a tile of packed groups, at most.
constexpr int64_t kMostFirstK = int64_t{1} << 30;
/// Operations of a VectorCommand in a class, at most.
constexpr int64_t kMostOps = int64_t{1} << 40;

}  // namespace

// ---- products -----------------------------------------------------------------------------------

void Verifier::check_fields(const GemmCommand& c) {
  if (hw_.has_dot_products())
    return fail("a gemm needs a systolic array; the machine's array.template is dot_product");
  check_held(Buffer::activation, Queue::execute, "gemm");
  check_held(Buffer::weight, Queue::execute, "gemm");
  const ArrayConfig& a = hw_.array;
  check_limit(c.k, a.rows, "gemm k");
  const Dataflow d = dataflow_;
  check_limit(c.n, d == Dataflow::input_stationary ? bytes_of_slot(Buffer::weight) : a.cols,
              "gemm n");
  check_limit(c.m,
              d == Dataflow::weight_stationary  ? hw_.accumulator_rows()
              : d == Dataflow::input_stationary ? a.cols
                                                : a.rows,
              "gemm m");
  if (!errors_.empty()) return;
  check_between(c.useful_macs, 0, c.m * c.k * c.n, "useful products of a gemm");
  check_window(c.window, c.m, c.k);
  check_weights(c, d == Dataflow::input_stationary);
  first_of(c.first_of, "gemm");
  if (d == Dataflow::output_stationary) return;
  check_filling(Buffer::accumulator, Queue::execute, "gemm");
  check_within(c.accumulator_row, d == Dataflow::weight_stationary ? c.m : c.n,
               hw_.accumulator_rows(), "gemm accumulator rows");
}

/// Rows that a window has, and whose positions differ: the core knows the end of a line by where
/// it is.
void Verifier::check_window(const OperandWindow& w, int64_t m, int64_t k) {
  for (size_t d = 0; d < 3; ++d)
    if (w.count[d] < 1 || (w.count[d] > 1 && w.stride[d] < 1))
      fail(fmt::format("gemm window of {} positions, {} apart", w.count[d], w.stride[d]));
  if (w.pixel < 1) fail(fmt::format("gemm window of {}-byte pixels", w.pixel));
  for (const int64_t n : w.tile)
    check_limit(n, bytes_of_slot(Buffer::activation), "a size of the gemm's tile");
  check_within(Affine(0), multiply_far(product_of(w.tile), w.pixel),
               bytes_of_slot(Buffer::activation), "gemm window");
  check_within(w.first, m, product_of(w.count), "gemm rows of the window");
  check_limit(w.line, kMostLine, "bytes of a kernel line");
  check_between(w.line_step, -kFarthest, kFarthest, "lines between kernel lines");
  check_between(w.pad_value, INT8_MIN, INT8_MAX, "padding");
  check_between(w.offset, 0, kFarthest - k, "first of the gemm's elements in the window");
  if (!errors_.empty()) return;
  for (size_t d = 0; d < 3; ++d) {
    const Reach steps = Reach{}.add_index(w.count[d], w.stride[d]);
    Reach tap;
    if (d == 1) tap.add_index((range_of(w.offset).high + k - 1) / w.line + 1, w.line_step);
    if (d == 2) tap.add_index(2, w.line);
    const int64_t unit = d == 2 ? w.pixel : 1;
    check_between(w.origin[d], -kFarthest, kFarthest, "origin of the gemm's window");
    if (!errors_.empty()) return;
    const Range at = range_of(w.origin[d]);
    const int64_t low = add_far(multiply_far(add_far(at.low, steps.low), unit), tap.low);
    const int64_t high = add_far(multiply_far(add_far(at.high, steps.high), unit), tap.high);
    if (low < -kFarthest || high > kFarthest)
      fail(fmt::format("gemm window from {} to {}", low, high));
  }
}

/// `turned`: the slot has a row for every n.
void Verifier::check_weights(const GemmCommand& c, bool turned) {
  const WeightTile& t = c.weights;
  if (t.encoding != hw_.weight_encoding(false) && t.encoding != kPackedWeights)
    return fail(fmt::format("gemm weights of {} bits", t.encoding.bits()));
  if (t.encoding.is_packed() && t.groups > 1 && turned)
    return fail("input stationary packed groups of 4-bit weights");
  if (t.groups < 1) return fail(fmt::format("gemm weights of {} groups", t.groups));
  check_between(t.pitch, 0, bytes_of_slot(Buffer::weight), "pitch of the gemm's weights");
  int64_t row = turned ? c.k : c.n;  // elements of the last one, from the offset's column on
  if (t.groups > 1) row = packed_row(c, turned);
  if (!errors_.empty()) return;
  check_within(t.offset, Reach{}.add_index(turned ? c.n : c.k, t.pitch), t.encoding.row_bytes(row),
               bytes_of_slot(Buffer::weight), "gemm weights");
}

/// Elements of a row of packed groups, from the offset's column on.
int64_t Verifier::packed_row(const GemmCommand& c, bool turned) {
  const WeightTile& t = c.weights;
  if (t.group_k < 1 || t.group_n < 1 || c.n > multiply_far(t.groups, t.group_n) ||
      multiply_far(t.groups, t.group_k) > hw_.array.rows ||
      multiply_far(t.groups, t.group_n) > hw_.array.cols)
    fail(fmt::format("gemm n is {}, its weights are {} groups of {}x{}", c.n, t.groups, t.group_k,
                     t.group_n));
  check_between(t.first_k, 0, kMostFirstK, "gemm weights' first row");
  if (!errors_.empty()) return 0;
  const int64_t taps = (range_of(t.first_k).high + c.k - 1) / (t.groups * t.group_k) + 1;
  return turned ? taps * t.group_k : t.group_n;
}

void Verifier::check_fields(const DrainCommand& c) {
  check_filling(Buffer::accumulator, Queue::execute, "drain");
  if (dataflow_ != Dataflow::output_stationary)
    fail("drain in a program that isn't output stationary");
  check_limit(c.m, hw_.array.rows, "drain m");
  check_limit(c.n, hw_.array.cols, "drain n");
  first_of(c.first_of, "drain");
  check_within(c.accumulator_row, c.m, hw_.accumulator_rows(), "drain accumulator rows");
}

// ---- posts --------------------------------------------------------------------------------------

void Verifier::check_fields(const Residual& r) {
  check_between(r.zero, INT8_MIN, INT8_MAX, "zero point of the residual");
  check_between(r.multiplier, INT16_MIN, INT16_MAX, "multiplier of the residual");
  check_between(r.shift, 0, 31, "shift of the residual");
  check_clip(r.low, r.high, INT8_MAX, "the residual's post");
}

void Verifier::check_fields(const PostCommand& c) {
  check_held(Buffer::accumulator, Queue::post, "post");
  check_filling(Buffer::output, Queue::post, "post");
  check_limit(c.rows, hw_.accumulator_rows(), "post rows");
  check_limit(c.cols, hw_.array.cols, "post columns");
  check_between(c.pitch, 0, bytes_of_slot(Buffer::output), "pitch of the post's pixels");
  check_between(c.epilogue.zero, INT16_MIN, INT16_MAX, "zero point of the post");
  check_clip(c.epilogue.lowest_result(), c.epilogue.high, c.epilogue.highest_limit(), "post");
  if (c.epilogue.residual && !adds_) fail("post adds a residual to a slot that wasn't primed");
  if (c.epilogue.residual) check_fields(*c.epilogue.residual);
  check_limit(c.groups, PostCommand::kMostGroups, "post groups");
  check_between(c.group_rows, 0, hw_.accumulator_rows(), "post rows of a group");
  if (!errors_.empty()) return;
  check_within(c.accumulator_row, Reach{}.add_index(c.groups, c.group_rows), c.rows,
               hw_.accumulator_rows(), "post accumulator rows");
  const int64_t pixels = c.transposed ? c.cols : c.rows, channels = c.channels();
  check_within(c.slot_offset, Reach{}.add_index(pixels, c.pitch), channels * hw_.activation_bytes(),
               bytes_of_slot(Buffer::output), "post output");
  if (!c.has_parameters && c.groups > 1) fail("post of several groups without parameters");
  if (!c.has_parameters) return;
  check_held(Buffer::parameter, Queue::post, "post");
  check_within(c.parameter_offset, channels * hw_.parameter_bytes(),
               bytes_of_slot(Buffer::parameter), "post parameters");
  if (c.groups > 1)
    check_within(c.group_offset, (c.groups - 1) * channels * PostCommand::kGroupBytes,
                 bytes_of_slot(Buffer::parameter), "post parameters of groups");
}

void Verifier::check_fields(const SetTableCommand& c) {
  if (c.unit != Queue::post && c.unit != Queue::vector)
    return fail(fmt::format("a table of the {} queue", name(c.unit)));
  check_held(Buffer::parameter, c.unit, "table");
  check_within(c.parameter_offset, SetTableCommand::kBytes, bytes_of_slot(Buffer::parameter),
               "table");
}

// ---- vector unit --------------------------------------------------------------------------------

void Verifier::check_operand(const LaneCommand& c, const LaneOperand& o, Reach r,
                             std::string_view what) {
  check_held(o.buffer, Queue::vector, what);
  check_between(o.zero, INT8_MIN, INT8_MAX, fmt::format("zero point of the {}", what));
  check_between(o.multiplier, INT16_MIN, INT16_MAX, fmt::format("multiplier of the {}", what));
  for (size_t i = 0; i < kLaneLevels; ++i) r.add_index(c.rows[i], o.row_stride[i]);
  check_within(o.offset, r, o.splat ? 1 : c.run, bytes_of_slot(o.buffer), what);
}

/// What is so of a command that weighs its taps, and of no other one.
void Verifier::weighed(const LaneCommand& c) {
  check_held(Buffer::parameter, Queue::vector, "weights");
  check_limit(c.tap_count(), LaneCommand::kMostWeighed, "weighed taps of one result");
  if (c.b->buffer != Buffer::parameter) return fail("weights of taps lie in parameter slots");
  if (c.b->splat) return fail("a tap has a weight for each element");
  if (c.across || c.tap_op != TapOp::sum) return fail("weighed taps are added up, one by one");
  if (c.a.multiplier != 1 || c.b->multiplier != 1 || c.shift != 0)
    return fail("weighed taps have the factors of their channels only");
  const Reach channels = reach_over(c.rows, c.b->row_stride);
  check_between(c.macs, 0, kMostElements * LaneCommand::kMostWeighed, "MACs of the lane command");
  constexpr int64_t kBytes = LaneCommand::kChannelBytes;
  check_within(c.channel_offset,
               Reach{multiply_far(channels.low, kBytes), multiply_far(channels.high, kBytes)},
               c.run * kBytes, bytes_of_slot(Buffer::parameter), "channels of the lane command");
}

void Verifier::check_fields(const LaneCommand& c) {
  check_filling(Buffer::output, Queue::vector, "lane command");
  for (const int64_t n : c.rows) check_limit(n, kMostElements, "a count of rows");
  for (const int64_t n : c.taps) check_limit(n, kMostTaps, "a count of taps");
  check_limit(c.run, bytes_of_slot(Buffer::activation), "run");
  check_limit(multiply_far(product_of(c.rows), c.run), kMostElements, "elements of the rows");
  if (!errors_.empty()) return;
  check_limit(c.tap_count() * (c.across ? c.run : 1), kMostTaps, "elements of one result");
  if (c.weighs() && hw_.vector.mac_lanes < 1)
    return fail("the machine has no lanes that weigh taps: see its key vector.mac_lanes");
  if (contract::lane_beat(c, hw_) < 1) return fail("two operands through a port of one byte");
  if (c.b.has_value() != row_of(c.op).has_b)
    return fail(fmt::format("{} with {} operands", row_of(c.op).name, c.b ? 2 : 1));
  if (c.a.buffer != Buffer::activation) return fail("the first operand lies in activation slots");
  if (c.a.splat) return fail("the first operand has a byte for each element");
  if (c.b && c.b->buffer != Buffer::activation && c.b->buffer != Buffer::parameter)
    return fail("the second operand lies in activation or parameter slots");
  if (c.b && c.across && !c.b->splat) return fail("a row across has one second operand");
  if (!c.slides_well())
    return fail(fmt::format("rows that slide by {} of {} columns of {}, {} bytes in steps of {}",
                            c.slide, c.taps[0], c.taps[1], c.a.row_stride[3], c.tap_stride[0]));
  check_between(c.shift, 0, 62, "shift of the lane command");
  check_between(c.epilogue.zero, INT16_MIN, INT16_MAX, "zero point of the lane command");
  check_clip(c.epilogue.low, c.epilogue.high, INT8_MAX, "lane command");
  if (c.epilogue.relu || c.epilogue.residual) fail("relu and residual are a post's");
  check_operand(c, c.a, reach_over(c.taps, c.tap_stride), "first operand");
  if (c.b)
    check_operand(c, *c.b, c.weighs() ? reach_over(c.taps, c.weight_stride) : Reach{},
                  "second operand");
  if (c.weighs()) weighed(c);
  check_within(c.slot_offset, reach_over(c.rows, c.out_stride), c.across ? 1 : c.run,
               bytes_of_slot(Buffer::output), "output of the lane command");
}

/// The rows of an operand, all pieces of them, in a slot of its buffer.
void Verifier::check_rows(const RowCommand& c, const RowOperand& o, Buffer b,
                          std::string_view what) {
  check_within(o.offset, reach_over(c.rows, o.row_stride).add_index(c.pieces, o.piece_stride),
               c.run, bytes_of_slot(b), what);
}

void Verifier::check_constants(const RowCommand& c) {
  check_between(c.epilogue.zero, INT8_MIN, INT8_MAX, "zero point of the rows");
  if (c.epilogue.relu || c.epilogue.table || c.epilogue.residual)
    fail("rows have no relu, table or residual");
  if (c.op == RowOp::softmax) {
    check_between(c.row_multiplier, 0, UINT16_MAX, "multiplier of the rows");
    check_between(c.mask_multiplier, 0, c.mask ? UINT16_MAX : 0, "multiplier of the mask");
    check_between(c.difference_shift, 0, 15, "difference shift");
    check_between(c.numerator, 1 << 30, INT32_MAX, "numerator");
    check_between(c.exponent, 0, 16, "exponent");
    if (c.logarithm) {
      check_between(c.logarithm->row_multiplier, 0, INT32_MAX,
                    "logarithm's multiplier of the rows");
      check_between(c.logarithm->sum_multiplier, 0, INT32_MAX, "logarithm's multiplier of the sum");
      check_between(c.logarithm->shift, 0, 62, "logarithm's shift");
      check_between(c.logarithm->addend, -(int64_t{1} << 60), int64_t{1} << 60,
                    "logarithm's addend");
    }
    if (c.epilogue.low != INT8_MIN || c.epilogue.high != INT8_MAX)
      fail("a softmax has all of int8");
    return;
  }
  int bits = 0;  // that the length takes, or its root
  while (int64_t{1} << bits < c.length()) ++bits;
  check_between(c.unit_bits, 30 - (bits + 1) / 2, 30 - (bits + 1) / 2, "unit bits");
  check_between(c.input_zero, INT8_MIN, INT8_MAX, "zero point of what is normalised");
  check_between(c.epsilon, 0, int64_t{1} << 62, "epsilon");
  check_clip(c.epilogue.low, c.epilogue.high, INT8_MAX, name(c.op));
}

void Verifier::check_fields(const RowCommand& c) {
  check_filling(Buffer::output, Queue::vector, name(c.op));
  check_held(Buffer::activation, Queue::vector, name(c.op));
  check_held(Buffer::parameter, Queue::vector, name(c.op));
  for (const int64_t n : c.rows) check_limit(n, kMostElements, "a count of rows");
  check_limit(c.pieces, RowCommand::kElements, "pieces of a row");
  check_limit(c.run, RowCommand::kElements, "run");
  if (!errors_.empty()) return;
  check_limit(c.length(), RowCommand::kElements, "elements of a row");
  check_limit(multiply_far(product_of(c.rows), c.length()), kMostElements, "elements of the rows");
  if (contract::row_beat(c, hw_) < 1) return fail("rows and a mask through a port of one byte");
  const bool softmax = c.op == RowOp::softmax;
  if (c.mask && !softmax) return fail(fmt::format("{} with a mask", name(c.op)));
  if (c.logarithm && !softmax) return fail(fmt::format("{} with a logarithm", name(c.op)));
  if (c.per_channel < 1 || c.run % c.per_channel != 0 || (softmax && c.per_channel != 1))
    return fail(fmt::format("{} of runs of {} with {} elements a channel", name(c.op), c.run,
                            c.per_channel));
  check_constants(c);
  check_rows(c, c.in, Buffer::activation, "rows");
  if (c.mask) check_rows(c, *c.mask, Buffer::activation, "mask of the rows");
  check_rows(c, c.out, Buffer::output, "output of the rows");
  if (c.logarithm)
    check_within(c.logarithm->offset, c.row_count(), bytes_of_slot(Buffer::output),
                 "logarithms of the rows");
  if (softmax)
    check_within(c.parameter_offset, RowCommand::kTableBytes, bytes_of_slot(Buffer::parameter),
                 "tables of the softmax");
  else
    check_within(c.parameter_offset, reach_over(c.rows, c.parameter_stride),
                 c.channels() * RowCommand::kChannelBytes, bytes_of_slot(Buffer::parameter),
                 "channels of the rows");
}

void Verifier::check_fields(const VectorCommand& c) {
  if (c.in_bytes > 0) check_held(Buffer::activation, Queue::vector, "vector");
  if (c.out_bytes > 0) check_filling(Buffer::output, Queue::vector, "vector");
  check_within(Affine(0), c.in_bytes, bytes_of_slot(Buffer::activation), "vector input");
  check_within(Affine(0), c.out_bytes, bytes_of_slot(Buffer::output), "vector output");
  for (const int64_t n : c.ops) check_between(n, 0, kMostOps, "operations of a vector command");
}

}  // namespace accsim::hw
