#include "sim/lower/repeats.h"

#include <gtest/gtest.h>

#include "tests/sim/lower/laid_out.h"

namespace accsim::sim {
namespace {

using test::LaidOut;
using test::ModelBuilder;

constexpr int64_t kBatch = 2, kHeads = 2, kGroup = 3, kRows = 4, kLength = 5, kSize = 16;

void reshape(ModelBuilder& b, const char* kind, const std::string& from, const std::string& to,
             const Dims& dims) {
  b.node("Constant", {}, {to + "_dims"}, {ModelBuilder::ints("value_ints", dims)});
  b.node(kind, {from, to + "_dims"}, {to});
}

/// Keys of so many heads, repeated for the queries' heads as exporters write it: "repeated" are
/// those, one behind the other.
ModelBuilder repeated_keys(const Dims& keys, const Dims& expanded, int64_t queries) {
  ModelBuilder b;
  b.input("q", {kBatch, queries, kRows, kSize}).input("k", keys);
  reshape(b, "Expand", "k", "expanded", expanded);
  reshape(b, "Reshape", "expanded", "repeated", {kBatch, queries, kLength, kSize});
  return b;
}
ModelBuilder grouped_keys() {
  return repeated_keys({kBatch, kHeads, 1, kLength, kSize},
                       {kBatch, kHeads, kGroup, kLength, kSize}, kHeads * kGroup);
}
void turned_scores(ModelBuilder& b) {
  b.node("Transpose", {"repeated"}, {"turned"}, {ModelBuilder::ints("perm", {0, 1, 3, 2})});
  b.node("MatMul", {"q", "turned"}, {"y"}).output("y");
}

TEST(Repeats, AreReadOnceByAllRowsOfAGroup) {
  ModelBuilder b = grouped_keys();
  turned_scores(b);
  const LaidOut net(b);
  const GemmOp& gemm = net.gemm("y");
  EXPECT_EQ(gemm.batch, kBatch * kHeads);
  EXPECT_EQ(gemm.m(), kGroup * kRows);
  EXPECT_EQ(gemm.k(), kSize);
  EXPECT_EQ(gemm.n(), kLength);
  EXPECT_TRUE(gemm.b_transposed);
  EXPECT_EQ(net.layer("y").inputs.at(1), net.id("k"));
  EXPECT_EQ(net.layer("y").macs, kBatch * kHeads * kGroup * kRows * kSize * kLength);
  for (const char* node : {"expanded", "repeated", "turned"})
    EXPECT_EQ(net.layer(node).fate, Fate::view) << node;
  EXPECT_TRUE(net.moves().empty());
}

TEST(Repeats, AreAsTheyLieWhereNothingTurnsThem) {
  ModelBuilder b;
  b.input("p", {kBatch, kHeads * kGroup, kRows, kLength})
      .input("v", {kBatch, kHeads, kLength, kSize});
  reshape(b, "Reshape", "v", "wide", {kBatch, kHeads, 1, kLength, kSize});
  reshape(b, "Expand", "wide", "expanded", {1, 1, kGroup, 1, 1});
  reshape(b, "Reshape", "expanded", "repeated", {kBatch, kHeads * kGroup, kLength, kSize});
  b.node("MatMul", {"p", "repeated"}, {"y"}).output("y");
  const LaidOut net(b);
  EXPECT_EQ(net.gemm("y").batch, kBatch * kHeads);
  EXPECT_EQ(net.gemm("y").m(), kGroup * kRows);
  EXPECT_FALSE(net.gemm("y").b_transposed);
  EXPECT_TRUE(net.moves().empty());
}

/// One head for all queries: the batch's dim is all that is left of the products.
TEST(Repeats, AreThoseOfOneHeadToo) {
  ModelBuilder b =
      repeated_keys({kBatch, 1, kLength, kSize}, {kBatch, kGroup, kLength, kSize}, kGroup);
  turned_scores(b);
  const LaidOut net(b);
  EXPECT_EQ(net.gemm("y").batch, kBatch);
  EXPECT_EQ(net.gemm("y").m(), kGroup * kRows);
}

/// Element by element: what the repeating nodes and the product say, the merged product does.
TEST(Repeats, MeanTheSame) {
  ModelBuilder b = grouped_keys();
  turned_scores(b);
  const LaidOut net(b);
  const GemmOp& gemm = net.gemm("y");
  for (int64_t at = 0; at < kBatch * kHeads * kGroup * kRows * kLength; ++at) {
    const int64_t n = at % kLength, row = at / kLength % kRows, head = at / (kLength * kRows);
    // By the graph: of all heads one behind the other, this one's rows and its group's keys.
    const int64_t a_row = head * kRows + row, b_row = head / kGroup * kLength + n;
    // By the product: dense operands, batch by batch.
    const int64_t batch = at / (gemm.m() * gemm.n()), m = at / gemm.n() % gemm.m();
    EXPECT_EQ(batch * gemm.m() + m, a_row);
    EXPECT_EQ(batch * gemm.n() + at % gemm.n(), b_row);
  }
}

void expect_repeated(const ModelBuilder& b) {
  const LaidOut net(b);
  EXPECT_EQ(net.gemm("y").m(), kRows);
  EXPECT_EQ(net.layer("expanded").fate, Fate::memory);
}

TEST(Repeats, StayWhereSomebodyElseReadsThem) {
  ModelBuilder b = grouped_keys();
  turned_scores(b);
  b.node("Relu", {"expanded"}, {"also"}).output("also");
  expect_repeated(b);
}

TEST(Repeats, StayWhereTheyAreAnOutput) {
  ModelBuilder b = grouped_keys();
  turned_scores(b);
  b.output("repeated");
  expect_repeated(b);
}

/// All heads, and then all of them again: the rows of a head aren't one behind the other.
TEST(Repeats, StayWhereWholeListsOfMatricesAreRepeated) {
  ModelBuilder b = repeated_keys({kBatch, 1, kHeads, kLength, kSize},
                                 {kBatch, kGroup, kHeads, kLength, kSize}, kHeads * kGroup);
  turned_scores(b);
  expect_repeated(b);
}

}  // namespace
}  // namespace accsim::sim
