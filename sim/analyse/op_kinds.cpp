#include "sim/analyse/op_kinds.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "sim/operators/op_table.h"

namespace accsim::sim {
namespace {

using Names = std::span<const std::string_view>;

bool contains(Names names, std::string_view wanted) {
  return std::find(names.begin(), names.end(), wanted) != names.end();
}

constexpr std::array<std::string_view, 11> kNormalizations = {
    "BatchNormalization",     "InstanceNormalization",
    "LayerNormalization",     "GroupNormalization",
    "RMSNormalization",       "SimplifiedLayerNormalization",
    "LpNormalization",        "MeanVarianceNormalization",
    "SkipLayerNormalization", "SkipSimplifiedLayerNormalization",
    "EmbedLayerNormalization"};
constexpr std::array<std::string_view, 9> kPoolings = {"MaxPool",
                                                       "AveragePool",
                                                       "LpPool",
                                                       "GlobalAveragePool",
                                                       "GlobalMaxPool",
                                                       "GlobalLpPool",
                                                       "QLinearAveragePool",
                                                       "QLinearGlobalAveragePool",
                                                       "NhwcMaxPool"};
/// Activations that have rows outside of the elementwise family.
constexpr std::array<std::string_view, 12> kOtherElementwise = {
    "Softmax",    "LogSoftmax",     "Hardmax",          "Gelu",
    "BiasGelu",   "FastGelu",       "QuickGelu",        "QLinearAdd",
    "QLinearMul", "QLinearSigmoid", "QLinearLeakyRelu", "QLinearSoftmax"};
/// Rows of the elementwise family that make, convert or draw values: no arithmetic on elements.
constexpr std::array<std::string_view, 11> kNoArithmetic = {
    "Cast",          "CastLike",          "BitCast",      "Identity",
    "Dropout",       "Bernoulli",         "RandomNormal", "RandomNormalLike",
    "RandomUniform", "RandomUniformLike", "Multinomial"};

bool has_elementwise_row(const Node& node) {
  const OpRow* row = find_op(node.domain, node.op_type);
  const auto rows = elementwise_rows();
  return row && std::any_of(rows.begin(), rows.end(), [row](const OpRow& r) {
           return r.name == row->name && r.domain == row->domain;
         });
}

}  // namespace

OpKind kind_of(const Node& node) {
  if (!find_op(node.domain, node.op_type)) return OpKind::other;  // a namesake in another domain
  if (contains(kNormalizations, node.op_type)) return OpKind::normalization;
  if (contains(kPoolings, node.op_type)) return OpKind::pooling;
  if (contains(kOtherElementwise, node.op_type)) return OpKind::elementwise;
  if (contains(kNoArithmetic, node.op_type)) return OpKind::other;
  return has_elementwise_row(node) ? OpKind::elementwise : OpKind::other;
}

bool works_in_place(const Node& node) {
  const bool known = find_op(node.domain, node.op_type) != nullptr;
  return (known && (node.op_type == "BatchNormalization" || node.op_type == "Cast")) ||
         (kind_of(node) == OpKind::elementwise && has_elementwise_row(node));
}

int shift_port(const Node& node) {
  if (!find_op(node.domain, node.op_type)) return -1;
  struct Row {
    std::string_view op;
    int port;
  };
  constexpr std::array<Row, 8> kRows = {{{"BatchNormalization", 2},
                                         {"InstanceNormalization", 2},
                                         {"LayerNormalization", 2},
                                         {"GroupNormalization", 2},
                                         {"SkipLayerNormalization", 3},
                                         {"LSTM", 3},
                                         {"GRU", 3},
                                         {"RNN", 3}}};
  for (const Row& row : kRows)
    if (row.op == node.op_type) return row.port;
  return -1;
}

std::string op_label(const Node& node) {
  const bool own = node.domain.empty() || node.domain == "ai.onnx";
  return own ? node.op_type : node.domain + "." + node.op_type;
}

}  // namespace accsim::sim
