#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "sim/operators/fold.h"
#include "sim/operators/movement/box_rules.h"
#include "sim/operators/movement/movement_rules.h"
#include "sim/operators/rules.h"
#include "sim/operators/work_counts.h"

namespace accsim::sim {
namespace {

Result<int64_t> concat_axis(const NodeView& node) {
  if (!node.has_attr("axis") && node.opset() >= 4)
    return bad_node(node, "attribute 'axis' is missing");
  return axis_attr(node, 1, node.rank(0));
}

Result<Dims> tiled_dims(const NodeView& node) {
  const Result<std::vector<int64_t>> repeats =
      need_integers(node, 1, "repeats", "the output shape");
  if (!repeats) return repeats.errors();
  Dims dims = node.dims(0);
  if (repeats->size() != dims.size())
    return bad_node(node,
                    fmt::format("{} repeats are given for rank {}", repeats->size(), dims.size()));
  for (size_t i = 0; i < dims.size(); ++i) {
    const std::optional<int64_t> size = size_product(dims[i], (*repeats)[i]);
    if (!size) return bad_node(node, "the output has too many elements");
    dims[i] = *size;
  }
  return dims;
}

Result<int64_t> block_size(const NodeView& node) {
  if (Status s = want_rank(node, 0, 4); !s) return s.errors();
  const int64_t block = int_attr(node, "blocksize", 0);
  if (block < 1 || block > (int64_t{1} << 30))
    return bad_node(node, fmt::format("blocksize is {}", block));
  return block;
}

/// Diagonal that Trilu starts from.
Result<int64_t> trilu_diagonal(const NodeView& node) {
  if (!node.has_input(1)) return 0;
  const Result<std::vector<int64_t>> k = need_integers(node, 1, "k", "the output");
  if (!k) return k.errors();
  if (k->size() != 1) return bad_node(node, "input 'k' must be a scalar");
  return k->front();
}

}  // namespace

Result<std::vector<int64_t>> permutation_of(const NodeView& node) {
  const size_t rank = node.dims(0).size();
  std::vector<int64_t> reversed(rank);
  std::iota(reversed.rbegin(), reversed.rend(), 0);
  std::vector<int64_t> perm = node.attr("perm", reversed);
  std::vector<int64_t> sorted = perm;
  std::ranges::sort(sorted);
  std::ranges::reverse(reversed);
  if (sorted != reversed)
    return bad_node(node, fmt::format("perm is no permutation of the {} axes", rank));
  return perm;
}

Status concat_shape(InferContext& node) {
  const Result<int64_t> axis = concat_axis(node);
  if (!axis) return axis.errors();
  Dims dims = node.dims(0);
  const auto a = static_cast<size_t>(*axis);
  for (size_t i = 1; i < node.input_count(); ++i) {
    if (!node.has_input(i)) return bad_node(node, fmt::format("input {} is missing", i));
    Dims other = node.dims(i);
    const std::optional<int64_t> sum =
        other.size() == dims.size() ? size_sum(dims[a], other[a]) : std::nullopt;
    if (sum) other[a] = dims[a] = *sum;
    if (!sum || other != dims)
      return bad_node(node, fmt::format("input {} of shape {} doesn't fit input 0 of shape {} "
                                        "along axis {}",
                                        i, to_string(node.dims(i)), to_string(node.dims(0)), a));
    if (node.dtype(i) != node.dtype(0))
      return bad_node(node, fmt::format("input {} is {}, input 0 is {}", i, name(node.dtype(i)),
                                        name(node.dtype(0))));
  }
  return set_shape(node, 0, node.dtype(0), std::move(dims));
}

Status concat_value(InferContext& node) {
  if (!can_fold(node)) return ok();
  const Result<int64_t> axis = concat_axis(node);
  if (!axis) return axis.errors();
  const auto join = [&]<class T>(T, auto values_of) {
    std::vector<T> joined;
    const int64_t outer = lines_along(node.output(0).dims, *axis).outer;
    for (int64_t o = 0; o < outer; ++o)
      for (size_t i = 0; i < node.input_count(); ++i) {
        const std::vector<T>& from = values_of(*node.value(i));
        const Lines l = lines_along(node.dims(i), *axis);
        joined.insert(joined.end(), from.begin() + l.offset_of(o, 0, 0),
                      from.begin() + l.offset_of(o + 1, 0, 0));
      }
    node.set_value(0, std::move(joined));
  };
  if (is_float(node.dtype(0)))
    join(double{}, [](const ConstData& d) -> const std::vector<double>& { return d.reals(); });
  else
    join(int64_t{}, [](const ConstData& d) -> const std::vector<int64_t>& { return d.integers(); });
  return ok();
}

/// Each input is a box of the output, behind the one before along the axis.
Result<Work> concat_cost(const NodeView& node) {
  if (Status s = check_countable(node); !s) return s.errors();
  if (node.input_count() == 1) return Work{};
  const Result<int64_t> axis = concat_axis(node);
  if (!axis) return axis.errors();
  if (!node.has_output(0)) return Work{};
  const Strides out = row_major(node.in_order(node.output(0).dims));
  const auto along = static_cast<size_t>(node.place_of(*axis));
  Work work;
  int64_t to = 0;
  for (size_t i = 0; i < node.input_count(); ++i) {
    const Dims dims = node.in_order(node.dims(i));
    if (elements(dims) > 0)
      work.push_back(box_move(box_axes(dims, row_major(dims), out), static_cast<int>(i), 0, 0, to));
    to += dims[along] * out[along];
  }
  return work;
}

Status transpose_shape(InferContext& node) {
  const Result<std::vector<int64_t>> perm = permutation_of(node);
  if (!perm) return perm.errors();
  Dims dims;
  for (const int64_t axis : *perm) dims.push_back(node.dims(0)[static_cast<size_t>(axis)]);
  return set_shape(node, 0, node.dtype(0), std::move(dims));
}

Status transpose_value(InferContext& node) {
  if (!can_fold(node)) return ok();
  const Result<std::vector<int64_t>> perm = permutation_of(node);
  if (!perm) return perm.errors();
  const Strides from = row_major(node.dims(0));
  Strides strides;
  for (const int64_t axis : *perm) strides.push_back(from[static_cast<size_t>(axis)]);
  take_elements(node, 0, 0, strided_offsets(node.output(0).dims, strides));
  return ok();
}

Result<Work> transpose_cost(const NodeView& node) {
  const Result<std::vector<int64_t>> perm = permutation_of(node);
  if (!perm) return perm.errors();
  return permuted_work(node, *perm);
}

Result<Work> permuted_work(const NodeView& node, std::vector<int64_t> perm) {
  if (Status s = check_countable(node); !s) return s.errors();
  const Dims& dims = node.dims(0);
  std::erase_if(perm, [&](int64_t axis) { return dims[static_cast<size_t>(axis)] == 1; });
  if (std::ranges::is_sorted(perm)) return Work{};  // only axes of one element move
  MemoryOp op = memory_op(node);
  if (op.outputs.empty()) return Work{};
  const Strides from = row_major(dims);
  std::vector<MoveAxis> axes;
  for (const int64_t axis : perm)
    axes.push_back({dims[static_cast<size_t>(axis)], from[static_cast<size_t>(axis)]});
  set_axes(op, joined_axes(axes));
  return Work{std::move(op)};
}

Status expand_shape(InferContext& node) {
  const Result<std::vector<int64_t>> shape = need_integers(node, 1, "shape", "the output shape");
  if (!shape) return shape.errors();
  std::optional<Dims> dims = broadcast_dims(node.dims(0), *shape);
  if (!dims)
    return bad_node(node, fmt::format("shape {} doesn't broadcast with {}", to_string(node.dims(0)),
                                      to_string(*shape)));
  return set_shape(node, 0, node.dtype(0), std::move(*dims));
}

Status expand_value(InferContext& node) {
  if (!can_fold(node)) return ok();
  const Dims& dims = node.output(0).dims;
  take_elements(node, 0, 0, strided_offsets(dims, broadcast_strides(node.dims(0), dims)));
  return ok();
}

Status tile_shape(InferContext& node) {
  Result<Dims> dims = tiled_dims(node);
  if (!dims) return dims.errors();
  return set_shape(node, 0, node.dtype(0), std::move(*dims));
}

Status tile_value(InferContext& node) {
  if (!can_fold(node)) return ok();
  // Index i of the output is (repeat, i modulo the dim): two axes, the first standing still.
  const Dims& dims = node.dims(0);
  const Strides from = row_major(dims);
  Dims split;
  Strides strides;
  for (size_t i = 0; i < dims.size(); ++i) {
    split.insert(split.end(), {dims[i] == 0 ? 0 : node.output(0).dims[i] / dims[i], dims[i]});
    strides.insert(strides.end(), {0, from[i]});
  }
  take_elements(node, 0, 0, strided_offsets(split, strides));
  return ok();
}

Result<Work> repeat_cost(const NodeView& node) {
  if (node.has_output(0) && output_size(node, 0) == elements(node.dims(0))) return Work{};
  return data_copy_cost(node);
}

/// The input stands still along the axes that repeat it. Where that is the innermost one, single
/// elements would move: then only what is read and written is said.
Result<Work> expand_cost(const NodeView& node) {
  Result<Work> whole = repeat_cost(node);
  if (!whole || whole->empty() || std::get<MemoryOp>((*whole)[0]).outputs.empty()) return whole;
  const Dims to = node.in_order(node.output(0).dims);
  Dims from = node.dims(0);
  from.insert(from.begin(), to.size() - from.size(), 1);
  from = node.in_order(from);
  const Strides in = broadcast_strides(from, to);
  bool alone = true;
  for (size_t i = 0; i < to.size(); ++i)
    if (to[i] > 1) alone = in[i] == 0;
  if (alone) return whole;
  return Work{box_move(box_axes(to, in, row_major(to)), 0, 0, 0, 0)};
}

Result<Work> data_copy_cost(const NodeView& node) {
  if (Status s = check_countable(node); !s) return s.errors();
  MemoryOp op;
  for (size_t i = 0; i < node.output_count(); ++i) write_output(node, i, op.outputs);
  if (!op.outputs.empty()) read_input(node, 0, op.inputs);
  return Work{std::move(op)};
}

namespace {

Status check_order(const NodeView& node) {
  const std::string mode = node.attr("mode", "DCR");
  if (mode == "DCR" || mode == "CRD") return ok();
  return bad_node(node, fmt::format("attribute 'mode' is '{}', not DCR or CRD", mode));
}

}  // namespace

Status depth_to_space_shape(InferContext& node) {
  const Result<int64_t> block = block_size(node);
  if (!block) return block.errors();
  if (Status s = check_order(node); !s) return s;
  const Dims& dims = node.dims(0);
  const int64_t b = *block;
  if (dims[1] % (b * b) != 0)
    return bad_node(
        node, fmt::format("{} channels aren't a multiple of blocksize^2 = {}", dims[1], b * b));
  const std::optional<int64_t> height = size_product(dims[2], b), width = size_product(dims[3], b);
  if (!height || !width) return bad_node(node, "the output has too many elements");
  return set_shape(node, 0, node.dtype(0), {dims[0], dims[1] / (b * b), *height, *width});
}

Status space_to_depth_shape(InferContext& node) {
  const Result<int64_t> block = block_size(node);
  if (!block) return block.errors();
  if (Status s = check_order(node); !s) return s;
  const Dims& dims = node.dims(0);
  const int64_t b = *block;
  if (dims[2] % b != 0 || dims[3] % b != 0)
    return bad_node(node,
                    fmt::format("{}x{} isn't a multiple of blocksize {}", dims[2], dims[3], b));
  const std::optional<int64_t> channels = size_product(dims[1], b * b);
  if (!channels) return bad_node(node, "the output has too many elements");
  return set_shape(node, 0, node.dtype(0), {dims[0], *channels, dims[2] / b, dims[3] / b});
}

namespace {

struct Blocks {
  int64_t images, channels, height, width, side;  ///< of the image, and of a block
};

/// The move from a channels-last tensor to another, `to_space` from blocks to the image or back.
/// In the channels of a block its lines and columns come first, with `columns_last` (CRD) the
/// image's channels.
std::vector<MoveAxis> block_axes(const Blocks& b, bool to_space, bool columns_last) {
  const int64_t blocks = b.width / b.side, image = b.height * b.width * b.channels;
  if (to_space) {
    const int64_t block = b.side * b.side * b.channels;
    const int64_t column = columns_last ? 1 : b.channels;
    return {{b.images, image},         {b.height / b.side, blocks * block},
            {b.side, b.side * column}, {blocks, block},
            {b.side, column},          {b.channels, columns_last ? b.side * b.side : 1}};
  }
  const int64_t line = b.width * b.channels;
  std::vector<MoveAxis> axes{{b.images, image},
                             {b.height / b.side, b.side * line},
                             {blocks, b.side * b.channels},
                             {b.side, line},
                             {b.side, b.channels},
                             {b.channels, 1}};
  if (columns_last) std::rotate(axes.begin() + 3, axes.begin() + 5, axes.end());
  return axes;
}

}  // namespace

/// Of tensors as their dims say: neighbours in the output are from different channels or a block
/// apart, so single elements.
Result<Work> block_cost(const NodeView& node) {
  if (Status s = check_countable(node); !s) return s.errors();
  const int64_t side = int_attr(node, "blocksize", 1);
  if (side == 1) return Work{};
  MemoryOp op;
  read_part(node, 0, output_size(node, 0), 1, op.inputs);
  write_output(node, 0, op.outputs);
  if (node.axis_order().empty() || op.outputs.empty()) return Work{std::move(op)};
  const bool to_space = node.output(0).dims[2] > node.dims(0)[2];
  const Dims& image = to_space ? node.output(0).dims : node.dims(0);
  const bool columns_last = node.attr("mode", "DCR") == "CRD";
  set_axes(op, joined_axes(block_axes({image[0], image[1], image[2], image[3], side}, to_space,
                                      columns_last)));
  return Work{std::move(op)};
}

Status reverse_sequence_shape(InferContext& node) {
  if (Status s = want_rank_from(node, 0, 2); !s) return s;
  const int64_t batch = int_attr(node, "batch_axis", 1), time = int_attr(node, "time_axis", 0);
  if (batch + time != 1 || batch * time != 0)
    return bad_node(node, "batch_axis and time_axis must be 0 and 1 or 1 and 0");
  if (node.dims(1) != Dims{node.dims(0)[static_cast<size_t>(batch)]})
    return bad_node(node, "sequence_lens must have one length per batch entry");
  return same_shape(node);
}

Result<Work> reverse_sequence_cost(const NodeView& node) {
  if (Status s = check_countable(node); !s) return s.errors();
  const Dims& dims = node.dims(0);
  MemoryOp op;
  read_part(node, 0, output_size(node, 0), elements(dims, 2, dims.size()), op.inputs);
  read_input(node, 1, op.inputs);
  write_output(node, 0, op.outputs);
  return Work{std::move(op)};
}

Status trilu_shape(InferContext& node) {
  if (Status s = want_rank_from(node, 0, 2); !s) return s;
  return same_shape(node);
}

Status trilu_value(InferContext& node) {
  if (!can_fold(node)) return ok();
  const Result<int64_t> k = trilu_diagonal(node);
  if (!k) return k.errors();
  const bool upper = int_attr(node, "upper", 1) != 0;
  const Dims& dims = node.dims(0);
  const int64_t columns = dims[dims.size() - 1], rows = dims[dims.size() - 2];
  std::vector<int64_t> at(node.value(0)->size());
  for (size_t n = 0; n < at.size(); ++n) {
    const auto i = static_cast<int64_t>(n);
    const int64_t distance = i % columns - i / columns % rows;
    at[n] = (upper ? distance >= *k : distance <= *k) ? i : -1;
  }
  take_elements(node, 0, 0, at);
  return ok();
}

}  // namespace accsim::sim
