#pragma once
#include <string_view>

namespace accsim::sim {

inline constexpr std::string_view kMicrosoft = "com.microsoft";
inline constexpr std::string_view kNchwc = "com.microsoft.nchwc";
inline constexpr std::string_view kInternalNhwc = "com.ms.internal.nhwc";
inline constexpr std::string_view kQonnx = "qonnx.custom_op.general";
inline constexpr std::string_view kFinn = "finn.custom_op.general";

/// Operators that the program writes into graphs itself, or that other operators name. Everything
/// else about an operator is asked of its row (op_table.h).
namespace op {
inline constexpr char kAbs[] = "Abs";
inline constexpr char kAdd[] = "Add";
inline constexpr char kAnd[] = "And";
inline constexpr char kAttention[] = "Attention";
inline constexpr char kAveragePool[] = "AveragePool";
inline constexpr char kBatchNormalization[] = "BatchNormalization";
inline constexpr char kCast[] = "Cast";
inline constexpr char kClip[] = "Clip";
inline constexpr char kConcat[] = "Concat";
inline constexpr char kConvTranspose[] = "ConvTranspose";
inline constexpr char kConv[] = "Conv";
inline constexpr char kCumSum[] = "CumSum";
inline constexpr char kDepthToSpace[] = "DepthToSpace";
inline constexpr char kDiv[] = "Div";
inline constexpr char kEinsum[] = "Einsum";
inline constexpr char kElu[] = "Elu";
inline constexpr char kEqual[] = "Equal";
inline constexpr char kErf[] = "Erf";
inline constexpr char kExp[] = "Exp";
inline constexpr char kExpand[] = "Expand";
inline constexpr char kGatherND[] = "GatherND";
inline constexpr char kGather[] = "Gather";
inline constexpr char kGatherElements[] = "GatherElements";
inline constexpr char kGemm[] = "Gemm";
inline constexpr char kGlobalAveragePool[] = "GlobalAveragePool";
inline constexpr char kGlobalMaxPool[] = "GlobalMaxPool";
inline constexpr char kGreater[] = "Greater";
inline constexpr char kGreaterOrEqual[] = "GreaterOrEqual";
inline constexpr char kGroupQueryAttention[] = "GroupQueryAttention";
inline constexpr char kGRU[] = "GRU";
inline constexpr char kHardSigmoid[] = "HardSigmoid";
inline constexpr char kIdentity[] = "Identity";
inline constexpr char kLRN[] = "LRN";
inline constexpr char kLeakyRelu[] = "LeakyRelu";
inline constexpr char kLessOrEqual[] = "LessOrEqual";
inline constexpr char kLess[] = "Less";
inline constexpr char kLogSoftmax[] = "LogSoftmax";
inline constexpr char kLog[] = "Log";
inline constexpr char kLpNormalization[] = "LpNormalization";
inline constexpr char kLSTM[] = "LSTM";
inline constexpr char kMatMul[] = "MatMul";
inline constexpr char kMaxPool[] = "MaxPool";
inline constexpr char kMax[] = "Max";
inline constexpr char kMin[] = "Min";
inline constexpr char kMul[] = "Mul";
inline constexpr char kMultiHeadAttention[] = "MultiHeadAttention";
inline constexpr char kNeg[] = "Neg";
inline constexpr char kOneHot[] = "OneHot";
inline constexpr char kPRelu[] = "PRelu";
inline constexpr char kPad[] = "Pad";
inline constexpr char kPow[] = "Pow";
inline constexpr char kRMSNormalization[] = "RMSNormalization";
inline constexpr char kReciprocal[] = "Reciprocal";
inline constexpr char kReduceL1[] = "ReduceL1";
inline constexpr char kReduceL2[] = "ReduceL2";
inline constexpr char kReduceLogSumExp[] = "ReduceLogSumExp";
inline constexpr char kReduceLogSum[] = "ReduceLogSum";
inline constexpr char kReduceMax[] = "ReduceMax";
inline constexpr char kReduceMean[] = "ReduceMean";
inline constexpr char kReduceMin[] = "ReduceMin";
inline constexpr char kReduceSumSquare[] = "ReduceSumSquare";
inline constexpr char kReduceSum[] = "ReduceSum";
inline constexpr char kRelu[] = "Relu";
inline constexpr char kReshape[] = "Reshape";
inline constexpr char kResize[] = "Resize";
inline constexpr char kRNN[] = "RNN";
inline constexpr char kRotaryEmbedding[] = "RotaryEmbedding";
inline constexpr char kScatterElements[] = "ScatterElements";
inline constexpr char kScatterND[] = "ScatterND";
inline constexpr char kSigmoid[] = "Sigmoid";
inline constexpr char kSlice[] = "Slice";
inline constexpr char kSoftmax[] = "Softmax";
inline constexpr char kSoftplus[] = "Softplus";
inline constexpr char kSplit[] = "Split";
inline constexpr char kSqrt[] = "Sqrt";
inline constexpr char kSub[] = "Sub";
inline constexpr char kSum[] = "Sum";
inline constexpr char kTanh[] = "Tanh";
inline constexpr char kTensorScatter[] = "TensorScatter";
inline constexpr char kTile[] = "Tile";
inline constexpr char kTopK[] = "TopK";
inline constexpr char kTranspose[] = "Transpose";
inline constexpr char kTrilu[] = "Trilu";
inline constexpr char kUnsqueeze[] = "Unsqueeze";
inline constexpr char kUpsample[] = "Upsample";
inline constexpr char kWhere[] = "Where";
}  // namespace op

}  // namespace accsim::sim
