#pragma once
#include "sim/operators/node_view.h"
#include "sim/operators/rules.h"
#include "sim/work/work.h"

namespace accsim::sim {

/// Rules of the operators that move elements, by file.

// slice_rules.cpp: boxes cut out of a tensor.
/// Slice: the box of sliced_box().
Status slice_shape(InferContext& node);
/// The elements of the box.
Status slice_value(InferContext& node);
/// The box read in contiguous pieces and written; nothing when it is the whole input.
Result<Work> slice_cost(const NodeView& node);
/// Split: an output a box of split_boxes().
Status split_shape(InferContext& node);
/// The elements of each box.
Status split_value(InferContext& node);
/// The wanted boxes read in the smallest of their contiguous pieces and written; nothing for a
/// single box.
Result<Work> split_cost(const NodeView& node);

// layout_rules.cpp: every element goes to another place, or to several.
/// Concat: the inputs' dims, added along the axis; all other dims must agree.
Status concat_shape(InferContext& node);
/// The inputs' elements, joined.
Status concat_value(InferContext& node);
/// Every input read, the output written in the smallest input's pieces; nothing for a single
/// input.
Result<Work> concat_cost(const NodeView& node);
/// Transpose: dims permuted.
Status transpose_shape(InferContext& node);
/// The elements in the order of the permuted axes.
Status transpose_value(InferContext& node);
/// A copy in the pieces that stay contiguous; nothing when only axes of one element move.
Result<Work> transpose_cost(const NodeView& node);
/// That of input 0 with its axes in the order `perm`, a permutation of them.
Result<Work> permuted_work(const NodeView& node, std::vector<int64_t> perm);
/// Expand: input 0 broadcast with the shape of input 1, which must be known.
Status expand_shape(InferContext& node);
/// The elements, repeated.
Status expand_value(InferContext& node);
/// Tile: each dim times its repeats, which must be known.
Status tile_shape(InferContext& node);
/// The elements, repeated.
Status tile_value(InferContext& node);
/// Expand and Tile: input read, output written; nothing when nothing is repeated.
Result<Work> repeat_cost(const NodeView& node);
Result<Work> expand_cost(const NodeView& node);
/// DepthToSpace: N x C / b^2 x H b x W b for blocksize b.
Status depth_to_space_shape(InferContext& node);
/// SpaceToDepth: N x C b^2 x H / b x W / b for blocksize b, which must divide.
Status space_to_depth_shape(InferContext& node);
/// DepthToSpace and SpaceToDepth: a copy, element by element on the input's side; nothing for
/// blocks of 1.
Result<Work> block_cost(const NodeView& node);
/// ReverseSequence: output as input 0; axes 0 and 1 are time and batch, either way.
Status reverse_sequence_shape(InferContext& node);
/// A copy in pieces of what lies behind the first two axes.
Result<Work> reverse_sequence_cost(const NodeView& node);
/// Trilu: output as input 0, of rank 2 or more.
Status trilu_shape(InferContext& node);
/// The upper or lower triangle, zero elsewhere; diagonal k must be known.
Status trilu_value(InferContext& node);
/// Reads input 0 only, writes every wanted output.
Result<Work> data_copy_cost(const NodeView& node);

// pad_rules.cpp: elements added around a tensor.
/// Pad: each dim plus what padding_of() says.
Status pad_shape(InferContext& node);
/// The elements by mode: a constant, the edge, reflected or wrapped.
Status pad_value(InferContext& node);
/// What is kept is read, the output written; nothing when nothing is added or removed.
Result<Work> pad_cost(const NodeView& node);
/// CenterCropPad: the dims named by axes become those of input 1, which must be known.
Status center_crop_pad_shape(InferContext& node);
/// What is kept is read line by line, the output written; nothing when the shape stays.
Result<Work> center_crop_pad_cost(const NodeView& node);

// gather_rules.cpp: elements picked by index.
/// Gather: the indices' dims in place of the axis.
Status gather_shape(InferContext& node);
/// The slices at the indices, negative ones from the end.
Status gather_value(InferContext& node);
/// GatherElements: the indices' dims; they have the rank of input 0.
Status gather_elements_shape(InferContext& node);
/// One element an index.
Status gather_elements_value(InferContext& node);
/// GatherND: the index tuples' dims but the last, then what a tuple leaves of input 0.
Status gather_nd_shape(InferContext& node);
/// The slice at each tuple.
Status gather_nd_value(InferContext& node);
/// Gather: the picked slices and the indices read, the output written.
Result<Work> gather_cost(const NodeView& node);
/// GatherElements: as Gather, in single elements.
Result<Work> gather_elements_cost(const NodeView& node);
/// GatherND: as Gather, in the slices that a tuple leaves.
Result<Work> gather_nd_cost(const NodeView& node);
/// Compress: so many slices along the axis as the condition, which must be known, has true
/// elements.
Status compress_shape(InferContext& node);
/// The slices where the condition is true.
Status compress_value(InferContext& node);
/// The slices that are kept, read and written.
Result<Work> compress_cost(const NodeView& node);

// scatter_rules.cpp: elements replaced by index.
/// ScatterElements: output as input 0; indices and updates are of one shape and of its rank.
Status scatter_elements_shape(InferContext& node);
/// Input 0 with one element an index replaced, or combined by attribute reduction.
Status scatter_elements_value(InferContext& node);
/// ScatterND: output as input 0; updates have the shape that the index tuples ask for.
Status scatter_nd_shape(InferContext& node);
/// Input 0 with the slice at each tuple replaced, or combined by attribute reduction.
Status scatter_nd_value(InferContext& node);
/// Every output element written once, from the data or from an update. With a reduction the data
/// are copied, and each update then reads the element that it is combined with, by one elementwise
/// operation, and writes it.
Result<Work> scatter_elements_cost(const NodeView& node);
/// The same, in the slices that a tuple leaves.
Result<Work> scatter_nd_cost(const NodeView& node);
/// Single elements, or slices along which an index that is expanded stays the same.
std::optional<Update> scatter_elements_update(const NodeView& node);
/// The slices that a tuple leaves.
std::optional<Update> scatter_nd_update(const NodeView& node);
/// TensorScatter: output as the cache, input 0; updates differ from it in the axis only.
Status tensor_scatter_shape(InferContext& node);
/// The update read and written into the cache, which stays in its place.
Result<Work> tensor_scatter_cost(const NodeView& node);
/// Rows one behind the other along the axis.
std::optional<Update> tensor_scatter_update(const NodeView& node);
/// OneHot: the indices' dims with `depth`, which must be known, inserted at the axis; in the
/// type of the values.
Status one_hot_shape(InferContext& node);
/// The off value everywhere but at each index.
Status one_hot_value(InferContext& node);
/// Indices read, output written.
Result<Work> one_hot_cost(const NodeView& node);

// col2im_rules.cpp
/// Col2Im: N x C x image_shape; blocks must be as many as the window has places.
Status col2im_shape(InferContext& node);
/// One addition an input element.
Result<Work> col2im_cost(const NodeView& node);

// reduction/search_rules.cpp: results whose shape depends on values.
/// NonZero: rank x count, int64; of an input that isn't known the count is assumed.
Status non_zero_shape(InferContext& node);
/// The indices of the elements that aren't 0, in row-major order.
Status non_zero_value(InferContext& node);
/// One comparison an element.
Result<Work> non_zero_cost(const NodeView& node);
/// Unique: the distinct elements (or slices along an axis) with first indices, inverse indices
/// and counts; of an input that isn't known their number is assumed.
Status unique_shape(InferContext& node);
/// The four outputs, sorted or in order of appearance.
Status unique_value(InferContext& node);
/// A sort: log2(count) comparisons an element, rounded up.
Result<Work> unique_cost(const NodeView& node);
/// NonMaxSuppression: so many boxes x 3 as are assumed to be selected; at most
/// max_output_boxes_per_class of each batch entry and class.
Status non_max_suppression_shape(InferContext& node);
/// For each batch entry and class: a comparison per box with the threshold, a sort, and the overlap
/// of every box with each selected one. An overlap is the intersection's sides and area (9
/// operations), two sums and a product of areas, and a comparison.
Result<Work> non_max_suppression_cost(const NodeView& node);

}  // namespace accsim::sim
