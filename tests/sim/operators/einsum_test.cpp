#include <gtest/gtest.h>

#include "sim/operators/matmul/einsum_rules.h"
#include "tests/sim/operators/single_node.h"

namespace accsim::sim {
namespace {

SingleNode einsum(const char* equation, std::vector<Dims> operands) {
  SingleNode node("Einsum", 12);
  node.attr("equation", equation);
  for (Dims& d : operands) node.in(std::move(d));
  return node;
}

TEST(Einsum, DoShapesFollowNumPy) {
  struct Case {
    const char* equation;
    std::vector<Dims> in;
    Dims out;
  };
  const Case cases[] = {
      {"ij->ji", {{2, 3}}, {3, 2}},
      {"ij->i", {{2, 3}}, {2}},
      {"ij->", {{2, 3}}, {}},
      {"ii->i", {{4, 4}}, {4}},
      {"...ii->...i", {{5, 4, 4}}, {5, 4}},
      {"ij,jk->ik", {{2, 3}, {3, 4}}, {2, 4}},
      {"ij, jk -> ik", {{2, 3}, {3, 4}}, {2, 4}},
      {"ij,jk", {{2, 3}, {3, 4}}, {2, 4}},
      {"ba", {{2, 3}}, {3, 2}},
      {"i,i", {{3}, {3}}, {}},
      {"i,j->ij", {{3}, {4}}, {3, 4}},
      {"bij,bjk->bik", {{5, 2, 3}, {5, 3, 4}}, {5, 2, 4}},
      {"...ij,...jk->...ik", {{6, 5, 2, 3}, {5, 3, 4}}, {6, 5, 2, 4}},
      {"...ij,jk", {{6, 2, 3}, {3, 4}}, {6, 2, 4}},
      {"bhid,bhjd->bhij", {{2, 8, 10, 64}, {2, 8, 12, 64}}, {2, 8, 10, 12}},
      {"ij,jk,kl->il", {{2, 3}, {3, 4}, {4, 5}}, {2, 5}},
      {"bij,bjk->bik", {{5, 2, 3}, {1, 3, 4}}, {5, 2, 4}},
  };
  for (const Case& c : cases) {
    SingleNode node = einsum(c.equation, c.in);
    EXPECT_EQ(shape_or_error(node), to_string(c.out)) << c.equation;
    EXPECT_TRUE(node.cost().ok()) << c.equation;
  }
}

TEST(Einsum, IsOnePermutedOperandTheWorkOfATranspose) {
  struct Case {
    const char* equation;
    Dims dims;
    std::vector<int64_t> perm;
  };
  const Case cases[] = {{"abc->cab", {4, 6, 8}, {2, 0, 1}},
                        {"abc->acb", {4, 6, 8}, {0, 2, 1}},
                        {"abc->bac", {4, 6, 8}, {1, 0, 2}},
                        {"ba", {4, 6}, {1, 0}},
                        {"a...b->b...a", {4, 6, 7, 8}, {3, 1, 2, 0}}};
  for (const Case& c : cases) {
    SingleNode sum = einsum(c.equation, {c.dims}), turn("Transpose", 13);
    turn.in(c.dims).list("perm", c.perm);
    ASSERT_TRUE(sum.infer() && turn.infer()) << c.equation;
    EXPECT_EQ(einsum_permutation(sum.view()), c.perm) << c.equation;
    const auto a = item<MemoryOp>(sum.cost()), b = item<MemoryOp>(turn.cost());
    EXPECT_EQ(a.axes, b.axes) << c.equation;
    EXPECT_EQ(a.inputs.at(0).run, b.inputs.at(0).run) << c.equation;
    EXPECT_EQ(a.outputs.at(0).run, b.outputs.at(0).run) << c.equation;
  }
}

TEST(Einsum, IsAnOperandThatStaysAsItIsFree) {
  for (const char* equation : {"abc->abc", "abc", "...->...", "bac->abc"}) {
    SingleNode node = einsum(equation, {{1, 6, 1}});
    ASSERT_TRUE(node.infer()) << equation;
    EXPECT_TRUE(node.cost()->empty()) << equation;
  }
}

TEST(Einsum, IsNoPermutationWhatSumsOrTakesADiagonal) {
  for (const char* equation : {"ab->a", "aa->a", "aa", "ab->"}) {
    SingleNode node = einsum(equation, {{4, 4}});
    ASSERT_TRUE(node.infer()) << equation;
    EXPECT_FALSE(einsum_permutation(node.view())) << equation;
  }
  SingleNode product = einsum("ab,bc->ac", {{4, 4}, {4, 4}});
  ASSERT_TRUE(product.infer());
  EXPECT_FALSE(einsum_permutation(product.view()));
}

TEST(Einsum, DoLabelClassesMakeTheProduct) {
  SingleNode heads = einsum("bhid,bhjd->bhij", {{2, 8, 10, 64}, {2, 8, 12, 64}});
  ASSERT_TRUE(heads.infer().ok());
  auto op = item<GemmOp>(heads.cost());
  EXPECT_EQ(op.batch, 16);
  EXPECT_EQ(op.m(), 10);
  EXPECT_EQ(op.k(), 64);
  EXPECT_EQ(op.n(), 12);

  // b only varies on the left, so it makes rows.
  SingleNode shared = einsum("bij,jk->bik", {{5, 2, 3}, {3, 4}});
  ASSERT_TRUE(shared.infer().ok());
  op = item<GemmOp>(shared.cost());
  EXPECT_EQ(op.batch, 1);
  EXPECT_EQ(op.m(), 10);
}

TEST(Einsum, IsAProductWithoutASumElementwise) {
  SingleNode outer = einsum("i,j->ij", {{3}, {4}});
  ASSERT_TRUE(outer.infer().ok());
  EXPECT_EQ(item<VectorOp>(outer.cost())[VectorClass::elementwise], 12);
}

TEST(Einsum, IsALabelThatNobodyElseHasSummedFirst) {
  SingleNode node = einsum("ijx,jk->ik", {{2, 3, 7}, {3, 4}});
  ASSERT_TRUE(node.infer().ok());
  const auto work = node.cost();
  EXPECT_EQ(item<VectorOp>(work)[VectorClass::reduce], 2 * 3 * 7);
  EXPECT_EQ(item<GemmOp>(work, 1).macs(), 2 * 3 * 4);
}

TEST(Einsum, AreManyOperandsTakenFromLeftToRight) {
  SingleNode node = einsum("ij,jk,kl->il", {{2, 3}, {3, 4}, {4, 5}});
  ASSERT_TRUE(node.infer().ok());
  const auto work = node.cost();
  ASSERT_EQ(work->size(), 2U);
  EXPECT_EQ(item<GemmOp>(work, 0).macs(), 2 * 3 * 4);
  EXPECT_EQ(item<GemmOp>(work, 1).macs(), 2 * 4 * 5);
  EXPECT_EQ(item<GemmOp>(work, 1).b_port, 2);
}

/// What is between two items is at an internal port: written by one, read by the other.
TEST(Einsum, IsWhatIsBetweenItsStepsWrittenAndRead) {
  SingleNode node = einsum("i,j,k->ijk", {{3}, {4}, {5}});
  ASSERT_TRUE(node.infer().ok());
  const auto work = node.cost();
  const auto first = item<VectorOp>(work, 0), second = item<VectorOp>(work, 1);
  ASSERT_EQ(first.outputs.size(), 1U);
  EXPECT_LT(first.outputs[0].port, 0);
  EXPECT_EQ(first.outputs[0].elements, 12);
  ASSERT_EQ(second.inputs.size(), 2U);
  EXPECT_EQ(second.inputs[0].port, first.outputs[0].port);
  EXPECT_EQ(second.inputs[0].elements, 12);
  EXPECT_EQ(second.inputs[1].port, 2);
  EXPECT_EQ(second.outputs[0].elements, 60);

  SingleNode sums = einsum("i,j->", {{3}, {4}});
  ASSERT_TRUE(sums.infer().ok());
  const auto both = sums.cost();
  ASSERT_EQ(both->size(), 3U);
  for (const size_t i : {size_t{0}, size_t{1}}) {
    const auto sum = item<VectorOp>(both, i);
    EXPECT_EQ(sum[VectorClass::reduce], i == 0 ? 3 : 4);
    EXPECT_EQ(item<VectorOp>(both, 2).inputs[i].port, sum.outputs.at(0).port);
  }
}

TEST(Einsum, IsATransposeOnlyMemoryWork) {
  SingleNode node = einsum("ij->ji", {{2, 3}});
  ASSERT_TRUE(node.infer().ok());
  EXPECT_EQ(item<MemoryOp>(node.cost()).inputs.front().elements, 6);
}

TEST(Einsum, AreMalformedEquationsErrors) {
  for (const char* bad :
       {"", "ij", "ij,jk,kl->il", "ij,jk->iz", "ij,jk->ii", "ijk,jk->ik", "i.j,jk->ik",
        "i..j,jk->ik", "ij,jk->i->k", "i1,jk->ik", "......,jk->k", ",", "->", "ij;jk->ik"}) {
    SingleNode node = einsum(bad, {{2, 3}, {3, 4}});
    EXPECT_FALSE(node.infer().ok()) << bad;
  }
  SingleNode sizes = einsum("ij,jk->ik", {{2, 3}, {4, 5}});
  EXPECT_FALSE(sizes.infer().ok());
}

}  // namespace
}  // namespace accsim::sim
