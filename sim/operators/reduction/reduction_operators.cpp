#include "sim/operators/op_table.h"
#include "sim/operators/reduction/reduction_rules.h"

namespace accsim::sim {
namespace {

constexpr Fate kVector = Fate::vector;

constexpr OpRow kRows[] = {
    {"ArgMax", 1, 1, 1, kVector, arg_shape, arg_value, arg_cost},
    {"ArgMin", 1, 1, 1, kVector, arg_shape, arg_value, arg_cost},
    {"CumProd", 26, 2, 2, kVector, cumulative_shape, cumulative_value, cumulative_cost},
    {"CumSum", 11, 2, 2, kVector, cumulative_shape, cumulative_value, cumulative_cost},
    {"Det", 11, 1, 1, kVector, det_shape, nullptr, det_cost},
    {"Hardmax", 1, 1, 1, kVector, softmax_shape, nullptr, hardmax_cost},
    {"LogSoftmax", 1, 1, 1, kVector, softmax_shape, nullptr, softmax_cost},
    {"ReduceL1", 1, 1, 2, kVector, reduce_shape, reduce_value, reduce_cost},
    {"ReduceL2", 1, 1, 2, kVector, reduce_shape, nullptr, reduce_cost},
    {"ReduceLogSum", 1, 1, 2, kVector, reduce_shape, nullptr, reduce_cost},
    {"ReduceLogSumExp", 1, 1, 2, kVector, reduce_shape, nullptr, reduce_cost},
    {"ReduceMax", 1, 1, 2, kVector, reduce_shape, reduce_value, reduce_cost},
    {"ReduceMean", 1, 1, 2, kVector, reduce_shape, reduce_value, reduce_cost},
    {"ReduceMin", 1, 1, 2, kVector, reduce_shape, reduce_value, reduce_cost},
    {"ReduceProd", 1, 1, 2, kVector, reduce_shape, reduce_value, reduce_cost},
    {"ReduceSum", 1, 1, 2, kVector, reduce_shape, reduce_value, reduce_cost},
    {"ReduceSumSquare", 1, 1, 2, kVector, reduce_shape, reduce_value, reduce_cost},
    {"Softmax", 1, 1, 1, kVector, softmax_shape, nullptr, softmax_cost},
    {"TopK", 1, 1, 2, kVector, top_k_shape, top_k_value, top_k_cost},
};

}  // namespace

std::span<const OpRow> reduction_rows() { return kRows; }

}  // namespace accsim::sim
