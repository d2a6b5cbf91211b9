#include <gtest/gtest.h>

#include <set>

#include "sim/operators/op_table.h"
#include "sim/ref/kernel_context.h"

namespace accsim::sim::ref {
namespace {

TEST(KernelTable, DoesEveryOperatorHaveAKernelOrAReason) {
  for (const OpRow* row : all_ops()) {
    const int reasons = static_cast<int>(!row->no_kernel.empty()) +
                        static_cast<int>(row->control_flow != ControlFlow::none);
    EXPECT_EQ(static_cast<int>(find_kernel(row->domain, row->name) != nullptr) + reasons, 1)
        << row->domain << " " << row->name << " must have a kernel or one reason, and not both";
  }
}

TEST(KernelTable, IsEveryKernelOfAnOperatorOfTheTable) {
  std::set<std::pair<std::string_view, std::string_view>> names;
  for (const KernelRow* row : all_kernels()) {
    EXPECT_NE(find_op(row->domain, row->op), nullptr) << row->op;
    EXPECT_NE(row->run, nullptr) << row->op;
    EXPECT_TRUE(names.emplace(row->domain, row->op).second) << row->op << " has two kernels";
  }
  EXPECT_GT(names.size(), 150U);
}

}  // namespace
}  // namespace accsim::sim::ref
