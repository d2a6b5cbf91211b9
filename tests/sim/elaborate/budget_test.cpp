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

TEST(Budget, IsTheLastStepTakenAndTheNextRefused) {
  Budget budget;
  for (int64_t i = 0; i < kMostSteps; ++i) ASSERT_TRUE(budget.take_step().ok()) << i;
  const Status refused = budget.take_step();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(Errc::capacity, refused.errors().front().code);
}

TEST(Budget, DoLevelsComeBackWhenTheyEnd) {
  Budget budget;
  for (int round = 0; round < 2; ++round) {
    std::vector<std::unique_ptr<Budget::Level>> levels;
    for (int64_t i = 0; i < kMostNested; ++i) {
      Result<Budget::Level> level = budget.descend();
      ASSERT_TRUE(level.ok()) << round << ": " << i;
      levels.push_back(std::make_unique<Budget::Level>(std::move(*level)));
    }
    const Result<Budget::Level> refused = budget.descend();
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
