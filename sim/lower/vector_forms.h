#pragma once
#include "sim/lower/node_rewrites.h"

namespace accsim::sim {

/// Operators on elements and rows for which there is no command, as those for which there are:
/// - Sum, Max, Min of more than two: of two, and the next one.
/// - PRelu: the larger of x and slope x where no slope is above 1, else relu(x) - slope relu(-x).
/// - Where of two tensors, or a tensor and a number: b + c (a - b), c being 0 or 1.
/// - Equal, Greater, Less and their kin of two tensors: their difference, compared with 0.
/// - ReduceL1, ReduceL2, ReduceSumSquare, ReduceLogSum: a ReduceSum between functions.
/// - LogSoftmax, ReduceLogSumExp: with the maximum, exponentials and the logarithm of their sum.
void plan_vector_forms(NodeRewrites& rewrites);

}  // namespace accsim::sim
