#include <fmt/format.h>

#include <array>

#include "sim/operators/elementwise/elementwise_values.h"
#include "sim/operators/elementwise/random_rules.h"
#include "sim/operators/op_table.h"
#include "sim/operators/rules.h"

namespace accsim::sim {
namespace {

Status same_types(const NodeView& node, size_t first, size_t last) {
  for (size_t i = first + 1; i <= last && i < node.input_count(); ++i)
    if (node.has_input(i) && node.dtype(i) != node.dtype(first))
      return bad_node(node, fmt::format("inputs {} and {} must have one type, not {} and {}", first,
                                        i, name(node.dtype(first)), name(node.dtype(i))));
  return ok();
}

Status arithmetic_shape(InferContext& node) {
  if (Status s = same_types(node, 0, node.input_count()); !s) return s;
  return broadcast_shape(node);
}

Status compare_shape(InferContext& node) {
  if (Status s = same_types(node, 0, 1); !s) return s;
  return broadcast_bool(node);
}

/// The slope broadcasts to the input, not the other way round.
Status prelu_shape(InferContext& node) {
  const Result<Dims> dims = broadcast_inputs(node, 0, 2);
  if (!dims) return dims.errors();
  if (*dims != node.dims(0))
    return bad_node(node, fmt::format("slope of shape {} doesn't broadcast to {}",
                                      to_string(node.dims(1)), to_string(node.dims(0))));
  return same_shape(node);
}

Status clip_shape(InferContext& node) {
  for (size_t i = 1; i < node.input_count(); ++i)
    if (node.has_input(i) && elements(node.dims(i)) != 1)
      return bad_node(node, fmt::format("input {} must be a scalar, not of shape {}", i,
                                        to_string(node.dims(i))));
  return same_shape(node);
}

Status where_shape(InferContext& node) {
  if (node.dtype(0) != DType::boolean) return bad_node(node, "input 0 must be boolean");
  if (Status s = same_types(node, 1, 2); !s) return s;
  Result<Dims> dims = broadcast_inputs(node, 0, 3);
  if (!dims) return dims.errors();
  return set_shape(node, 0, node.dtype(1), std::move(*dims));
}

Status cast_shape(InferContext& node) {
  if (!node.has_attr("to")) return bad_node(node, "attribute 'to' is missing");
  const Result<DType> to = dtype_attr(node, "to", DType::undefined);
  if (!to) return to.errors();
  return set_shape(node, 0, *to, node.dims(0));
}

Status cast_like_shape(InferContext& node) {
  return set_shape(node, 0, node.dtype(1), node.dims(0));
}

Status bit_cast_shape(InferContext& node) {
  if (Status s = cast_shape(node); !s) return s;
  const Result<DType> to = dtype_attr(node, "to", DType::undefined);
  if (bits(*to) != bits(node.dtype(0)))
    return bad_node(node, fmt::format("{} and {} differ in size", name(node.dtype(0)), name(*to)));
  return ok();
}

Status bit_shift_shape(InferContext& node) {
  const std::string direction = node.attr("direction", "");
  if (direction != "LEFT" && direction != "RIGHT")
    return bad_node(node, "attribute 'direction' must be LEFT or RIGHT");
  return arithmetic_shape(node);
}

Status dropout_shape(InferContext& node) {
  if (node.has_input(2)) {
    const Result<std::vector<int64_t>> training =
        need_integers(node, 2, "training_mode", "the output");
    if (!training) return training.errors();
    // Torchvision's Swin leaves the mode on with a ratio of 0, which drops nothing.
    const ConstData* ratio = node.has_input(1) ? node.value(1) : nullptr;
    const bool drops = ratio == nullptr || ratio->size() != 1 || ratio->as_double(0) != 0;
    if (!training->empty() && training->front() != 0 && drops)
      return refused(node, "training_mode is on; export the model for inference");
  }
  if (Status s = same_shape(node); !s) return s;
  // Before opset 10 the mask had the type of the data.
  return set_shape(node, 1, node.opset() < 10 ? node.dtype(0) : DType::boolean, node.dims(0));
}

Result<Work> cast_cost(const NodeView& node) {
  if (node.has_output(0) && node.output(0).dtype == node.dtype(0)) return Work{};
  if (Status s = countable(node); !s) return s.errors();
  VectorOp op;
  read_input(node, 0, op.inputs);  // CastLike's second input only lends its type
  write_output(node, 0, op.outputs);
  op[VectorClass::convert] = output_elements(node);
  return Work{std::move(op)};
}

/// One compare-select per bound that there is.
Result<Work> clip_cost(const NodeView& node) {
  const bool low = node.has_input(1) || node.has_attr("min");
  const bool high = node.has_input(2) || node.has_attr("max");
  return per_element(node, (low ? 1 : 0) + (high ? 1 : 0), 0);
}

/// erf: scale, erf, half, multiply-add. tanh: square, multiply-add, two scales, tanh, half,
/// multiply-add.
Result<Work> gelu_cost(const NodeView& node) {
  return node.attr("approximate", "none") == "tanh" ? per_element(node, 6, 1)
                                                    : per_element(node, 3, 1);
}

Result<Work> swish_cost(const NodeView& node) {
  return per_element(node, real_attr(node, "alpha", 1.0) == 1.0 ? 1 : 2, 1);
}

Result<Work> mean_cost(const NodeView& node) {
  // All the adds, then one scale.
  return node.input_count() > 1 ? per_element(node, static_cast<int64_t>(node.input_count()), 0)
                                : Work{};
}

using namespace element;

constexpr Fate kVector = Fate::vector;

// pointwise_cost<e, s>: e elementwise and s special operations per element, where a multiply-add
// and a compare-select are one operation each. The comments say what they are.
constexpr OpRow kRows[] = {
    {"Abs", 1, 1, 1, kVector, same_shape, unary_value<Abs>, pointwise_cost<1>},
    {"Acos", 7, 1, 1, kVector, same_shape, unary_value<Real<std::acos>>, pointwise_cost<0, 1>},
    {"Acosh", 9, 1, 1, kVector, same_shape, unary_value<Real<std::acosh>>, pointwise_cost<0, 1>},
    {"Add", 1, 2, 2, kVector, arithmetic_shape, fold_value<Add>, variadic_cost},
    {"And", 1, 2, 2, kVector, compare_shape, fold_value<And>, variadic_cost},
    {"Asin", 7, 1, 1, kVector, same_shape, unary_value<Real<std::asin>>, pointwise_cost<0, 1>},
    {"Asinh", 9, 1, 1, kVector, same_shape, unary_value<Real<std::asinh>>, pointwise_cost<0, 1>},
    {"Atan", 7, 1, 1, kVector, same_shape, unary_value<Real<std::atan>>, pointwise_cost<0, 1>},
    {"Atanh", 9, 1, 1, kVector, same_shape, unary_value<Real<std::atanh>>, pointwise_cost<0, 1>},
    {"Bernoulli", 15, 1, 1, kVector, random_like_shape, nullptr, bernoulli_cost},
    {"BitCast", 26, 1, 1, Fate::view, bit_cast_shape, nullptr, nullptr},
    {"BitShift", 11, 2, 2, kVector, bit_shift_shape, bit_shift_value, variadic_cost},
    {"BitwiseAnd", 18, 2, 2, kVector, arithmetic_shape, fold_value<And>, variadic_cost},
    {"BitwiseNot", 18, 1, 1, kVector, same_shape, unary_value<BitwiseNot>, pointwise_cost<1>},
    {"BitwiseOr", 18, 2, 2, kVector, arithmetic_shape, fold_value<Or>, variadic_cost},
    {"BitwiseXor", 18, 2, 2, kVector, arithmetic_shape, fold_value<Xor>, variadic_cost},
    {"Cast", 1, 1, 1, kVector, cast_shape, cast_value, cast_cost},
    {"CastLike", 15, 2, 2, kVector, cast_like_shape, cast_value, cast_cost},
    {"Ceil", 1, 1, 1, kVector, same_shape, unary_value<Real<std::ceil>>, pointwise_cost<1>},
    // scale, exp, multiply-add, select
    {"Celu", 12, 1, 1, kVector, same_shape, nullptr, pointwise_cost<3, 1>},
    {"Clip", 1, 1, 3, kVector, clip_shape, clip_value, clip_cost},
    {"Cos", 7, 1, 1, kVector, same_shape, unary_value<Real<std::cos>>, pointwise_cost<0, 1>},
    {"Cosh", 9, 1, 1, kVector, same_shape, unary_value<Real<std::cosh>>, pointwise_cost<0, 1>},
    {"Div", 1, 2, 2, kVector, arithmetic_shape, fold_value<Div>, pointwise_cost<0, 1>},
    {"Dropout", 1, 1, 3, Fate::view, dropout_shape, dropout_value, nullptr},
    // exp, multiply-add, select
    {"Elu", 1, 1, 1, kVector, same_shape, nullptr, pointwise_cost<2, 1>},
    {"Equal", 1, 2, 2, kVector, compare_shape, compare_value<Equal>, variadic_cost},
    {"Erf", 9, 1, 1, kVector, same_shape, unary_value<Real<std::erf>>, pointwise_cost<0, 1>},
    {"Exp", 1, 1, 1, kVector, same_shape, unary_value<Real<std::exp>>, pointwise_cost<0, 1>},
    {"Floor", 1, 1, 1, kVector, same_shape, unary_value<Real<std::floor>>, pointwise_cost<1>},
    {"Gelu", 20, 1, 1, kVector, same_shape, nullptr, gelu_cost},
    {"Greater", 1, 2, 2, kVector, compare_shape, compare_value<Greater>, variadic_cost},
    {"GreaterOrEqual", 12, 2, 2, kVector, compare_shape, compare_value<GreaterOrEqual>,
     variadic_cost},
    // multiply-add, min, max
    {"HardSigmoid", 1, 1, 1, kVector, same_shape, nullptr, pointwise_cost<3>},
    // multiply-add, min, max, multiply
    {"HardSwish", 14, 1, 1, kVector, same_shape, nullptr, pointwise_cost<4>},
    {"Identity", 1, 1, 1, Fate::view, same_shape, pass_value, nullptr},
    {"IsInf", 10, 1, 1, kVector, same_shape_bool, float_test_value, pointwise_cost<1>},
    {"IsNaN", 9, 1, 1, kVector, same_shape_bool, float_test_value, pointwise_cost<1>},
    // multiply, select
    {"LeakyRelu", 1, 1, 1, kVector, same_shape, nullptr, pointwise_cost<2>},
    {"Less", 1, 2, 2, kVector, compare_shape, compare_value<Less>, variadic_cost},
    {"LessOrEqual", 12, 2, 2, kVector, compare_shape, compare_value<LessOrEqual>, variadic_cost},
    {"Log", 1, 1, 1, kVector, same_shape, unary_value<Real<std::log>>, pointwise_cost<0, 1>},
    {"Max", 1, 1, kVariadic, kVector, arithmetic_shape, fold_value<Max>, variadic_cost},
    {"Mean", 1, 1, kVariadic, kVector, arithmetic_shape, mean_value, mean_cost},
    {"Min", 1, 1, kVariadic, kVector, arithmetic_shape, fold_value<Min>, variadic_cost},
    // exp, add 1, log, tanh, multiply
    {"Mish", 18, 1, 1, kVector, same_shape, nullptr, pointwise_cost<2, 3>},
    // divide, floor, multiply-subtract
    {"Mod", 10, 2, 2, kVector, arithmetic_shape, mod_value, pointwise_cost<2, 1>},
    {"Mul", 1, 2, 2, kVector, arithmetic_shape, fold_value<Mul>, variadic_cost},
    {"Multinomial", 7, 1, 1, kVector, multinomial_shape, nullptr, multinomial_cost},
    {"Neg", 1, 1, 1, kVector, same_shape, unary_value<Neg>, pointwise_cost<1>},
    {"Not", 1, 1, 1, kVector, same_shape_bool, unary_value<Not>, pointwise_cost<1>},
    {"Or", 1, 2, 2, kVector, compare_shape, fold_value<Or>, variadic_cost},
    // multiply, select
    {"PRelu", 1, 2, 2, kVector, prelu_shape, fold_value<PRelu>, pointwise_cost<2>, "1"},
    {"Pow", 1, 2, 2, kVector, broadcast_shape, pow_value, pointwise_cost<0, 1>},
    {"RandomNormal", 1, 0, 0, kVector, random_shape, nullptr, random_cost},
    {"RandomNormalLike", 1, 1, 1, kVector, random_like_shape, nullptr, random_cost},
    {"RandomUniform", 1, 0, 0, kVector, random_shape, nullptr, random_cost},
    {"RandomUniformLike", 1, 1, 1, kVector, random_like_shape, nullptr, random_cost},
    {"Reciprocal", 1, 1, 1, kVector, same_shape, unary_value<Real<reciprocal>>,
     pointwise_cost<0, 1>},
    {"Relu", 1, 1, 1, kVector, same_shape, unary_value<Relu>, pointwise_cost<1>},
    {"Round", 11, 1, 1, kVector, same_shape, unary_value<Real<round_even>>, pointwise_cost<1>},
    // exp, multiply-add, select, scale
    {"Selu", 1, 1, 1, kVector, same_shape, nullptr, pointwise_cost<3, 1>},
    // two adds, two selects
    {"Shrink", 9, 1, 1, kVector, same_shape, nullptr, pointwise_cost<4>},
    {"Sigmoid", 1, 1, 1, kVector, same_shape, unary_value<Real<sigmoid>>, pointwise_cost<0, 1>},
    {"Sign", 9, 1, 1, kVector, same_shape, unary_value<Sign>, pointwise_cost<1>},
    {"Sin", 7, 1, 1, kVector, same_shape, unary_value<Real<std::sin>>, pointwise_cost<0, 1>},
    {"Sinh", 9, 1, 1, kVector, same_shape, unary_value<Real<std::sinh>>, pointwise_cost<0, 1>},
    // exp, add 1, log
    {"Softplus", 1, 1, 1, kVector, same_shape, nullptr, pointwise_cost<1, 2>},
    // abs, add 1, divide
    {"Softsign", 1, 1, 1, kVector, same_shape, nullptr, pointwise_cost<2, 1>},
    {"Sqrt", 1, 1, 1, kVector, same_shape, unary_value<Real<std::sqrt>>, pointwise_cost<0, 1>},
    {"Sub", 1, 2, 2, kVector, arithmetic_shape, fold_value<Sub>, variadic_cost},
    {"Sum", 1, 1, kVariadic, kVector, arithmetic_shape, fold_value<Add>, variadic_cost},
    {"Swish", 24, 1, 1, kVector, same_shape, nullptr, swish_cost},
    {"Tan", 7, 1, 1, kVector, same_shape, unary_value<Real<std::tan>>, pointwise_cost<0, 1>},
    {"Tanh", 1, 1, 1, kVector, same_shape, unary_value<Real<std::tanh>>, pointwise_cost<0, 1>},
    {"ThresholdedRelu", 10, 1, 1, kVector, same_shape, nullptr, pointwise_cost<1>},
    {"Where", 9, 3, 3, kVector, where_shape, where_value, pointwise_cost<1>},
    {"Xor", 1, 2, 2, kVector, compare_shape, fold_value<Xor>, variadic_cost},
};

}  // namespace

std::span<const OpRow> elementwise_rows() { return kRows; }

}  // namespace accsim::sim
