#include "sim/operators/movement/movement_rules.h"
#include "sim/operators/op_table.h"
#include "sim/operators/rules.h"

namespace accsim::sim {
namespace {

constexpr Fate kMemory = Fate::memory;

constexpr OpRow kRows[] = {
    {"CenterCropPad", 18, 2, 2, kMemory, center_crop_pad_shape, nullptr, center_crop_pad_cost},
    {"Col2Im", 18, 3, 3, Fate::vector, col2im_shape, nullptr, col2im_cost},
    {"Compress", 9, 2, 2, kMemory, compress_shape, compress_value, compress_cost},
    {"Concat", 1, 1, kVariadic, kMemory, concat_shape, concat_value, concat_cost},
    {"DepthToSpace", 1, 1, 1, kMemory, depth_to_space_shape, nullptr, block_cost},
    {"Expand", 8, 2, 2, kMemory, expand_shape, expand_value, repeat_cost},
    {"Gather", 1, 2, 2, kMemory, gather_shape, gather_value, gather_cost},
    {"GatherElements", 11, 2, 2, kMemory, gather_elements_shape, gather_elements_value,
     gather_cost},
    {"GatherND", 11, 2, 2, kMemory, gather_nd_shape, gather_nd_value, gather_cost},
    {"NonMaxSuppression", 10, 2, 5, Fate::unsupported, non_max_suppression_shape, nullptr,
     copy_cost},
    {"NonZero", 9, 1, 1, Fate::vector, non_zero_shape, non_zero_value, non_zero_cost},
    {"OneHot", 9, 3, 3, kMemory, one_hot_shape, one_hot_value, one_hot_cost},
    {"Pad", 1, 1, 4, kMemory, pad_shape, pad_value, pad_cost},
    {"ReverseSequence", 10, 2, 2, kMemory, reverse_sequence_shape, nullptr, reverse_sequence_cost},
    // Each output element is written once, from the data or from an update.
    {"Scatter", 9, 3, 3, kMemory, scatter_elements_shape, scatter_elements_value, copy_cost},
    {"ScatterElements", 11, 3, 3, kMemory, scatter_elements_shape, scatter_elements_value,
     copy_cost},
    {"ScatterND", 11, 3, 3, kMemory, scatter_nd_shape, scatter_nd_value, copy_cost},
    {"Slice", 1, 1, 5, kMemory, slice_shape, slice_value, slice_cost},
    {"SpaceToDepth", 1, 1, 1, kMemory, space_to_depth_shape, nullptr, block_cost},
    {"Split", 1, 1, 2, kMemory, split_shape, split_value, split_cost},
    {"TensorScatter", 24, 2, 3, kMemory, tensor_scatter_shape, nullptr, tensor_scatter_cost},
    {"Tile", 1, 2, 2, kMemory, tile_shape, tile_value, repeat_cost},
    {"Transpose", 1, 1, 1, kMemory, transpose_shape, transpose_value, transpose_cost},
    {"Trilu", 14, 1, 2, kMemory, trilu_shape, trilu_value, data_copy_cost},
    {"Unique", 11, 1, 1, Fate::vector, unique_shape, unique_value, unique_cost},
};

}  // namespace

std::span<const OpRow> movement_rows() { return kRows; }

}  // namespace accsim::sim
