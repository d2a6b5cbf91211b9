#include <gtest/gtest.h>

#include <set>
#include <string>

#include "sim/operators/op_table.h"
#include "sim/ref/kernel_context.h"

namespace accsim::sim::ref {
namespace {

bool is_refused(const OpRow& row) {
  for (const RefusedOp& refused : refused_ops())
    if (refused.op == row.name && refused.domain == row.domain) return true;
  return false;
}

TEST(KernelTable, DoesEveryOperatorHaveAKernelOrAReason) {
  for (const OpRow* row : all_ops())
    EXPECT_NE(find_kernel(row->domain, row->name) != nullptr, is_refused(*row))
        << row->domain << " " << row->name << " must have a kernel or be refused, and not both";
}

TEST(KernelTable, IsEveryKernelAndEveryRefusalOfAnOperatorOfTheTable) {
  for (const auto family :
       {elementwise_kernels, activation_kernels, move_kernels, index_kernels, reduce_kernels,
        norm_kernels, loss_kernels, conv_kernels, matmul_kernels, attention_kernels,
        recurrent_kernels, pool_kernels, resize_kernels, sampling_kernels, quant_kernels,
        signal_kernels, contrib_kernels, contrib_attention_kernels, contrib_matmul_kernels}) {
    EXPECT_FALSE(family().empty());
    std::set<std::string> names;
    for (const KernelRow& row : family()) {
      EXPECT_NE(find_op(row.domain, row.op), nullptr) << row.op;
      EXPECT_TRUE(names.insert(std::string(row.domain) + "/" + std::string(row.op)).second)
          << row.op << " has two rows";
    }
  }
  for (const RefusedOp& refused : refused_ops()) {
    EXPECT_NE(find_op(refused.domain, refused.op), nullptr) << refused.op;
    EXPECT_FALSE(refused.why.empty()) << refused.op;
  }
}

}  // namespace
}  // namespace accsim::sim::ref
