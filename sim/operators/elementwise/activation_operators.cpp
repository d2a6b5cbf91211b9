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
     .shape = same_shape,
     .cost = pointwise_cost<3, 1>,
     .pointwise = true},
    {.name = "Clip",
     .ports = {{"input"}, {"min"}, {"max"}},
     .min_inputs = 1,
     .attributes = {"max", "min"},
     .shape = clip_shape,
     .value = clip_value,
     .cost = clip_cost,
     .pointwise = true,
     .fusion = Fusion::clip},
    // exp, multiply-add, select
    {.name = "Elu",
     .attributes = {"alpha"},
     .shape = same_shape,
     .cost = pointwise_cost<2, 1>,
     .pointwise = true},
    {.name = "Gelu",
     .since = 20,
     .attributes = {"approximate"},
     .shape = same_shape,
     .cost = gelu_cost,
     .pointwise = true},
    // multiply-add, min, max
    {.name = "HardSigmoid",
     .attributes = {"alpha", "beta"},
     .shape = same_shape,
     .cost = pointwise_cost<3>,
     .pointwise = true},
    // multiply-add, min, max, multiply
    {.name = "HardSwish",
     .since = 14,
     .shape = same_shape,
     .cost = pointwise_cost<4>,
     .pointwise = true},
    // multiply, select
    {.name = "LeakyRelu",
     .attributes = {"alpha"},
     .shape = same_shape,
     .cost = pointwise_cost<2>,
     .pointwise = true},
    // exp, add 1, log, tanh, multiply
    {.name = "Mish",
     .since = 18,
     .shape = same_shape,
     .cost = pointwise_cost<2, 3>,
     .pointwise = true},
    // multiply, select
    {.name = "PRelu",
     .ports = {{"X"}, {"slope", PortRole::parameter}},
     .shape = prelu_shape,
     .value = fold_value<PRelu>,
     .cost = pointwise_cost<2>,
     .pointwise = true},
    {.name = "Relu",
     .shape = same_shape,
     .value = unary_value<Relu>,
     .cost = pointwise_cost<1>,
     .pointwise = true,
     .fusion = Fusion::clip},
    // exp, multiply-add, select, scale
    {.name = "Selu",
     .attributes = {"alpha", "gamma"},
     .shape = same_shape,
     .cost = pointwise_cost<3, 1>,
     .pointwise = true},
    // two adds, two selects
    {.name = "Shrink",
     .since = 9,
     .attributes = {"bias", "lambd"},
     .shape = same_shape,
     .cost = pointwise_cost<4>,
     .pointwise = true},
    {.name = "Sigmoid",
     .shape = same_shape,
     .value = unary_value<Real<sigmoid>>,
     .cost = pointwise_cost<0, 1>,
     .pointwise = true},
    // exp, add 1, log
    {.name = "Softplus", .shape = same_shape, .cost = pointwise_cost<1, 2>, .pointwise = true},
    // abs, add 1, divide
    {.name = "Softsign", .shape = same_shape, .cost = pointwise_cost<2, 1>, .pointwise = true},
    {.name = "SwiGLU",
     .since = 28,
     .ports = {{"A"}, {"B"}},
     .attributes = {"alpha"},
     .shape = swiglu_shape,
     .cost = swiglu_cost,
     .pointwise = true,
     .affine_ports = kSecondPort,
     .same_operand_types = true},
    {.name = "Swish",
     .since = 24,
     .attributes = {"alpha"},
     .shape = same_shape,
     .cost = swish_cost,
     .pointwise = true},
    {.name = "Tanh",
     .shape = same_shape,
     .value = unary_value<Real<std::tanh>>,
     .cost = pointwise_cost<0, 1>,
     .pointwise = true},
    {.name = "ThresholdedRelu",
     .since = 10,
     .attributes = {"alpha"},
     .shape = same_shape,
     .cost = pointwise_cost<1>,
     .pointwise = true},
};

}  // namespace

std::span<const OpRow> activation_rows() { return kActivationOperators; }

}  // namespace accsim::sim
