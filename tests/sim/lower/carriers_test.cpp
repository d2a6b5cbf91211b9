#include "sim/lower/carriers.h"

#include <gtest/gtest.h>

#include "sim/elaborate/elaborate.h"
#include "tests/support/models.h"

namespace accsim::sim {
namespace {

using test::ModelBuilder;

/// x is turned into t, of which functions make r and s; the transpose is a view, as where nobody
/// wants its result in another layout.
struct Turned {
  Graph graph;
  Lowered lowered;
  TensorId x, t, r, s;

  explicit Turned(bool t_is_given = false) {
    ModelBuilder b;
    b.input("x", {2, 3, 5}).input("y", {2, 5, 3});
    b.node("Transpose", {"x"}, {"t"}, {ModelBuilder::ints("perm", {0, 2, 1})});
    b.node("Relu", {"t"}, {"r"}).node("Exp", {"r"}, {"s"}).node("Sub", {"s", "y"}, {"z"});
    b.output("z");
    if (t_is_given) b.output("t");
    graph = *elaborate(b.model(), {});
    lowered = *lower(graph);
    x = graph.inputs[0];
    t = graph.nodes[0].outputs[0];
    r = graph.nodes[1].outputs[0];
    s = graph.nodes[2].outputs[0];
    lowered.layers[0].work.clear();
    lowered.layers[0].fate = Fate::view;
  }
};

TEST(Carriers, AreViewsAndFunctionsOfOneTensor) {
  Turned n;
  const NetworkEnds ends(n.graph, n.lowered);
  const Carriers carriers(n.graph, n.lowered, ends);
  const Carrier view = carriers.carrier_of(n.t);
  EXPECT_EQ(view.layer, &n.lowered.layers[0]);
  EXPECT_EQ(view.from, n.x);
  EXPECT_TRUE(view.view);
  const Carrier function = carriers.carrier_of(n.s);
  ASSERT_NE(function.layer, nullptr);
  EXPECT_EQ(function.layer->outputs[0], n.s);
  EXPECT_FALSE(function.view);
  const TensorId difference = n.graph.nodes[3].outputs[0];
  EXPECT_EQ(carriers.carrier_of(difference).layer, nullptr) << "of two tensors";
  EXPECT_EQ(carriers.carrier_of(n.x).layer, nullptr);
}

TEST(Carriers, ATransposeGivesWhatFunctionsMakeOfIt) {
  Turned n;
  const NetworkEnds ends(n.graph, n.lowered);
  Carriers carriers(n.graph, n.lowered, ends);
  EXPECT_EQ(carriers.moving_view(n.s), &n.lowered.layers[0]);
  EXPECT_EQ(carriers.moving_view(n.t), &n.lowered.layers[0]);
}

TEST(Carriers, NobodyMovesWhatIsSeenAsItLies) {
  Turned n(true);
  const NetworkEnds ends(n.graph, n.lowered);
  Carriers carriers(n.graph, n.lowered, ends);
  EXPECT_FALSE(ends.is_between(n.t));
  EXPECT_EQ(carriers.moving_view(n.s), nullptr);
}

}  // namespace
}  // namespace accsim::sim
