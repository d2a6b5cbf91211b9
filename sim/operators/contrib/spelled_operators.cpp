#include <algorithm>
#include <vector>

#include "sim/operators/names.h"
#include "sim/operators/op_table.h"
#include "sim/operators/rules.h"

namespace accsim::sim {
namespace {

/// An operator that others take the place of before anything else is asked of it.
struct Spelled {
  std::string_view domain, name;
  int min_inputs, max_inputs;
};

// By sim/elaborate/fused_forms.cpp.
constexpr Spelled kSpelled[] = {
    {kMicrosoft, "BiasDropout", 2, 5},
    {kMicrosoft, "BiasSoftmax", 2, 2},
    {kMicrosoft, "BitmaskBiasDropout", 2, 5},
    {kMicrosoft, "BitmaskDropout", 1, 3},
    {kMicrosoft, "BranchwiseRMSNorm", 1, 2},
    {kMicrosoft, "CDist", 2, 2},
    {kMicrosoft, "CausalConvWithState", 2, 6},
    {kMicrosoft, "ComplexMul", 2, 2},
    {kMicrosoft, "ComplexMulConj", 2, 2},
    {kMicrosoft, "ConvTransposeWithDynamicPads", 2, 4},
    {kMicrosoft, "DecoderMaskedSelfAttention", 2, 10},
    {kMicrosoft, "EngramGate", 5, 6},
    {kMicrosoft, "ExpandDims", 2, 2},
    {kMicrosoft, "FusedMatMulActivation", 2, 2},
    {kMicrosoft, "GatedAdd", 3, 4},
    {kMicrosoft, "GatedDeltaNet", 1, 11},
    {kMicrosoft, "GatedRMSNorm", 3, 3},
    {kMicrosoft, "GatedRelativePositionBias", 6, 7},
    {kMicrosoft, "GatherND", 2, 2},
    {kMicrosoft, "GemmFastGelu", 2, 3},
    {kMicrosoft, "GemmaRotaryEmbedding", 5, 5},
    {kMicrosoft, "GridSample", 2, 2},
    {kMicrosoft, "HyperConnectionLowRankMix", 5, 7},
    {kMicrosoft, "HyperConnectionPostMix", 3, 4},
    {kMicrosoft, "HyperConnectionPreMix", 2, 2},
    {kMicrosoft, "Irfft", 1, 1},
    {kMicrosoft, "LinearAttention", 3, 6},
    {kMicrosoft, "LinearAttentionGate", 3, 4},
    {kMicrosoft, "MRotaryEmbedding", 4, 4},
    {kMicrosoft, "MatMulBlockQuantizedFp8Weight", 3, 5},
    {kMicrosoft, "MatMulInteger16", 2, 2},
    {kMicrosoft, "MatMulNBitsMlp", 1, 9},
    {kMicrosoft, "MatMulNBitsQLoRA", 7, 7},
    {kMicrosoft, "MatMulNBitsQkv", 1, 12},
    {kMicrosoft, "MulInteger", 1, 4},
    {kMicrosoft, "NhwcConv", 2, 3},
    {kMicrosoft, "NhwcFusedConv", 2, 4},
    {kMicrosoft, "PackedAttention", 2, 6},
    {kMicrosoft, "PackedMultiHeadAttention", 1, 7},
    {kMicrosoft, "Pad", 2, 3},
    {kMicrosoft, "Range", 2, 3},
    {kMicrosoft, "ReduceSumInteger", 1, 1},
    {kMicrosoft, "RelativePositionBias", 3, 3},
    {kMicrosoft, "RestorePadding", 2, 2},
    {kMicrosoft, "Rfft", 1, 1},
    {kMicrosoft, "RouterGateUpProj", 2, 2},
    {kMicrosoft, "SampleOp", 1, 1},
    {kMicrosoft, "ScaledSiLU", 1, 2},
    {kMicrosoft, "SwiGLU", 1, 2},
    {kMicrosoft, "TorchEmbedding", 2, 4},
    {kMicrosoft, "TransposeMatMul", 2, 2},
    {kMicrosoft, "Trilu", 1, 2},
    {kMicrosoft, "UnfoldTensor", 1, 1},
    {kMicrosoft, "Unique", 1, 1},
    {kInternalNhwc, "AveragePool", 1, 1},
    {kInternalNhwc, "BatchNormalization", 5, 5},
    {kInternalNhwc, "Conv", 2, 4},
    {kInternalNhwc, "ConvTranspose", 2, 3},
    {kInternalNhwc, "DepthToSpace", 1, 1},
    {kInternalNhwc, "GlobalAveragePool", 1, 1},
    {kInternalNhwc, "GlobalLpPool", 1, 1},
    {kInternalNhwc, "GlobalMaxPool", 1, 1},
    {kInternalNhwc, "GridSample", 2, 2},
    {kInternalNhwc, "InstanceNormalization", 3, 3},
    {kInternalNhwc, "LRN", 1, 1},
    {kInternalNhwc, "LpPool", 1, 1},
    {kInternalNhwc, "MaxPool", 1, 1},
    {kInternalNhwc, "QLinearAveragePool", 2, 5},
    {kInternalNhwc, "QLinearConv", 8, 9},
    {kInternalNhwc, "QLinearGlobalAveragePool", 2, 5},
    {kInternalNhwc, "Resize", 1, 4},
    {kInternalNhwc, "SpaceToDepth", 1, 1},
    {kNchwc, "AveragePool", 1, 1},
    {kNchwc, "Conv", 2, 4},
    {kNchwc, "GlobalAveragePool", 1, 1},
    {kNchwc, "GlobalMaxPool", 1, 1},
    {kNchwc, "MaxPool", 1, 1},
    {kNchwc, "ReorderInput", 1, 1},
    {kNchwc, "ReorderOutput", 1, 1},
    {kNchwc, "Upsample", 1, 1},
};

/// Stands in spelled-out convolutions, so that costs know their weights.
constexpr OpRow kUnblockWeights{
    .name = "UnblockWeights",
    .domain = kNchwc,
    .fate = Fate::view,
    .shape = same_shape,
    .passes_weights = true,
    .no_kernel = "the file's weights lie in blocks, of a size that it doesn't say"};

std::vector<OpRow> make_rows() {
  std::vector<OpRow> out{kUnblockWeights};
  for (const Spelled& s : kSpelled) {
    OpRow row{};
    row.name = s.name;
    row.domain = s.domain;
    row.max_inputs = s.max_inputs;
    row.min_inputs = s.min_inputs;
    row.control_flow = ControlFlow::spelled;
    out.push_back(row);
  }
  return out;
}

}  // namespace

std::span<const OpRow> spelled_rows() {
  static const std::vector<OpRow> kRows = make_rows();
  return kRows;
}

}  // namespace accsim::sim
