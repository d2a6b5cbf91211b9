#include "sim/elaborate/budget.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "sim/operators/fold.h"
#include "tests/sim/elaborate/model_parts.h"

namespace accsim::sim {
namespace {

Tensor tensor_of(DType dtype, Dims dims) {
  Tensor tensor;
  tensor.name = "t";
  tensor.dtype = dtype;
  tensor.dims = std::move(dims);
  return tensor;
}

/// What a refusal of a limit says: the limit, and the option that changes it.
void expect_refused(const Status& status, std::string_view limit, std::string_view option) {
  ASSERT_FALSE(status.ok());
  const Error& error = status.errors().front();
  EXPECT_EQ(Errc::capacity, error.code);
  EXPECT_TRUE(says(error.message, limit)) << error.message;
  EXPECT_TRUE(says(error.message, option)) << error.message;
}

TEST(Budget, IsTheLastStepTakenAndTheNextRefused) {
  for (const int64_t own : {0, 40}) {
    Budget budget(Limits{.nodes = 1000}, own);
    for (int64_t i = 0; i < 1000 + own; ++i) ASSERT_TRUE(budget.take_step().ok()) << i;
    expect_refused(budget.take_step(), "more than 1000 nodes", "--max-nodes");
  }
}

TEST(Budget, DoNodesOfExpansionsTakeWhatTheirCopiesTake) {
  const int64_t name = int64_t{1} << 19;
  Node node;
  node.name = std::string(name, 'n');
  node.attributes = {{"axes", "", std::vector<int64_t>(1000, 1)}};
  Budget budget(Limits{.graph_bytes = int64_t{4} << 20});
  for (int i = 0; i < 100; ++i)
    EXPECT_TRUE(budget.take_node(node, 0).ok()) << "of the main graph: as large as the file";
  const Result<Budget::Level> inside = budget.enter_level();
  ASSERT_TRUE(inside.ok());
  // Half a MiB of name, 8 kB of attribute and some more each.
  for (int i = 0; i < 7; ++i) EXPECT_TRUE(budget.take_node(node, 0).ok()) << i;
  expect_refused(budget.take_node(node, 0), "more than 4 MiB", "--max-graph-mib");
}

TEST(Budget, HowManyDimsATensorMayHave) {
  Budget budget(Limits{.rank = 8});
  EXPECT_TRUE(budget.take_tensor(tensor_of(DType::int8, Dims(8, 1))).ok());
  expect_refused(budget.take_tensor(tensor_of(DType::int8, Dims(9, 1))), "has 9 dims, at most 8",
                 "--max-rank");
}

TEST(Budget, DoLevelsComeBackWhenTheyEnd) {
  Budget budget;
  for (int round = 0; round < 2; ++round) {
    std::vector<std::unique_ptr<Budget::Level>> levels;
    for (int64_t i = 0; i < kMostNested; ++i) {
      Result<Budget::Level> level = budget.enter_level();
      ASSERT_TRUE(level.ok()) << round << ": " << i;
      levels.push_back(std::make_unique<Budget::Level>(std::move(*level)));
    }
    const Result<Budget::Level> refused = budget.enter_level();
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(Errc::capacity, refused.errors().front().code);
  }
}

TEST(Budget, DoTheBytesOfAllTensorsCountTogether) {
  Budget budget;
  // 16 tensors of a sixteenth each are exactly what there is.
  const Tensor sixteenth = tensor_of(DType::int8, {kMostBytes / 16});
  for (int i = 0; i < 16; ++i) EXPECT_TRUE(budget.take_tensor(sixteenth).ok()) << i;
  EXPECT_TRUE(budget.take_tensor(tensor_of(DType::int8, {0})).ok()) << "it has no bytes";
  const Status refused = budget.take_tensor(tensor_of(DType::int8, {1}));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(Errc::overflow, refused.errors().front().code);
  EXPECT_TRUE(says(refused.errors().front().message, "tensor 't' would be 1 of int8"));
}

TEST(Budget, WhatIsSaidOfANegativeDim) {
  Budget budget;
  const Status refused = budget.take_tensor(tensor_of(DType::float32, {2, -1}));
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(Errc::invalid, refused.errors().front().code);
  EXPECT_TRUE(says(refused.errors().front().message, "a dim is negative"));
}

TEST(Budget, WhichConstantsAreComputed) {
  Budget budget;
  EXPECT_TRUE(budget.affords_values(DType::int64, kMostFolded));
  EXPECT_FALSE(budget.affords_values(DType::int64, kMostFolded + 1));
  EXPECT_TRUE(budget.affords_values(DType::float32, kMostFoldedReals));
  EXPECT_FALSE(budget.affords_values(DType::float32, kMostFoldedReals + 1));
  EXPECT_FALSE(budget.affords_values(DType::string, 1));
  budget.take_values(kMostValues - 10);
  EXPECT_TRUE(budget.affords_values(DType::int64, 10));
  EXPECT_FALSE(budget.affords_values(DType::int64, 11));
}

}  // namespace
}  // namespace accsim::sim
