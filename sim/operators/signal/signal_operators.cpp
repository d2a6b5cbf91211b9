#include <fmt/format.h>

#include "sim/operators/op_table.h"
#include "sim/operators/rules.h"
#include "sim/operators/work_counts.h"

namespace accsim::sim {
namespace {

/// Real operations of one complex fast Fourier transform of n points: 5 n log2(n), n rounded up to
/// a power of two inside the logarithm only.
int64_t fft_ops(int64_t n) { return capped_product({5, n, bisection_steps(n - 1)}); }

struct Transform {
  size_t axis = 0;
  int64_t points = 0;  ///< of the transform
  bool onesided = false, inverse = false;
  Dims out;
};

Result<Transform> plan_dft(const NodeView& node) {
  if (Status s = want_rank_from(node, 0, 2); !s) return s.errors();
  const Dims& x = node.dims(0);
  int64_t stated = node.opset() < 20 ? int_attr(node, "axis", 1) : -2;
  if (node.opset() >= 20 && node.has_input(2)) {
    const Result<int64_t> given = need_integer(node, 2, "axis", "the output shape");
    if (!given) return given.errors();
    stated = *given;
  }
  const Result<int64_t> axis = normalize_axis(stated, node.rank(0));
  if (!axis) return bad_node(node, axis.errors().front().message);
  if (*axis + 1 == node.rank(0) || (x.back() != 1 && x.back() != 2))
    return bad_node(node, fmt::format("input {} must end in 1 (real) or 2 (complex), and axis {} "
                                      "must be another dim",
                                      to_string(x), *axis));
  Transform t;
  t.axis = static_cast<size_t>(*axis);
  t.onesided = int_attr(node, "onesided", 0) != 0;
  t.inverse = int_attr(node, "inverse", 0) != 0;
  if (t.onesided && !t.inverse && x.back() == 2)
    return bad_node(node, "a one-sided transform needs a real input");
  const bool to_real = t.onesided && t.inverse;  // the input is half a spectrum
  t.points = to_real ? capped_product({2, x[t.axis] - 1}) : x[t.axis];
  if (node.has_input(1)) {
    const Result<int64_t> length = need_integer(node, 1, "dft_length", "the output shape");
    if (!length) return length.errors();
    t.points = *length;
  }
  if (t.points < 1) return bad_node(node, fmt::format("the transform has {} points", t.points));
  t.out = x;
  t.out.back() = to_real ? 1 : 2;
  t.out[t.axis] = t.onesided && !t.inverse ? t.points / 2 + 1 : t.points;
  return t;
}

Status dft_rule(InferContext& node) {
  Result<Transform> t = plan_dft(node);
  if (!t) return t.errors();
  return set_shape(node, 0, node.dtype(0), std::move(t->out));
}

Result<Work> dft_cost(const NodeView& node) {
  const Result<Transform> t = plan_dft(node);
  if (!t) return t.errors();
  int64_t rows = 1;
  for (size_t d = 0; d + 1 < t->out.size(); ++d)
    if (d != t->axis) rows = capped_product({rows, t->out[d]});
  VectorOp op;
  read_input(node, 0, op.inputs);
  write_output(node, 0, op.outputs);
  // A one-sided transform does half the work.
  op[VectorClass::elementwise] = capped_product({rows, fft_ops(t->points)}) / (t->onesided ? 2 : 1);
  op.row = t->points;
  return checked_work(node, {op});
}

struct Frames {
  int64_t length = 0, count = 0, bins = 0;
  bool onesided = true;
};

Result<Frames> plan_stft(const NodeView& node) {
  const Dims& x = node.dims(0);
  if ((x.size() != 2 && x.size() != 3) || (x.size() == 3 && x[2] != 1 && x[2] != 2))
    return bad_node(node, fmt::format("signal {} must be batch x length [x 1 or 2]", to_string(x)));
  const Result<int64_t> step = need_integer(node, 1, "frame_step", "the output shape");
  if (!step) return step.errors();
  Frames f;
  if (node.has_input(3)) {
    const Result<int64_t> length = need_integer(node, 3, "frame_length", "the output shape");
    if (!length) return length.errors();
    f.length = *length;
  } else if (node.has_input(2)) {
    if (Status s = want_rank(node, 2, 1); !s) return s.errors();
    f.length = node.dims(2)[0];
  } else {
    return bad_node(node, "needs a window or a frame_length");
  }
  if (node.has_input(2) && node.dims(2) != Dims{f.length})
    return bad_node(node, fmt::format("window {} must have frame_length {} elements",
                                      to_string(node.dims(2)), f.length));
  if (*step < 1 || f.length < 1 || f.length > x[1])
    return bad_node(
        node, fmt::format("frames of {} every {} don't fit a signal of {}", f.length, *step, x[1]));
  f.onesided = int_attr(node, "onesided", 1) != 0;
  if (f.onesided && x.size() == 3 && x[2] == 2)
    return bad_node(node, "a one-sided transform needs a real signal");
  f.count = (x[1] - f.length) / *step + 1;
  f.bins = f.onesided ? f.length / 2 + 1 : f.length;
  return f;
}

Status stft_rule(InferContext& node) {
  const Result<Frames> f = plan_stft(node);
  if (!f) return f.errors();
  return set_shape(node, 0, node.dtype(0), {node.dims(0)[0], f->count, f->bins, 2});
}

Result<Work> stft_cost(const NodeView& node) {
  const Result<Frames> f = plan_stft(node);
  if (!f) return f.errors();
  const int64_t frames = capped_product({node.dims(0)[0], f->count});
  const int64_t parts = node.rank(0) == 3 ? node.dims(0)[2] : 1;
  VectorOp op;
  read_part(node, 0, capped_product({frames, f->length, parts}), capped_product({f->length, parts}),
            op.inputs);
  read_input(node, 2, op.inputs);
  write_output(node, 0, op.outputs);
  op[VectorClass::elementwise] =
      capped_product({frames, fft_ops(f->length)}) / (f->onesided ? 2 : 1);
  if (node.has_input(2))
    op[VectorClass::elementwise] =
        capped_sum(op[VectorClass::elementwise], capped_product({frames, f->length, parts}));
  op.row = f->length;
  return checked_work(node, {op});
}

Status window_rule(InferContext& node) {
  const Result<int64_t> size = need_integer(node, 0, "size", "the output shape");
  if (!size) return size.errors();
  const Result<DType> type = dtype_attr(node, "output_datatype", DType::float32);
  if (!type) return type.errors();
  return set_shape(node, 0, *type, {*size});
}

/// `kCosines` cosine terms an element, each scaled and added.
template <int kCosines>
Result<Work> window_cost(const NodeView& node) {
  VectorOp op;
  write_output(node, 0, op.outputs);
  op[VectorClass::special] = capped_product({kCosines, output_size(node, 0)});
  op[VectorClass::elementwise] = capped_product({2, kCosines, output_size(node, 0)});
  return checked_work(node, {op});
}

Status mel_rule(InferContext& node) {
  const Result<int64_t> bins = need_integer(node, 0, "num_mel_bins", "the output shape");
  if (!bins) return bins.errors();
  const Result<int64_t> length = need_integer(node, 1, "dft_length", "the output shape");
  if (!length) return length.errors();
  const Result<DType> type = dtype_attr(node, "output_datatype", DType::float32);
  if (!type) return type.errors();
  if (*length < 0) return bad_node(node, fmt::format("dft_length is {}", *length));
  return set_shape(node, 0, *type, {*length / 2 + 1, *bins});
}

Result<Work> mel_cost(const NodeView& node) {
  VectorOp op;
  write_output(node, 0, op.outputs);
  // Two slopes and their minimum an element, one logarithm a bin edge.
  op[VectorClass::elementwise] = capped_product({4, output_size(node, 0)});
  op[VectorClass::special] = capped_sum(node.output(0).dims[1], 2);
  return checked_work(node, {op});
}

constexpr OpRow kSignalOperators[] = {
    {.name = "DFT",
     .since = 17,
     .ports = {{"input"}, {"dft_length", PortRole::setting}, {"axis", PortRole::setting}},
     .min_inputs = 1,
     .attributes = {"axis", "inverse", "onesided"},
     .shape = dft_rule,
     .cost = dft_cost},
    {.name = "STFT",
     .since = 17,
     .ports = {{"signal"},
               {"frame_step", PortRole::setting},
               {"window", PortRole::parameter},
               {"frame_length", PortRole::setting}},
     .min_inputs = 2,
     .attributes = {"onesided"},
     .shape = stft_rule,
     .cost = stft_cost},
    {.name = "HannWindow",
     .since = 17,
     .ports = {{"size", PortRole::setting}},
     .attributes = {"output_datatype", "periodic"},
     .shape = window_rule,
     .cost = window_cost<1>},
    {.name = "HammingWindow",
     .since = 17,
     .ports = {{"size", PortRole::setting}},
     .attributes = {"output_datatype", "periodic"},
     .shape = window_rule,
     .cost = window_cost<1>},
    {.name = "BlackmanWindow",
     .since = 17,
     .ports = {{"size", PortRole::setting}},
     .attributes = {"output_datatype", "periodic"},
     .shape = window_rule,
     .cost = window_cost<2>},
    {.name = "MelWeightMatrix",
     .since = 17,
     .ports = {{"num_mel_bins", PortRole::setting},
               {"dft_length", PortRole::setting},
               {"sample_rate"},
               {"lower_edge_hertz"},
               {"upper_edge_hertz"}},
     .attributes = {"output_datatype"},
     .shape = mel_rule,
     .cost = mel_cost},
};

}  // namespace

std::span<const OpRow> signal_rows() { return kSignalOperators; }

}  // namespace accsim::sim
