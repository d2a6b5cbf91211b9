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
     .kind = OpKind::elementwise,
     .in_place = true},
    {.name = "Clip",
     .max_inputs = 3,
     .ports = {{"input"}, {"min"}, {"max"}},
     .attributes = {"max", "min"},
     .shape = clip_shape,
     .value = clip_value,
     .cost = clip_cost,
     .kind = OpKind::elementwise,
     .in_place = true,
     .fusion = Fusion::clip},
    // exp, multiply-add, select
    {.name = "Elu",
     .attributes = {"alpha"},
     .shape = same_shape,
     .cost = pointwise_cost<2, 1>,
     .kind = OpKind::elementwise,
     .in_place = true},
    {.name = "Gelu",
     .since = 20,
     .attributes = {"approximate"},
     .shape = same_shape,
     .cost = gelu_cost,
     .kind = OpKind::elementwise,
     .in_place = true},
    // multiply-add, min, max
    {.name = "HardSigmoid",
     .attributes = {"alpha", "beta"},
     .shape = same_shape,
     .cost = pointwise_cost<3>,
     .kind = OpKind::elementwise,
     .in_place = true},
    // multiply-add, min, max, multiply
    {.name = "HardSwish",
     .since = 14,
     .shape = same_shape,
     .cost = pointwise_cost<4>,
     .kind = OpKind::elementwise,
     .in_place = true},
    // multiply, select
    {.name = "LeakyRelu",
     .attributes = {"alpha"},
     .shape = same_shape,
     .cost = pointwise_cost<2>,
     .kind = OpKind::elementwise,
     .in_place = true},
    // exp, add 1, log, tanh, multiply
    {.name = "Mish",
     .since = 18,
     .shape = same_shape,
     .cost = pointwise_cost<2, 3>,
     .kind = OpKind::elementwise,
     .in_place = true},
    // multiply, select
    {.name = "PRelu",
     .min_inputs = 2,
     .max_inputs = 2,
     .ports = {{"X"}, {"slope", PortRole::parameter}},
     .shape = prelu_shape,
     .value = fold_value<PRelu>,
     .cost = pointwise_cost<2>,
     .kind = OpKind::elementwise,
     .in_place = true},
    {.name = "Relu",
     .shape = same_shape,
     .value = unary_value<Relu>,
     .cost = pointwise_cost<1>,
     .kind = OpKind::elementwise,
     .in_place = true,
     .fusion = Fusion::clip},
    // exp, multiply-add, select, scale
    {.name = "Selu",
     .attributes = {"alpha", "gamma"},
     .shape = same_shape,
     .cost = pointwise_cost<3, 1>,
     .kind = OpKind::elementwise,
     .in_place = true},
    // two adds, two selects
    {.name = "Shrink",
     .since = 9,
     .attributes = {"bias", "lambd"},
     .shape = same_shape,
     .cost = pointwise_cost<4>,
     .kind = OpKind::elementwise,
     .in_place = true},
    {.name = "Sigmoid",
     .shape = same_shape,
     .value = unary_value<Real<sigmoid>>,
     .cost = pointwise_cost<0, 1>,
     .kind = OpKind::elementwise,
     .in_place = true},
    // exp, add 1, log
    {.name = "Softplus",
     .shape = same_shape,
     .cost = pointwise_cost<1, 2>,
     .kind = OpKind::elementwise,
     .in_place = true},
    // abs, add 1, divide
    {.name = "Softsign",
     .shape = same_shape,
     .cost = pointwise_cost<2, 1>,
     .kind = OpKind::elementwise,
     .in_place = true},
    {.name = "Swish",
     .since = 24,
     .attributes = {"alpha"},
     .shape = same_shape,
     .cost = swish_cost,
     .kind = OpKind::elementwise,
     .in_place = true},
    {.name = "Tanh",
     .shape = same_shape,
     .value = unary_value<Real<std::tanh>>,
     .cost = pointwise_cost<0, 1>,
     .kind = OpKind::elementwise,
     .in_place = true},
    {.name = "ThresholdedRelu",
     .since = 10,
     .attributes = {"alpha"},
     .shape = same_shape,
     .cost = pointwise_cost<1>,
     .kind = OpKind::elementwise,
     .in_place = true},
};

}  // namespace

std::span<const OpRow> activation_rows() { return kActivationOperators; }

}  // namespace accsim::sim
