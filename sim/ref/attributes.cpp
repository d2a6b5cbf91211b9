#include "sim/ref/attributes.h"

#include <algorithm>

namespace accsim::sim::ref {
namespace {

struct Row {
  std::string_view op, names;
};

/// Attributes of the operators that have a kernel, in any opset from 7 to kNewestOpset; sorted.
constexpr Row kRows[] = {
    {"AffineGrid", "align_corners"},
    {"ArgMax", "axis keepdims select_last_index"},
    {"ArgMin", "axis keepdims select_last_index"},
    {"Attention",
     "is_causal kv_num_heads left_window_size q_num_heads qk_matmul_output_mode "
     "right_window_size scale softcap softmax_precision"},
    {"AveragePool", "auto_pad ceil_mode count_include_pad dilations kernel_shape pads strides"},
    {"BatchNormalization", "epsilon momentum spatial training_mode"},
    {"BitCast", "to"},
    {"BitShift", "direction"},
    {"BlackmanWindow", "output_datatype periodic"},
    {"Cast", "round_mode saturate to"},
    {"CastLike", "round_mode saturate"},
    {"CausalConvWithState", "activation"},
    {"Celu", "alpha"},
    {"CenterCropPad", "axes"},
    {"Clip", "max min"},
    {"Col2Im", "dilations pads strides"},
    {"Compress", "axis"},
    {"Concat", "axis"},
    {"Constant",
     "sparse_value value value_float value_floats value_int value_ints value_string "
     "value_strings"},
    {"ConstantOfShape", "value"},
    {"Conv", "auto_pad dilations group kernel_shape pads strides"},
    {"ConvInteger", "auto_pad dilations group kernel_shape pads strides"},
    {"ConvTranspose",
     "auto_pad dilations group kernel_shape output_padding output_shape pads "
     "strides"},
    {"CumProd", "exclusive reverse"},
    {"CumSum", "exclusive reverse"},
    {"DFT", "axis inverse onesided"},
    {"DeformConv", "dilations group kernel_shape offset_group pads strides"},
    {"DepthToSpace", "blocksize mode"},
    {"DequantizeLinear", "axis block_size output_dtype"},
    {"Dropout", "ratio seed"},
    {"Einsum", "equation"},
    {"Elu", "alpha"},
    {"EyeLike", "dtype k"},
    {"Flatten", "axis"},
    {"GRU",
     "activation_alpha activation_beta activations clip direction hidden_size layout "
     "linear_before_reset"},
    {"Gather", "axis"},
    {"GatherElements", "axis"},
    {"GatherND", "batch_dims"},
    {"Gelu", "approximate"},
    {"Gemm", "alpha beta transA transB"},
    {"GlobalLpPool", "p"},
    {"GridSample", "align_corners mode padding_mode"},
    {"GroupNormalization", "epsilon num_groups stash_type"},
    {"HammingWindow", "output_datatype periodic"},
    {"HannWindow", "output_datatype periodic"},
    {"HardSigmoid", "alpha beta"},
    {"Hardmax", "axis"},
    {"InstanceNormalization", "epsilon"},
    {"IsInf", "detect_negative detect_positive"},
    {"LRN", "alpha beta bias size"},
    {"LSTM",
     "activation_alpha activation_beta activations clip direction hidden_size input_forget "
     "layout"},
    {"LayerNormalization", "axis epsilon stash_type"},
    {"LeakyRelu", "alpha"},
    {"LinearAttention", "chunk_size kv_num_heads q_num_heads scale update_rule"},
    {"LogSoftmax", "axis"},
    {"LpNormalization", "axis p"},
    {"LpPool", "auto_pad ceil_mode dilations kernel_shape p pads strides"},
    {"MaxPool", "auto_pad ceil_mode dilations kernel_shape pads storage_order strides"},
    {"MaxRoiPool", "pooled_shape spatial_scale"},
    {"MaxUnpool", "kernel_shape pads strides"},
    {"MeanVarianceNormalization", "axes"},
    {"MelWeightMatrix", "output_datatype"},
    {"Mod", "fmod"},
    {"NegativeLogLikelihoodLoss", "ignore_index reduction"},
    {"OneHot", "axis"},
    {"Pad", "mode pads value"},
    {"QLinearConv", "auto_pad dilations group kernel_shape pads strides"},
    {"QuantizeLinear", "axis block_size output_dtype precision saturate"},
    {"RMSNormalization", "axis epsilon stash_type"},
    {"RNN", "activation_alpha activation_beta activations clip direction hidden_size layout"},
    {"Range", "stash_type"},
    {"ReduceL1", "axes keepdims noop_with_empty_axes"},
    {"ReduceL2", "axes keepdims noop_with_empty_axes"},
    {"ReduceLogSum", "axes keepdims noop_with_empty_axes"},
    {"ReduceLogSumExp", "axes keepdims noop_with_empty_axes"},
    {"ReduceMax", "axes keepdims noop_with_empty_axes"},
    {"ReduceMean", "axes keepdims noop_with_empty_axes"},
    {"ReduceMin", "axes keepdims noop_with_empty_axes"},
    {"ReduceProd", "axes keepdims noop_with_empty_axes"},
    {"ReduceSum", "axes keepdims noop_with_empty_axes"},
    {"ReduceSumSquare", "axes keepdims noop_with_empty_axes"},
    {"Reshape", "allowzero"},
    {"Resize",
     "antialias axes coordinate_transformation_mode cubic_coeff_a exclude_outside "
     "extrapolation_value keep_aspect_ratio_policy mode nearest_mode"},
    {"ReverseSequence", "batch_axis time_axis"},
    {"RoiAlign",
     "coordinate_transformation_mode mode output_height output_width sampling_ratio "
     "spatial_scale"},
    {"RotaryEmbedding", "interleaved num_heads rotary_embedding_dim"},
    {"STFT", "onesided"},
    {"Scatter", "axis"},
    {"ScatterElements", "axis reduction"},
    {"ScatterND", "reduction"},
    {"Selu", "alpha gamma"},
    {"Shape", "end start"},
    {"Shrink", "bias lambd"},
    {"Slice", "axes ends starts"},
    {"Softmax", "axis"},
    {"SoftmaxCrossEntropyLoss", "ignore_index reduction"},
    {"SpaceToDepth", "blocksize mode"},
    {"Split", "axis num_outputs split"},
    {"Squeeze", "axes"},
    {"Swish", "alpha"},
    {"TensorScatter", "axis mode"},
    {"ThresholdedRelu", "alpha"},
    {"TopK", "axis k largest sorted"},
    {"Transpose", "perm"},
    {"Trilu", "upper"},
    {"Unique", "axis sorted"},
    {"Unsqueeze", "axes"},
    {"Upsample", "mode scales"},
};

static_assert(std::ranges::is_sorted(kRows, {}, &Row::op));

}  // namespace

bool known_attribute(std::string_view op, std::string_view name) {
  const auto row = std::ranges::lower_bound(kRows, op, {}, &Row::op);
  if (row == std::end(kRows) || row->op != op) return false;
  for (std::string_view rest = row->names; !rest.empty();) {
    const size_t end = std::min(rest.find(' '), rest.size());
    if (rest.substr(0, end) == name) return true;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

}  // namespace accsim::sim::ref
