#include "sim/operators/norm/row_rules.h"
#include "sim/operators/op_table.h"
#include "sim/operators/reduction/reduction_rules.h"

namespace accsim::sim {
namespace {

/// A row of Reduce*, but for what it makes of the elements.
constexpr OpRow reduced_axes(OpRow row) {
  row.ports = {{"data"}, {"axes", PortRole::setting}};
  row.max_inputs = 2;
  row.attributes = {"axes", "keepdims", "noop_with_empty_axes"};
  row.shape = reduce_shape;
  row.lie = LayoutRule::reduced;
  return row;
}

constexpr OpRow kReductionOperators[] = {
    {.name = "ArgMax",
     .attributes = {"axis", "keepdims", "select_last_index"},
     .shape = arg_shape,
     .value = arg_max_value,
     .cost = arg_cost,
     .lie = LayoutRule::reduced},
    {.name = "ArgMin",
     .attributes = {"axis", "keepdims", "select_last_index"},
     .shape = arg_shape,
     .value = arg_min_value,
     .cost = arg_cost,
     .lie = LayoutRule::reduced},
    {.name = "CumProd",
     .since = 26,
     .ports = {{"x"}, {"axis", PortRole::setting}},
     .attributes = {"exclusive", "reverse"},
     .shape = cumulative_shape,
     .value = cumulative_product_value,
     .cost = cumulative_cost,
     .lie = LayoutRule::by_axes},
    {.name = "CumSum",
     .since = 11,
     .ports = {{"x"}, {"axis", PortRole::setting}},
     .attributes = {"exclusive", "reverse"},
     .shape = cumulative_shape,
     .value = cumulative_sum_value,
     .cost = cumulative_cost,
     .lie = LayoutRule::by_axes},
    {.name = "Det", .since = 11, .shape = det_shape, .cost = det_cost},
    {.name = "Hardmax",
     .attributes = {"axis"},
     .shape = softmax_shape,
     .cost = hardmax_cost,
     .kind = OpKind::elementwise,
     .lie = LayoutRule::softmax},
    {.name = "LogSoftmax",
     .attributes = {"axis"},
     .shape = softmax_shape,
     .cost = softmax_cost,
     .kind = OpKind::elementwise,
     .lie = LayoutRule::softmax},
    // absolute values
    reduced_axes({.name = "ReduceL1",
                  .value = reduce_value<Reduction::magnitudes>,
                  .cost = reduce_cost<ReduceCounts{.element_ops = 1}>}),
    // squares; their root
    reduced_axes({.name = "ReduceL2",
                  .cost = reduce_cost<ReduceCounts{.element_ops = 1, .result_special = 1}>}),
    // logarithm
    reduced_axes({.name = "ReduceLogSum", .cost = reduce_cost<ReduceCounts{.result_special = 1}>}),
    // less the largest, exponential; logarithm, plus the largest
    reduced_axes({.name = "ReduceLogSumExp",
                  .cost = reduce_cost<ReduceCounts{.element_ops = 1,
                                                   .element_special = 1,
                                                   .result_ops = 1,
                                                   .result_special = 1,
                                                   .passes = 2}>}),
    reduced_axes({.name = "ReduceMax",
                  .value = reduce_value<Reduction::largest>,
                  .cost = reduce_cost<ReduceCounts{}>,
                  .lane = LaneRule::reduce_max}),
    // scaling
    reduced_axes({.name = "ReduceMean",
                  .value = reduce_value<Reduction::mean>,
                  .cost = reduce_cost<ReduceCounts{.result_ops = 1}>,
                  .algebra = Algebra::mean,
                  .lane = LaneRule::reduce_mean}),
    reduced_axes({.name = "ReduceMin",
                  .value = reduce_value<Reduction::smallest>,
                  .cost = reduce_cost<ReduceCounts{}>,
                  .lane = LaneRule::reduce_min}),
    reduced_axes({.name = "ReduceProd",
                  .value = reduce_value<Reduction::product>,
                  .cost = reduce_cost<ReduceCounts{}>}),
    reduced_axes({.name = "ReduceSum",
                  .value = reduce_value<Reduction::sum>,
                  .cost = reduce_cost<ReduceCounts{}>,
                  .lane = LaneRule::reduce_sum}),
    // squares
    reduced_axes({.name = "ReduceSumSquare",
                  .value = reduce_value<Reduction::squares>,
                  .cost = reduce_cost<ReduceCounts{.element_ops = 1}>}),
    {.name = "Softmax",
     .attributes = {"axis"},
     .shape = softmax_shape,
     .cost = softmax_cost,
     .rows = softmax_rows,
     .kind = OpKind::elementwise,
     .algebra = Algebra::softmax,
     .lie = LayoutRule::softmax},
    {.name = "TopK",
     .ports = {{"X"}, {"K", PortRole::setting}},
     .min_inputs = 1,
     .attributes = {"axis", "k", "largest", "sorted"},
     .shape = top_k_shape,
     .value = top_k_value,
     .cost = top_k_cost,
     .lie = LayoutRule::by_axes},
};

}  // namespace

std::span<const OpRow> reduction_rows() { return kReductionOperators; }

}  // namespace accsim::sim
