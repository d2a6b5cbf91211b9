#include <algorithm>

#include "sim/operators/movement/box_rules.h"
#include "sim/operators/rules.h"
#include "sim/ref/executor.h"
#include "sim/ref/kernel_context.h"
#include "sim/ref/strided_loops.h"

namespace accsim::sim::ref {
namespace {

Status share_input(KernelContext& step) { return step.share_output(0, step.input_array(0)), ok(); }

Status shape_kernel(KernelContext& step) {
  const auto rank = step.rank(0);
  const auto bound = [&](const char* name, int64_t fallback) {
    const int64_t v = int_attr(step, name, fallback);
    return std::clamp<int64_t>(v < 0 ? v + rank : v, 0, rank);
  };
  const int64_t start = bound("start", 0), end = std::max(start, bound("end", rank));
  const Dims& dims = step.input_array(0).dims();
  step.put_output(0, std::vector<int64_t>(dims.begin() + start, dims.begin() + end));
  return ok();
}

Status size_kernel(KernelContext& step) {
  return step.put_output(0, std::vector<int64_t>{step.input_array(0).size()}), ok();
}

Status constant_of_shape(KernelContext& step) {
  if (!step.has_output(0)) return ok();
  double fill = 0;
  if (const Attribute* a = step.find_attribute("value")) {
    const auto* tensor = std::get_if<std::shared_ptr<const StoredTensor>>(&a->value);
    if (tensor == nullptr || !*tensor || !(*tensor)->value || (*tensor)->value->size() != 1)
      return refuse(step, "the fill value isn't at hand");
    const ConstData& value = *(*tensor)->value;
    if (value.is_integer() && bits((*tensor)->dtype) == 64) {  // a double doesn't hold them all
      const std::vector<int64_t> all(static_cast<size_t>(step.output_array(0).size()),
                                     value.integers()[0]);
      return step.put_output(0, all), ok();
    }
    fill = value.as_double(0);
  }
  Array& out = step.output_array(0);
  with_element_kind(out.kind(), [&]<class T>(T) {
    std::fill_n(out.data<T>(), out.size(), static_cast<T>(fill));
  });
  return ok();
}

Status eye_like(KernelContext& step) {
  const int64_t k = int_attr(step, "k", 0), columns = step.dims(0)[1];
  std::vector<int64_t> eye(static_cast<size_t>(elements(step.dims(0))), 0);
  for (size_t n = 0; n < eye.size(); ++n) {
    const auto i = static_cast<int64_t>(n);
    eye[n] = i % columns - i / columns == k;
  }
  return step.put_output(0, eye), ok();
}

/// Output `out` = input 0 read by strides from `base` on, over `dims` (the output's, or a finer
/// split of them).
void take_strided(KernelContext& step, size_t out, const Dims& dims, const Strides& strides,
                  int64_t base) {
  if (!step.has_output(out) || elements(dims) == 0) return;
  with_element_kind(step.input_array(0).kind(), [&]<class T>(T) {
    copy_strided(step.pool(), step.data<T>(0), dims, strides, base, step.result<T>(out));
  });
}

Status transpose_kernel(KernelContext& step) {
  const Result<std::vector<int64_t>> perm = permutation_of(step);
  if (!perm) return perm.errors();
  const Strides from = row_major(step.dims(0));
  Strides strides;
  for (const int64_t axis : *perm) strides.push_back(from[static_cast<size_t>(axis)]);
  take_strided(step, 0, step.out_dims(0), strides, 0);
  return ok();
}

void take_box(KernelContext& step, size_t out, const Box& box) {
  Strides strides = row_major(step.dims(0));
  int64_t base = 0;
  for (size_t i = 0; i < strides.size(); ++i) {
    base += strides[i] * box.start[i];
    strides[i] *= box.step[i];
  }
  take_strided(step, out, box.dims, strides, base);
}

Status slice_kernel(KernelContext& step) {
  const Result<Box> box = sliced_box(step);
  if (!box) return box.errors();
  take_box(step, 0, *box);
  return ok();
}

Status split_kernel(KernelContext& step) {
  const Result<std::vector<Box>> boxes = split_boxes(step);
  if (!boxes) return boxes.errors();
  for (size_t i = 0; i < boxes->size(); ++i) take_box(step, i, (*boxes)[i]);
  return ok();
}

Status expand_kernel(KernelContext& step) {
  const Dims& dims = step.out_dims(0);
  take_strided(step, 0, dims, broadcast_strides(step.dims(0), dims), 0);
  return ok();
}

Status tile_kernel(KernelContext& step) {
  // Index i of the output is (repeat, i modulo the dim): two axes, the first standing still.
  const Dims& dims = step.dims(0);
  const Strides from = row_major(dims);
  Dims pairs;
  Strides strides;
  for (size_t i = 0; i < dims.size(); ++i) {
    pairs.insert(pairs.end(), {dims[i] == 0 ? 0 : step.out_dims(0)[i] / dims[i], dims[i]});
    strides.insert(strides.end(), {0, from[i]});
  }
  take_strided(step, 0, pairs, strides, 0);
  return ok();
}

Status concat_kernel(KernelContext& step) {
  if (!step.has_output(0)) return ok();
  const Dims& dims = step.out_dims(0);
  const Result<int64_t> axis = axis_attr(step, 1, static_cast<int64_t>(dims.size()));
  if (!axis) return axis.errors();
  const Lines to = lines_along(dims, *axis);
  const auto width = static_cast<size_t>(kind_bytes(step.output_array(0).kind()));
  auto* out = static_cast<uint8_t*>(step.output_array(0).raw_data());
  int64_t start = 0;
  for (size_t i = 0; i < step.input_count(); ++i) {
    const Lines from = lines_along(step.dims(i), *axis);
    const auto* in = static_cast<const uint8_t*>(step.input_array(i).raw_data());
    const size_t run = static_cast<size_t>(from.length * from.inner) * width;
    step.pool().parallel_for(
        from.outer, 1 + 65536 / static_cast<int64_t>(run + 1), [&](int64_t b, int64_t e) {
          for (int64_t o = b; o < e; ++o)
            std::memcpy(out + static_cast<size_t>(to.offset_of(o, 0, start)) * width,
                        in + static_cast<size_t>(o) * run, run);
        });
    start += from.length;
  }
  return ok();
}

Status pad_kernel(KernelContext& step) {
  const Result<Padding> p = padding_of(step);
  if (!p) return p.errors();
  if (!step.has_output(0)) return ok();
  const std::string mode = step.attr("mode", "constant");
  const Dims &from = step.dims(0), &to = step.out_dims(0);
  const size_t rank = from.size();
  const Strides strides = row_major(from);
  // For every axis, the offset that each index of the result reads at; -1: padding.
  std::vector<std::vector<int64_t>> reads(rank);
  for (size_t d = 0; d < rank; ++d)
    for (int64_t i = 0; i < to[d]; ++i) {
      const int64_t at = pad_source(mode, i, from[d], p->before[d], p->after[d]);
      reads[d].push_back(at < 0 ? -1 : at * strides[d]);
    }
  const double stated = step.opset() < 11 ? real_attr(step, "value", 0) : step.real_or(2, 0);
  if (rank == 0) return share_input(step);
  if (step.output_array(0).size() == 0) return ok();
  const int64_t length = to.back();
  with_element_kind(step.input_array(0).kind(), [&]<class T>(T) {
    // The fill keeps all 64 bits of an integer.
    const bool given = step.opset() >= 11 && step.has_input(2) && step.input_array(2).size() > 0;
    const T fill = given && step.input_array(2).kind() == element_kind_for<T>()
                       ? step.data<T>(2)[0]
                       : static_cast<T>(stated);
    const T* in = step.data<T>(0);
    T* out = step.result<T>(0);
    step.pool().parallel_for(
        step.output_array(0).size() / length, 1 + 16384 / length, [&](int64_t b, int64_t e) {
          for (int64_t row = b; row < e; ++row) {
            int64_t base = 0, rest = row;
            for (size_t d = rank - 1; d-- > 0;) {
              const int64_t read = reads[d][static_cast<size_t>(rest % to[d])];
              base = read < 0 || base < 0 ? -1 : base + read;
              rest /= to[d];
            }
            for (int64_t i = 0; i < length; ++i) {
              const int64_t read = reads[rank - 1][static_cast<size_t>(i)];
              out[row * length + i] = base < 0 || read < 0 ? fill : in[base + read];
            }
          }
        });
  });
  return ok();
}

Status center_crop_pad(KernelContext& step) {
  const Dims &from = step.dims(0), &to = step.out_dims(0);
  std::vector<int64_t> start, pad;  // of the part that stays: in the input, and in the output
  Dims kept;
  for (size_t d = 0; d < from.size(); ++d) {
    kept.push_back(std::min(from[d], to[d]));
    start.push_back(from[d] > to[d] ? (from[d] - to[d]) / 2 : 0);
    pad.push_back(to[d] > from[d] ? (to[d] - from[d]) / 2 : 0);
  }
  if (!step.has_output(0)) return ok();
  const Strides in_strides = row_major(from), out_strides = row_major(to);
  int64_t in_base = 0, out_base = 0;
  for (size_t d = 0; d < from.size(); ++d) {
    in_base += start[d] * in_strides[d];
    out_base += pad[d] * out_strides[d];
  }
  const auto reads = strided_offsets(kept, in_strides, in_base),
             writes = strided_offsets(kept, out_strides, out_base);
  with_element_kind(step.input_array(0).kind(), [&]<class T>(T) {
    T* out = step.result<T>(0);
    std::fill_n(out, step.output_array(0).size(), T{});
    for (size_t i = 0; i < reads.size(); ++i) out[writes[i]] = step.data<T>(0)[reads[i]];
  });
  return ok();
}

/// DepthToSpace reads (b, [block, block,] c', h, w) or, in CRD order, (b, c', block, block, h, w).
Status depth_to_space(KernelContext& step) {
  const Dims& d = step.dims(0);
  const int64_t b = int_attr(step, "blocksize", 1), c = d[1] / (b * b), hw = d[2] * d[3];
  const bool crd = step.attr("mode", "DCR") == "CRD";
  const int64_t channel = crd ? b * b * hw : hw, row = (crd ? b : b * c) * hw,
                column = crd ? hw : c * hw;
  take_strided(step, 0, {d[0], c, d[2], b, d[3], b}, {d[1] * hw, channel, d[3], row, 1, column}, 0);
  return ok();
}

/// Writes (b, block, block, c, h, w) or, in CRD order, (b, c, block, block, h, w).
Status space_to_depth(KernelContext& step) {
  const Dims& d = step.dims(0);
  const int64_t b = int_attr(step, "blocksize", 1), hw = d[2] * d[3];
  if (step.attr("mode", "DCR") == "CRD")
    take_strided(step, 0, {d[0], d[1], b, b, d[2] / b, d[3] / b},
                 {d[1] * hw, hw, d[3], 1, b * d[3], b}, 0);
  else
    take_strided(step, 0, {d[0], b, b, d[1], d[2] / b, d[3] / b},
                 {d[1] * hw, d[3], 1, hw, b * d[3], b}, 0);
  return ok();
}

Status reverse_sequence(KernelContext& step) {
  if (!step.has_output(0)) return ok();
  const bool batch_first = int_attr(step, "batch_axis", 1) == 0;
  const Dims& d = step.dims(0);
  const int64_t inner = elements(d, 2, d.size());
  const std::vector<int64_t> lengths = step.integers(1);
  const int64_t steps = batch_first ? d[1] : d[0], batches = batch_first ? d[0] : d[1];
  const auto width = static_cast<size_t>(inner * kind_bytes(step.input_array(0).kind()));
  const auto* in = static_cast<const uint8_t*>(step.input_array(0).raw_data());
  auto* out = static_cast<uint8_t*>(step.output_array(0).raw_data());
  for (int64_t b = 0; b < batches; ++b) {
    const int64_t length = lengths[static_cast<size_t>(b)];
    if (length < 0 || length > steps) return bad_node(step, "a sequence length is out of range");
    for (int64_t t = 0; t < steps; ++t) {
      const int64_t from = t < length ? length - 1 - t : t;
      const auto at = [&](int64_t time) {
        return static_cast<size_t>(batch_first ? b * steps + time : time * batches + b) * width;
      };
      if (width > 0) std::memcpy(out + at(t), in + at(from), width);
    }
  }
  return ok();
}

Status dropout_kernel(KernelContext& step) {
  const bool training = step.opset() >= 12 && step.has_input(2) && step.real_or(2, 0) != 0;
  if (training && step.real_or(1, 0.5) != 0)
    return refuse(step, "training mode drops random elements");
  step.share_output(0, step.input_array(0));
  if (step.has_output(1)) {
    const std::vector<int64_t> ones(static_cast<size_t>(step.input_array(0).size()), 1);
    step.put_output(1, ones);
  }
  return ok();
}

/// What a Constant says by value_string or value_strings.
std::vector<std::string> texts_of(const KernelContext& step) {
  std::vector<std::string> out;
  if (const Attribute* one = step.find_attribute("value_string"))
    if (const auto* text = std::get_if<std::string>(&one->value)) out.push_back(*text);
  if (const Attribute* all = step.find_attribute("value_strings"))
    if (const auto* texts = std::get_if<std::vector<std::string>>(&all->value)) out = *texts;
  return out;
}

/// A tensor that is too large for the graph to hold is read from the file.
Status constant_kernel(KernelContext& step) {
  if (!step.has_output(0)) return ok();
  const Attribute* attribute = step.find_attribute("value");
  if (attribute == nullptr) attribute = step.find_attribute("sparse_value");
  const auto* held = attribute == nullptr
                         ? nullptr
                         : std::get_if<std::shared_ptr<const StoredTensor>>(&attribute->value);
  if (held == nullptr && step.output(0).dtype == DType::string)
    return step.share_output(0, array_of_texts(texts_of(step), step.out_dims(0), step.memory())),
           ok();
  if (held == nullptr || !*held) return by_value_rule(step);
  std::optional<Array> stored = stored_array(step.graph(), **held, step.memory());
  const std::optional<uint64_t> seed = step.state().weight_seed;
  if (!stored && !seed)
    return Error{Errc::invalid,
                 "the file doesn't have its elements; use --weights random:SEED to draw them", ""};
  if (!stored) {
    stored = random_weights(step.graph(), step.node().outputs[0], *seed, step.memory());
    ++step.state().random_weights;
  }
  step.share_output(0, *stored);
  return ok();
}

constexpr KernelRow kMoveKernels[] = {
    {"CenterCropPad", center_crop_pad},
    {"Concat", concat_kernel, kOnnx, true},
    {"Constant", constant_kernel, kOnnx, true},
    {"ConstantOfShape", constant_of_shape},
    {"DepthToSpace", depth_to_space},
    {"Dropout", dropout_kernel},
    {"Expand", expand_kernel, kOnnx, true},
    {"EyeLike", eye_like},
    {"Flatten", share_input, kOnnx, true},
    {"Pad", pad_kernel},
    {"Range", by_value_rule},
    {"Reshape", share_input, kOnnx, true},
    {"ReverseSequence", reverse_sequence, kOnnx, true},
    {"Shape", shape_kernel, kOnnx, true},
    {"Size", size_kernel, kOnnx, true},
    {"Slice", slice_kernel, kOnnx, true},
    {"SpaceToDepth", space_to_depth},
    {"Split", split_kernel, kOnnx, true},
    {"Squeeze", share_input, kOnnx, true},
    {"Tile", tile_kernel, kOnnx, true},
    {"Transpose", transpose_kernel, kOnnx, true},
    {"Trilu", by_value_rule},
    {"Unsqueeze", share_input, kOnnx, true},
};

}  // namespace

std::span<const KernelRow> move_kernels() { return kMoveKernels; }

}  // namespace accsim::sim::ref
