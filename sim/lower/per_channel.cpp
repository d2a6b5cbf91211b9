#include "sim/lower/per_channel.h"

#include "sim/operators/op_table.h"

namespace accsim::sim {

bool is_per_channel(const Dims& addend, const Dims& sum, const Node& product, const GemmOp& gemm) {
  const OpRow* row = find_op(product);
  if (row && row->kind == OpKind::convolution) {
    const int64_t channels = gemm.grouped ? gemm.batch * gemm.outputs : gemm.outputs;
    if (sum.size() < 3 || addend.size() >= sum.size() + 1 || addend.size() + 1 < sum.size())
      return false;
    return sum[1] == channels && addend[addend.size() + 1 - sum.size()] == channels &&
           elements(addend) == channels;
  }
  return !gemm.grouped && !addend.empty() && !sum.empty() && addend.back() == gemm.outputs &&
         elements(addend) == gemm.outputs && sum.back() == gemm.outputs;
}

}  // namespace accsim::sim
