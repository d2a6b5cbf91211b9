#pragma once
#include <string_view>

namespace accsim::sim {

/// The operators that the packages onnx 1.23.2 (ai.onnx to opset 28) and onnxruntime 1.32.0 (its
/// domains) name: onnx.defs.get_all_schemas_with_history() and get_all_operator_schema().
struct KnownOperators {
  std::string_view domain, names;  ///< names are divided by spaces
};

inline constexpr KnownOperators kKnownOperators[] = {
    {"",
     "Abs Acos Acosh Add AffineGrid And ArgMax ArgMin Asin Asinh Atan Atanh Attention "
     "AveragePool BatchNormalization Bernoulli BitCast BitShift BitwiseAnd BitwiseNot "
     "BitwiseOr BitwiseXor BlackmanWindow Cast CastLike CausalConvWithState Ceil Celu "
     "CenterCropPad Clip Col2Im Compress Concat ConcatFromSequence Constant ConstantOfShape "
     "Conv ConvInteger ConvTranspose Cos Cosh CumProd CumSum DFT DeformConv DepthToSpace "
     "DequantizeLinear Det Div Dropout DynamicQuantizeLinear Einsum Elu Equal Erf Exp Expand "
     "EyeLike Flatten Floor GRU Gather GatherElements GatherND Gelu Gemm GlobalAveragePool "
     "GlobalLpPool GlobalMaxPool Greater GreaterOrEqual GridSample GroupNormalization "
     "HammingWindow HannWindow HardSigmoid HardSwish Hardmax Identity If ImageDecoder "
     "InstanceNormalization IsInf IsNaN LRN LSTM LayerNormalization LeakyRelu Less "
     "LessOrEqual LinearAttention Log LogSoftmax Loop LpNormalization LpPool MatMul "
     "MatMulInteger Max MaxPool MaxRoiPool MaxUnpool Mean MeanVarianceNormalization "
     "MelWeightMatrix Min Mish Mod Mul Multinomial Neg NegativeLogLikelihoodLoss "
     "NonMaxSuppression NonZero Not OneHot Optional OptionalGetElement OptionalHasElement Or "
     "PRelu Pad Pow QLinearConv QLinearMatMul QuantizeLinear RMSNormalization RNN "
     "RandomNormal RandomNormalLike RandomUniform RandomUniformLike Range Reciprocal "
     "ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ReduceMax ReduceMean ReduceMin "
     "ReduceProd ReduceSum ReduceSumSquare RegexFullMatch Relu Reshape Resize "
     "ReverseSequence RoiAlign RotaryEmbedding Round STFT Scan Scatter ScatterElements "
     "ScatterND Selu SequenceAt SequenceConstruct SequenceEmpty SequenceErase SequenceInsert "
     "SequenceLength SequenceMap Shape Shrink Sigmoid Sign Sin Sinh Size Slice Softmax "
     "SoftmaxCrossEntropyLoss Softplus Softsign SpaceToDepth Split SplitToSequence Sqrt "
     "Squeeze StringConcat StringNormalizer StringSplit Sub Sum SwiGLU Swish Tan Tanh "
     "TensorScatter TfIdfVectorizer ThresholdedRelu Tile TopK Transpose Trilu Unique "
     "Unsqueeze Upsample Where Xor"},
    {"ai.onnx.ml",
     "ArrayFeatureExtractor Binarizer CastMap CategoryMapper DictVectorizer "
     "FeatureVectorizer Imputer LabelEncoder LinearClassifier LinearRegressor Normalizer "
     "OneHotEncoder SVMClassifier SVMRegressor Scaler TreeEnsemble TreeEnsembleClassifier "
     "TreeEnsembleRegressor ZipMap"},
    {"ai.onnx.preview", "FlexAttention"},
    {"ai.onnx.preview.training", "Adagrad Adam Gradient Momentum"},
    {"com.microsoft",
     "Attention AttnLSTM BeamSearch BiasAdd BiasDropout BiasGelu BiasSoftmax BiasSplitGelu "
     "BifurcationDetector BitmaskBiasDropout BitmaskDropout BranchwiseRMSNorm CDist "
     "CausalConvWithState ComplexMul ComplexMulConj ConvStateReplay "
     "ConvTransposeWithDynamicPads CropAndResize DecoderAttention "
     "DecoderMaskedMultiHeadAttention DecoderMaskedSelfAttention DequantizeBFP "
     "DequantizeLinear DequantizeWithOrder DynamicQuantizeLSTM DynamicQuantizeMatMul "
     "DynamicSparseAttention DynamicTimeWarping EPContext EmbedLayerNormalization EngramGate "
     "ExpandDims FastGelu FusedConv FusedGemm FusedMatMul FusedMatMulActivation GatedAdd "
     "GatedDeltaNet GatedDeltaNetStateReplay GatedRMSNorm GatedRelativePositionBias "
     "GatherBlockQuantized GatherND GatherPacked Gelu GemmFastGelu GemmFloat8 "
     "GemmaRotaryEmbedding GreedySearch GridSample GroupNorm GroupQueryAttention "
     "HyperConnectionLowRankMix HyperConnectionPostMix HyperConnectionPreMix Inverse Irfft "
     "IsAllFinite LinearAttention LinearAttentionGate LongformerAttention MRotaryEmbedding "
     "Mamba2Verify MatMulBlockQuantizedFp4Weight MatMulBlockQuantizedFp8Weight MatMulBnb4 "
     "MatMulFpQ4 MatMulInteger16 MatMulIntegerToFloat MatMulNBits MatMulNBitsMlp "
     "MatMulNBitsQLoRA MatMulNBitsQkv MatMulPacked MaxpoolWithMask MoE MoEGroupRouter "
     "MoEPacked MulInteger MultiHeadAttention MurmurHash3 NGramHashMapping NGramRepeatBlock "
     "NhwcConv NhwcFusedConv NhwcMaxPool PackedAttention PackedMultiHeadAttention "
     "PackedSparseAttentionIndexer PackedSparseAttentionIndexerMerge Pad PagedAttention "
     "QAttention QEmbedLayerNormalization QGemm QLinearAdd QLinearAveragePool QLinearConcat "
     "QLinearConv QLinearGlobalAveragePool QLinearLeakyRelu QLinearMul QLinearReduceMean "
     "QLinearSigmoid QLinearSoftmax QLinearWhere QMoE QOrderedAttention QOrderedGelu "
     "QOrderedLayerNormalization QOrderedLongformerAttention QOrderedMatMul QuantizeBFP "
     "QuantizeLinear QuantizeWithOrder QuickGelu RMSNormRotary Range ReduceSumInteger "
     "RelativePositionBias RemovePadding RestorePadding Rfft RotaryEmbedding "
     "RouterGateUpProj SampleOp Sampling ScaledSiLU SkipGroupNorm SkipLayerNormalization "
     "SkipSimplifiedLayerNormalization Snpe SparseAttention SparseAttentionIndexer "
     "SparsePagedAttention SparseToDenseMatMul SpeculativePrefixCommit SwiGLU Tokenizer "
     "TorchEmbedding TransposeMatMul Trilu UnfoldTensor Unique VarlenCausalConvWithState "
     "VarlenNGramHashMapping WhisperBeamSearch WordConvEmbedding"},
    {"com.microsoft.nchwc",
     "AveragePool Conv GlobalAveragePool GlobalMaxPool MaxPool ReorderInput ReorderOutput "
     "Upsample"},
    {"com.ms.internal.nhwc",
     "AveragePool BatchNormalization Conv ConvTranspose DepthToSpace GlobalAveragePool "
     "GlobalLpPool GlobalMaxPool GridSample InstanceNormalization LRN LpPool MaxPool "
     "MaxUnpool QLinearAveragePool QLinearConv QLinearConvTranspose Resize SpaceToDepth"},
};

}  // namespace accsim::sim
