#include "sim/lower/late_products.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "sim/elaborate/elaborate.h"
#include "sim/lower/lower.h"
#include "sim/lower/plain_forms.h"
#include "tests/support/models.h"

namespace accsim::sim {
namespace {

using test::ModelBuilder;
using Names = std::vector<std::string>;

struct Ordered {
  Names nodes, working;
};

/// Nodes of the graph in plain forms, and the layers that take time.
Ordered ordered(const ModelBuilder& b) {
  auto graph = elaborate(b.model(), {});
  EXPECT_TRUE(graph.ok()) << graph.errors().front().text();
  const Graph plain = plain_forms(std::move(*graph));
  EXPECT_TRUE(verify_graph(plain).ok());
  Ordered out;
  for (const Node& n : plain.nodes) out.nodes.push_back(n.name);
  const auto lowered = lower(plain);
  EXPECT_TRUE(lowered.ok());
  for (const Layer& l : lowered->layers)
    if (!l.work.empty()) out.working.push_back(l.name);
  return out;
}

ModelBuilder products() {
  ModelBuilder b;
  return b.input("x", {4, 8}).input("z", {4, 8}).weight("v", {8, 8}).weight("w", {8, 8});
}

TEST(LateProducts, ComeBeforeTheirSum) {
  ModelBuilder b = products();
  b.node("MatMul", {"x", "w"}, {"p"}).node("Exp", {"z"}, {"e"}).node("Sin", {"e"}, {"s"});
  const Ordered o = ordered(b.node("Add", {"p", "s"}, {"y"}).output("y"));
  EXPECT_EQ(o.nodes, (Names{"e", "s", "p", "y"}));
  EXPECT_EQ(o.working.back(), "p") << "it adds what is there by then";
}

TEST(LateProducts, StayWhereOneOfTwoCanAdd) {
  ModelBuilder b = products();
  b.node("MatMul", {"x", "w"}, {"p"}).node("Exp", {"z"}, {"e"}).node("MatMul", {"e", "v"}, {"q"});
  const Ordered o = ordered(b.node("Add", {"p", "q"}, {"y"}).output("y"));
  EXPECT_EQ(o.nodes, (Names{"p", "e", "q", "y"}));
  EXPECT_EQ(o.working, (Names{"p", "e", "q"}));
}

TEST(LateProducts, StayWhereAnotherReadsThem) {
  ModelBuilder b = products();
  b.node("MatMul", {"x", "w"}, {"p"}).node("Exp", {"z"}, {"e"}).output("p");
  const Ordered o = ordered(b.node("Add", {"p", "e"}, {"y"}).output("y"));
  EXPECT_EQ(o.nodes, (Names{"p", "e", "y"}));
}

/// Another node reads the other result, and comes before the sum.
TEST(LateProducts, StayWhereTheyHaveMoreResults) {
  ModelBuilder b(14);
  b.input("x", {300, 1, 4})
      .input("z", {300, 1, 1, 4})
      .weight("w", {1, 16, 4})
      .weight("r", {1, 16, 4});
  b.node("LSTM", {"x", "w", "r"}, {"p", "last"}, {{"hidden_size", "", int64_t{4}}});
  b.node("Relu", {"last"}, {"l"}).node("Exp", {"z"}, {"e"}).output("l");
  const Ordered o = ordered(b.node("Add", {"p", "e"}, {"y"}).output("y"));
  EXPECT_EQ(o.nodes, (Names{"p", "l", "e", "y"}));
}

/// Sums of three: each product adds what the one before it has.
TEST(LateProducts, AddWhatTheyHaveAddedBefore) {
  for (const bool early : {true, false}) {
    ModelBuilder b = products();
    if (early) b.node("MatMul", {"x", "v"}, {"q"});
    b.node("MatMul", {"x", "w"}, {"p"}).node("Exp", {"z"}, {"e"});
    if (!early) b.node("MatMul", {"x", "v"}, {"q"});
    b.node("Add", {"p", "e"}, {"s"}).node("Add", {"s", "q"}, {"y"});
    const Ordered o = ordered(b.output("y"));
    EXPECT_EQ(o.working, (Names{"e", "p", "q"})) << early;
  }
}

/// By way of a Reshape too, as exporters put it behind products of two dims.
TEST(LateProducts, TakeAFactorPerChannelBehindAReshape) {
  ModelBuilder b = products();
  b.input("t", {2, 2, 8}).weight("bias", {8}).weight("gain", {8}).constant("to", {3}, {2, 2, 8});
  b.node("Gemm", {"x", "w", "bias"}, {"p"}).node("Reshape", {"p", "to"}, {"r"});
  b.node("Mul", {"r", "gain"}, {"m"}).node("Add", {"m", "t"}, {"y"});
  EXPECT_EQ(ordered(b.output("y")).working, Names{"p"});
}

}  // namespace
}  // namespace accsim::sim
