#pragma once
#include <initializer_list>
#include <string_view>
#include <vector>

#include "sim/base/units.h"
#include "sim/operators/node_view.h"
#include "sim/operators/rules.h"
#include "sim/work/work.h"

namespace accsim::sim {

/// Counts stop here instead of wrapping; checked_work() refuses what has got here. Far beyond any
/// network (10^15 MACs in one node), and low enough for bytes and cycles to stay within 63 bits.
inline constexpr int64_t kTooMany = int64_t{1} << 50;

/// Product and sum of non-negative counts, stopping at kTooMany. A zero factor gives 0.
int64_t times(std::initializer_list<int64_t> factors);
/// The sum of two non-negative counts, at most kTooMany.
int64_t plus(int64_t a, int64_t b);

/// batch products of m x k by k x n, ports as GemmOp's defaults.
GemmOp matrix_product(int64_t batch, int64_t m, int64_t k, int64_t n);

/// The work, unless a tensor is too large to be costed or a count reached kTooMany: Errc::overflow.
Result<Work> checked_work(const NodeView& node, Work work);

/// Elements of input i, or of output i; 0 when it is absent.
int64_t input_size(const NodeView& node, size_t i);
int64_t output_size(const NodeView& node, size_t i);

/// The elements of input i as reals; the error names the input.
Result<std::vector<double>> need_reals(const NodeView& node, size_t i, std::string_view input,
                                       std::string_view what);
/// The one element of integer input i (a scalar, or one element of any rank).
Result<int64_t> need_integer(const NodeView& node, size_t i, std::string_view input,
                             std::string_view what);
/// An error unless input i is there.
Status want_input(const NodeView& node, size_t i, std::string_view input);
/// set_shape(), but nothing for an output that nobody asked for.
Status set_if_wanted(InferContext& node, size_t i, DType dtype, Dims dims);

}  // namespace accsim::sim
