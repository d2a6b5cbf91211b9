#pragma once
#include <string_view>

namespace accsim::sim {

inline constexpr std::string_view kMicrosoft = "com.microsoft";
inline constexpr std::string_view kQonnx = "qonnx.custom_op.general";
inline constexpr std::string_view kFinn = "finn.custom_op.general";

/// Operators that the program writes into graphs itself, or that other operators name. Everything
/// else about an operator is asked of its row (op_table.h).
namespace op {
inline constexpr char kAbs[] = "Abs";
inline constexpr char kAdd[] = "Add";
inline constexpr char kAveragePool[] = "AveragePool";
inline constexpr char kBatchNormalization[] = "BatchNormalization";
inline constexpr char kCast[] = "Cast";
inline constexpr char kClip[] = "Clip";
inline constexpr char kConcat[] = "Concat";
inline constexpr char kConv[] = "Conv";
inline constexpr char kDiv[] = "Div";
inline constexpr char kEinsum[] = "Einsum";
inline constexpr char kElu[] = "Elu";
inline constexpr char kErf[] = "Erf";
inline constexpr char kExp[] = "Exp";
inline constexpr char kExpand[] = "Expand";
inline constexpr char kGather[] = "Gather";
inline constexpr char kGemm[] = "Gemm";
inline constexpr char kGlobalAveragePool[] = "GlobalAveragePool";
inline constexpr char kGlobalMaxPool[] = "GlobalMaxPool";
inline constexpr char kHardSigmoid[] = "HardSigmoid";
inline constexpr char kIdentity[] = "Identity";
inline constexpr char kLRN[] = "LRN";
inline constexpr char kLeakyRelu[] = "LeakyRelu";
inline constexpr char kMatMul[] = "MatMul";
inline constexpr char kMax[] = "Max";
inline constexpr char kMaxPool[] = "MaxPool";
inline constexpr char kMin[] = "Min";
inline constexpr char kMul[] = "Mul";
inline constexpr char kNeg[] = "Neg";
inline constexpr char kPad[] = "Pad";
inline constexpr char kPRelu[] = "PRelu";
inline constexpr char kReduceLogSumExp[] = "ReduceLogSumExp";
inline constexpr char kReduceMax[] = "ReduceMax";
inline constexpr char kReduceMean[] = "ReduceMean";
inline constexpr char kReduceMin[] = "ReduceMin";
inline constexpr char kReduceSum[] = "ReduceSum";
inline constexpr char kRelu[] = "Relu";
inline constexpr char kReshape[] = "Reshape";
inline constexpr char kRotaryEmbedding[] = "RotaryEmbedding";
inline constexpr char kSigmoid[] = "Sigmoid";
inline constexpr char kSlice[] = "Slice";
inline constexpr char kSoftmax[] = "Softmax";
inline constexpr char kSoftplus[] = "Softplus";
inline constexpr char kSplit[] = "Split";
inline constexpr char kSqrt[] = "Sqrt";
inline constexpr char kSub[] = "Sub";
inline constexpr char kSum[] = "Sum";
inline constexpr char kTanh[] = "Tanh";
inline constexpr char kTranspose[] = "Transpose";
inline constexpr char kUnsqueeze[] = "Unsqueeze";
inline constexpr char kWhere[] = "Where";
}  // namespace op

}  // namespace accsim::sim
