#include "sim/operators/elementwise/elementwise_rules.h"
#include "sim/operators/elementwise/elementwise_values.h"
#include "sim/operators/op_table.h"
#include "sim/operators/rules.h"
#include "sim/operators/work_counts.h"

namespace accsim::sim {
namespace {

using namespace element;

// pointwise_cost<e, s>: e elementwise and s special operations per element, where a multiply-add
// and a compare-select are one operation each. The comments say what they are.
constexpr OpRow kActivationOperators[] = {
    // scale, exp, multiply-add, select
    {.name = "Celu",
     .since = 12,
     .attributes = {"alpha"},
     .pointwise = true,
     .cost = pointwise_cost<3, 1>},
    {.name = "Clip",
     .ports = {{"input"}, {"min"}, {"max"}},
     .min_inputs = 1,
     .attributes = {"max", "min"},
     .pointwise = true,
     .shape = clip_shape,
     .value = clip_value,
     .cost = clip_cost,
     .fusion = Fusion::clip},
    // exp, multiply-add, select
    {.name = "Elu", .attributes = {"alpha"}, .pointwise = true, .cost = pointwise_cost<2, 1>},
    {.name = "Gelu",
     .since = 20,
     .attributes = {"approximate"},
     .pointwise = true,
     .cost = gelu_cost},
    // multiply-add, min, max
    {.name = "HardSigmoid",
     .attributes = {"alpha", "beta"},
     .pointwise = true,
     .cost = pointwise_cost<3>},
    // multiply-add, min, max, multiply
    {.name = "HardSwish", .since = 14, .pointwise = true, .cost = pointwise_cost<4>},
    // multiply, select
    {.name = "LeakyRelu", .attributes = {"alpha"}, .pointwise = true, .cost = pointwise_cost<2>},
    // exp, add 1, log, tanh, multiply
    {.name = "Mish", .since = 18, .pointwise = true, .cost = pointwise_cost<2, 3>},
    // multiply, select
    {.name = "PRelu",
     .ports = {{"X"}, {"slope", PortRole::parameter}},
     .pointwise = true,
     .shape = prelu_shape,
     .value = fold_value<PRelu>,
     .cost = pointwise_cost<2>},
    {.name = "Relu",
     .pointwise = true,
     .value = unary_value<Relu>,
     .cost = pointwise_cost<1>,
     .fusion = Fusion::clip},
    // exp, multiply-add, select, scale
    {.name = "Selu",
     .attributes = {"alpha", "gamma"},
     .pointwise = true,
     .cost = pointwise_cost<3, 1>},
    // two adds, two selects
    {.name = "Shrink",
     .since = 9,
     .attributes = {"bias", "lambd"},
     .pointwise = true,
     .cost = pointwise_cost<4>},
    real_function<sigmoid>({.name = "Sigmoid", .pointwise = true}),
    // exp, add 1, log
    {.name = "Softplus", .pointwise = true, .cost = pointwise_cost<1, 2>},
    // abs, add 1, divide
    {.name = "Softsign", .pointwise = true, .cost = pointwise_cost<2, 1>},
    {.name = "SwiGLU",
     .since = 28,
     .ports = {{"A"}, {"B"}},
     .attributes = {"alpha"},
     .pointwise = true,
     .shape = swiglu_shape,
     .cost = swiglu_cost,
     .affine_ports = kSecondPort,
     .same_operand_types = true},
    {.name = "Swish", .since = 24, .attributes = {"alpha"}, .pointwise = true, .cost = swish_cost},
    real_function<std::tanh>({.name = "Tanh", .pointwise = true}),
    {.name = "ThresholdedRelu",
     .since = 10,
     .attributes = {"alpha"},
     .pointwise = true,
     .cost = pointwise_cost<1>},
};

}  // namespace

std::span<const OpRow> activation_rows() { return kActivationOperators; }

}  // namespace accsim::sim
