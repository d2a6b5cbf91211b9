#pragma once
#include <initializer_list>
#include <string_view>
#include <vector>

#include "sim/base/units.h"
#include "sim/operators/node_view.h"
#include "sim/work/work.h"

namespace accsim::sim {

/// What the cost rules of all op families share.

/// Counts stop here instead of wrapping; checked_work() refuses what has got here. Far beyond any
/// network (10^15 MACs in one node), and low enough for bytes and cycles to stay within 63 bits.
inline constexpr int64_t kTooMany = int64_t{1} << 50;

/// Product and sum of non-negative counts, stopping at kTooMany. A zero factor gives 0.
int64_t capped_product(std::initializer_list<int64_t> factors);
/// The sum of two non-negative counts, at most kTooMany.
int64_t capped_sum(int64_t a, int64_t b);
/// Comparisons of a binary search among `count`, and levels of a merge sort of them: the bits of
/// `count`; 0 when there are none.
int64_t bisection_steps(int64_t count);

/// batch products of m x k by k x n, ports as GemmOp's defaults.
GemmOp matrix_product(int64_t batch, int64_t m, int64_t k, int64_t n);

/// The work, unless a tensor is too large to be costed or a count reached kTooMany: Errc::overflow.
Result<Work> checked_work(const NodeView& node, Work work);

/// Elements of input i, or of output i; 0 when it is absent.
int64_t input_size(const NodeView& node, size_t i);
int64_t output_size(const NodeView& node, size_t i);

/// Errc::overflow when an input or output has more than kTooMany elements.
Status check_countable(const NodeView& node);
/// Every element once. Nothing at all is appended for absent or empty tensors.
void read_input(const NodeView& node, size_t i, std::vector<Access>& to);
void write_output(const NodeView& node, size_t i, std::vector<Access>& to);
/// The same, but `elements` in pieces of `run` (0: one piece).
void read_part(const NodeView& node, size_t i, int64_t elements, int64_t run,
               std::vector<Access>& to);
/// A vector op that reads every present input and writes every wanted output once; no ops yet.
VectorOp vector_op(const NodeView& node);
/// A memory op that reads every present input and writes every wanted output once.
MemoryOp memory_op(const NodeView& node);
/// Vector work with so many primitive operations per element of output 0.
Result<Work> per_element(const NodeView& node, int64_t elementwise, int64_t special,
                         int64_t convert = 0);

// Cost rules.
/// per_element() with these numbers of operations, as a cost rule.
template <int kElementwise, int kSpecial = 0, int kConvert = 0>
Result<Work> pointwise_cost(const NodeView& node) {
  return per_element(node, kElementwise, kSpecial, kConvert);
}
/// One elementwise operation per output element and input after the first (Sum, Max, ...); nothing
/// when there is only one.
Result<Work> variadic_cost(const NodeView& node);
/// memory_op(): reads and writes everything once.
Result<Work> copy_cost(const NodeView& node);

}  // namespace accsim::sim
