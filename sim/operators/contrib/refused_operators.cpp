#include <algorithm>

#include "sim/operators/names.h"
#include "sim/operators/op_table.h"

namespace accsim::sim {
namespace {

constexpr std::string_view kSearch =
    "a search for tokens over a decoder that it holds as a subgraph: a run decides how often "
    "that runs";
constexpr std::string_view kOneStep =
    "export the decoder for one step and cost that, prefill and decode apart";
constexpr std::string_view kServing =
    "a serving runtime's form of attention, with pages or packed sequences whose lengths only "
    "a run knows";
constexpr std::string_view kOneCache = "export GroupQueryAttention with a cache that lies together";
constexpr std::string_view kSpeculation =
    "a speculative decoder's bookkeeping: a run decides how many tokens it keeps";
constexpr std::string_view kNoSpeculation = "export the step without speculation";
constexpr std::string_view kOrder =
    "integers in an order of cuBLASLt: where a number lies is the GPU's own";
constexpr std::string_view kQuantise = "quantise with QuantizeLinear and DequantizeLinear instead";
constexpr std::string_view kTexts = "work on texts, which no machine here has";
constexpr std::string_view kBefore = "run it before the network, and feed what it gives";
constexpr std::string_view kTraining = "a step of training";
constexpr std::string_view kInference = "export the network for inference";
constexpr std::string_view kClassical =
    "classical machine learning: no tensor work of an accelerator";
constexpr std::string_view kHost = "run it on the host, and cost the network without it";
constexpr std::string_view kPicked = "attention to keys that a run picks, or the picking";
constexpr std::string_view kWindow =
    "export GroupQueryAttention with local_window_size for as many keys";
constexpr std::string_view kCompiled =
    "a part of the network compiled for one device, of which the file has only the bytes";
constexpr std::string_view kBeforeCompiled = "cost the file before it was compiled";
constexpr std::string_view kHashes =
    "work on the numbers of tokens, not on tensors: hashes and n-grams";
constexpr std::string_view kBlocks = "block floating point, whose blocks only a runtime knows";
constexpr std::string_view kBeforeRewritten = "cost the file before a runtime rewrote it";

constexpr RefusedOp kRefused[] = {
    {"", "ImageDecoder", "a picture's file format",
     "decode it before the network, and feed the pixels"},
    {"", "RegexFullMatch", kTexts, kBefore},
    {"", "StringConcat", kTexts, kBefore},
    {"", "StringNormalizer", kTexts, kBefore},
    {"", "StringSplit", kTexts, kBefore},
    {"", "TfIdfVectorizer", kTexts, kBefore},
    {"ai.onnx.ml", "ArrayFeatureExtractor", kClassical, kHost},
    {"ai.onnx.ml", "Binarizer", kClassical, kHost},
    {"ai.onnx.ml", "CastMap", kClassical, kHost},
    {"ai.onnx.ml", "CategoryMapper", kClassical, kHost},
    {"ai.onnx.ml", "DictVectorizer", kClassical, kHost},
    {"ai.onnx.ml", "FeatureVectorizer", kClassical, kHost},
    {"ai.onnx.ml", "Imputer", kClassical, kHost},
    {"ai.onnx.ml", "LabelEncoder", kClassical, kHost},
    {"ai.onnx.ml", "LinearClassifier", kClassical, kHost},
    {"ai.onnx.ml", "LinearRegressor", kClassical, kHost},
    {"ai.onnx.ml", "Normalizer", kClassical, kHost},
    {"ai.onnx.ml", "OneHotEncoder", kClassical, kHost},
    {"ai.onnx.ml", "SVMClassifier", kClassical, kHost},
    {"ai.onnx.ml", "SVMRegressor", kClassical, kHost},
    {"ai.onnx.ml", "Scaler", kClassical, kHost},
    {"ai.onnx.ml", "TreeEnsemble", kClassical, kHost},
    {"ai.onnx.ml", "TreeEnsembleClassifier", kClassical, kHost},
    {"ai.onnx.ml", "TreeEnsembleRegressor", kClassical, kHost},
    {"ai.onnx.ml", "ZipMap", kClassical, kHost},
    {"ai.onnx.preview", "FlexAttention", "attention whose score function is a subgraph of its own",
     "export Attention, with the function as its mask"},
    {"ai.onnx.preview.training", "Adagrad", kTraining, kInference},
    {"ai.onnx.preview.training", "Adam", kTraining, kInference},
    {"ai.onnx.preview.training", "Gradient", kTraining, kInference},
    {"ai.onnx.preview.training", "Momentum", kTraining, kInference},
    {kMicrosoft, "AttnLSTM", "an LSTM whose every step attends to a memory",
     "export LSTM and Attention apart"},
    {kMicrosoft, "BeamSearch", kSearch, kOneStep},
    {kMicrosoft, "BifurcationDetector", kSpeculation, kNoSpeculation},
    {kMicrosoft, "ConvStateReplay", kSpeculation, kNoSpeculation},
    {kMicrosoft, "CropAndResize",
     "boxes cut out of images and resized, by positions that a run decides",
     "write it as RoiAlign"},
    {kMicrosoft, "DecoderAttention", "attention whose kind and caches four flags of a run decide",
     "export MultiHeadAttention"},
    {kMicrosoft, "DequantizeBFP", kBlocks, kQuantise},
    {kMicrosoft, "DequantizeWithOrder", kOrder, kQuantise},
    {kMicrosoft, "DynamicSparseAttention", kPicked, kWindow},
    {kMicrosoft, "DynamicTimeWarping", "a shortest path through a matrix of costs, step by step",
     kHost},
    {kMicrosoft, "EPContext", kCompiled, kBeforeCompiled},
    {kMicrosoft, "GatedDeltaNetStateReplay", kSpeculation, kNoSpeculation},
    {kMicrosoft, "GatherPacked",
     "rows of a table in a packed form that only its runtime's contract describes",
     "export GatherBlockQuantized"},
    {kMicrosoft, "GemmFloat8",
     "a product of 8-bit floats with scales that join in the GPU's own product",
     "export DequantizeLinear and Gemm"},
    {kMicrosoft, "GreedySearch", kSearch, kOneStep},
    {kMicrosoft, "Inverse",
     "the inverse of matrices, by elimination with pivots that a run decides", kHost},
    {kMicrosoft, "IsAllFinite", "a step of training: is every gradient finite?", kInference},
    {kMicrosoft, "LongformerAttention", "attention to a window and to tokens that a run flags",
     "export GroupQueryAttention with local_window_size"},
    {kMicrosoft, "Mamba2Verify", kSpeculation, kNoSpeculation},
    {kMicrosoft, "MatMulPacked",
     "a product with weights in a packed form that only its runtime's contract describes",
     "export MatMulNBits"},
    {kMicrosoft, "MaxpoolWithMask", "maxima of windows where a mask allows them",
     "export Where and MaxPool"},
    {kMicrosoft, "MoEGroupRouter", "a router that picks groups of experts, then experts",
     "export it as Sigmoid, TopK and Where, before MoE or QMoE"},
    {kMicrosoft, "MoEPacked",
     "experts with weights in a packed form that only its runtime's contract describes",
     "export MoE or QMoE"},
    {kMicrosoft, "MurmurHash3", kHashes, kHost},
    {kMicrosoft, "NGramHashMapping", kHashes, kHost},
    {kMicrosoft, "NGramRepeatBlock", kHashes, kHost},
    {kMicrosoft, "PackedSparseAttentionIndexer", kPicked, kWindow},
    {kMicrosoft, "PackedSparseAttentionIndexerMerge", kPicked, kWindow},
    {kMicrosoft, "PagedAttention", kServing, kOneCache},
    {kMicrosoft, "QOrderedAttention", kOrder, kQuantise},
    {kMicrosoft, "QOrderedGelu", kOrder, kQuantise},
    {kMicrosoft, "QOrderedLayerNormalization", kOrder, kQuantise},
    {kMicrosoft, "QOrderedLongformerAttention", kOrder, kQuantise},
    {kMicrosoft, "QOrderedMatMul", kOrder, kQuantise},
    {kMicrosoft, "QuantizeBFP", kBlocks, kQuantise},
    {kMicrosoft, "QuantizeWithOrder", kOrder, kQuantise},
    {kMicrosoft, "RMSNormRotary",
     "RMSNormalization of a slice, then a rotary embedding, rounded as one GPU kernel does",
     "export Slice, RMSNormalization and RotaryEmbedding"},
    {kMicrosoft, "RemovePadding", "tokens without those of padding: a run decides how many",
     "export the padded network"},
    {kMicrosoft, "Sampling", kSearch, kOneStep},
    {kMicrosoft, "Snpe", kCompiled, kBeforeCompiled},
    {kMicrosoft, "SparseAttention", "attention to the blocks of keys that a table names",
     "export GroupQueryAttention, with local_window_size where the table is a window"},
    {kMicrosoft, "SparseAttentionIndexer", kPicked, kWindow},
    {kMicrosoft, "SparsePagedAttention", kServing, kOneCache},
    {kMicrosoft, "SparseToDenseMatMul", "a product with a sparse tensor as operand",
     "export the operand dense"},
    {kMicrosoft, "SpeculativePrefixCommit", kSpeculation, kNoSpeculation},
    {kMicrosoft, "Tokenizer", kTexts, kBefore},
    {kMicrosoft, "VarlenCausalConvWithState",
     "a causal convolution of packed sequences whose lengths only a run knows",
     "export CausalConvWithState of one batch"},
    {kMicrosoft, "VarlenNGramHashMapping", kHashes, kHost},
    {kMicrosoft, "WhisperBeamSearch", kSearch, kOneStep},
    {kMicrosoft, "WordConvEmbedding", "embeddings of words, letter by letter", kBefore},
    {kInternalNhwc, "MaxUnpool", "maxima put back to places that count channels last",
     kBeforeRewritten},
    {kInternalNhwc, "QLinearConvTranspose",
     "a transposed convolution of integers, which ai.onnx hasn't got", kBeforeRewritten},
};

}  // namespace

std::span<const RefusedOp> refused_ops() { return kRefused; }

const RefusedOp* find_refused(std::string_view domain, std::string_view name) {
  if (domain == "ai.onnx") domain = "";
  const auto* const at = std::ranges::find_if(
      kRefused, [&](const RefusedOp& r) { return r.name == name && r.domain == domain; });
  return at == std::end(kRefused) ? nullptr : at;
}

}  // namespace accsim::sim
