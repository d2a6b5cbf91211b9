#include <functional>

#include "sim/operators/elementwise/elementwise_rules.h"
#include "sim/operators/elementwise/elementwise_values.h"
#include "sim/operators/op_table.h"
#include "sim/operators/rules.h"
#include "sim/operators/work_counts.h"

namespace accsim::sim {
namespace {

using namespace element;

// Truths and bits: comparisons, tests, their combinations and what is chosen by them.
constexpr OpRow kLogicOperators[] = {
    two_operands(compare_shape, {.name = "And", .pointwise = true, .value = fold_value<And>}),
    {.name = "BitShift",
     .since = 11,
     .ports = {{"X"}, {"Y"}},
     .attributes = {"direction"},
     .pointwise = true,
     .shape = bit_shift_shape,
     .value = bit_shift_value,
     .cost = variadic_cost},
    two_operands(arithmetic_shape,
                 {.name = "BitwiseAnd", .since = 18, .pointwise = true, .value = fold_value<And>}),
    {.name = "BitwiseNot",
     .since = 18,
     .pointwise = true,
     .value = unary_value<BitwiseNot>,
     .cost = pointwise_cost<1>},
    two_operands(arithmetic_shape,
                 {.name = "BitwiseOr", .since = 18, .pointwise = true, .value = fold_value<Or>}),
    two_operands(arithmetic_shape,
                 {.name = "BitwiseXor", .since = 18, .pointwise = true, .value = fold_value<Xor>}),
    two_operands(compare_shape, {.name = "Equal",
                                 .pointwise = true,
                                 .value = compare_value<std::equal_to<>>,
                                 .lane = LaneRule::equal}),
    two_operands(compare_shape,
                 {.name = "Greater", .pointwise = true, .value = compare_value<std::greater<>>}),
    two_operands(compare_shape, {.name = "GreaterOrEqual",
                                 .since = 12,
                                 .pointwise = true,
                                 .value = compare_value<std::greater_equal<>>}),
    {.name = "IsInf",
     .since = 10,
     .attributes = {"detect_negative", "detect_positive"},
     .pointwise = true,
     .shape = same_shape_bool,
     .value = is_inf_value,
     .cost = pointwise_cost<1>},
    {.name = "IsNaN",
     .since = 9,
     .pointwise = true,
     .shape = same_shape_bool,
     .value = is_nan_value,
     .cost = pointwise_cost<1>},
    two_operands(compare_shape,
                 {.name = "Less", .pointwise = true, .value = compare_value<std::less<>>}),
    two_operands(compare_shape, {.name = "LessOrEqual",
                                 .since = 12,
                                 .pointwise = true,
                                 .value = compare_value<std::less_equal<>>}),
    {.name = "Not",
     .pointwise = true,
     .shape = same_shape_bool,
     .value = unary_value<Not>,
     .cost = pointwise_cost<1>},
    two_operands(compare_shape, {.name = "Or", .pointwise = true, .value = fold_value<Or>}),
    {.name = "Where",
     .since = 9,
     .ports = {{"condition"}, {"X"}, {"Y"}},
     .pointwise = true,
     .shape = where_shape,
     .value = where_value,
     .cost = pointwise_cost<1>,
     .algebra = Algebra::select},
    two_operands(compare_shape, {.name = "Xor", .pointwise = true, .value = fold_value<Xor>}),
};

}  // namespace

std::span<const OpRow> logic_rows() { return kLogicOperators; }

}  // namespace accsim::sim
