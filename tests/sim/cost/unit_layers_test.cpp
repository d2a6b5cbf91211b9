#include "sim/cost/unit_layers.h"

#include <gtest/gtest.h>

#include "hw/config/load.h"
#include "sim/cost/cost.h"
#include "sim/elaborate/elaborate.h"
#include "sim/lower/lower.h"
#include "tests/support/models.h"
#include "tests/support/source.h"

namespace accsim::sim {
namespace {

using test::ModelBuilder;

hw::HwConfig nv_small() { return *hw::load_hw(kSource + "/configs/known/nvdla-nv-small.yaml"); }

/// What units do of the only layer that has vector work.
UnitWork work_of(const ModelBuilder& b) {
  const auto graph = elaborate(b.model(), {});
  EXPECT_TRUE(graph.ok()) << graph.errors().front().text();
  const auto lowered = lower_in_memory(*graph);
  EXPECT_TRUE(lowered.ok());
  std::vector<UnitWork> found;
  for (const Layer& l : lowered->layers)
    for (const WorkItem& item : l.work)
      if (std::holds_alternative<VectorOp>(item)) found.push_back(unit_work(*graph, l, nv_small()));
  EXPECT_EQ(found.size(), 1U);
  return found.empty() ? UnitWork{} : found.front();
}

using Stages = std::vector<hw::PointStage>;

/// The stages of a chain that is one point-wise layer of [2, 9, 4, 5].
Stages stages_of(const ModelBuilder& b) {
  const UnitWork work = work_of(b);
  EXPECT_EQ(work.lacks, "");
  EXPECT_EQ(work.runs.size(), 1U);
  if (work.runs.size() != 1) return {};
  EXPECT_EQ(work.runs[0].times, 2);
  const auto* point = std::get_if<hw::PointLayer>(&work.runs[0].layer);
  EXPECT_NE(point, nullptr);
  if (point == nullptr) return {};
  EXPECT_EQ(*point, (hw::PointLayer{5, 4, 9, point->stages}));
  return point->stages;
}

ModelBuilder image() {
  ModelBuilder b(17);
  b.input("x", {2, 9, 4, 5});
  return b;
}

TEST(UnitLayers, IsPoolingThatOfItsWindows) {
  ModelBuilder b(17);
  b.input("x", {2, 9, 12, 15});
  b.node("MaxPool", {"x"}, {"y"},
         {ModelBuilder::ints("kernel_shape", {3, 4}), ModelBuilder::ints("strides", {2, 3}),
          ModelBuilder::ints("pads", {1, 2, 0, 1})});
  b.output("y");
  const hw::PoolLayer pool{15, 12, 9, 4, 3, 3, 2, 2, 1, 5, 6, {}};
  EXPECT_EQ(work_of(b), (UnitWork{{{pool, 2}}}));
}

TEST(UnitLayers, IsAGlobalAverageOneWindow) {
  ModelBuilder b(17);
  b.input("x", {3, 512, 7, 7}).node("GlobalAveragePool", {"x"}, {"y"}).output("y");
  const hw::PoolLayer pool{7, 7, 512, 7, 7, 1, 1, 0, 0, 1, 1, {}};
  EXPECT_EQ(work_of(b), (UnitWork{{{pool, 3}}}));
}

TEST(UnitLayers, IsAMeanOfAllPositionsPooling) {
  const hw::PoolLayer pool{7, 6, 512, 7, 6, 1, 1, 0, 0, 1, 1, {}};
  for (const int64_t keeps : {0, 1}) {
    ModelBuilder b(17);
    b.input("x", {3, 512, 6, 7});
    b.node("ReduceMean", {"x"}, {"y"},
           {ModelBuilder::ints("axes", {-1, 2}), {"keepdims", "", keeps}});
    b.output("y");
    EXPECT_EQ(work_of(b), (UnitWork{{{pool, 3}}}));
  }
  ModelBuilder other(17);
  other.input("x", {3, 512, 6, 7});
  other.node("ReduceMean", {"x"}, {"y"}, {ModelBuilder::ints("axes", {1})}).output("y");
  EXPECT_EQ(work_of(other).lacks, "on lanes: operators that no unit has");
}

TEST(UnitLayers, IsLrnThatOfAnImage) {
  ModelBuilder b = image();
  b.node("LRN", {"x"}, {"y"}, {{"size", "", int64_t{5}}}).output("y");
  EXPECT_EQ(work_of(b), (UnitWork{{{hw::LrnLayer{5, 4, 9, false}, 2}}}));
}

TEST(UnitLayers, ReadsASumItsOtherOperand) {
  ModelBuilder b = image();
  b.input("z", {2, 9, 4, 5}).node("Add", {"x", "z"}, {"y"}).output("y");
  EXPECT_EQ(stages_of(b), (Stages{{true, false, 1}}));
}

/// A sum, a product and ReLU are one stage in this order. Any other order takes the next one.
TEST(UnitLayers, GoThroughStagesInOrder) {
  ModelBuilder b = image();
  b.input("z", {2, 9, 4, 5}).node("Add", {"x", "z"}, {"s"}).node("Relu", {"s"}, {"y"}).output("y");
  EXPECT_EQ(stages_of(b), (Stages{{true, false, 1}}));
  ModelBuilder relu = image();
  relu.node("Relu", {"x"}, {"y"}).output("y");
  EXPECT_EQ(stages_of(relu), (Stages{{}}));
}

TEST(UnitLayers, TakeAFactorBeforeASumTwoStages) {
  ModelBuilder b = image();
  b.weight("c", {}).weight("d", {});
  b.node("Mul", {"x", "c"}, {"p"}).node("Add", {"p", "d"}, {"y"}).output("y");
  EXPECT_EQ(stages_of(b), (Stages{{false, true, 0}, {true, false, 0}}));
  ModelBuilder one = image();
  one.weight("c", {}).weight("d", {});
  one.node("Add", {"x", "c"}, {"s"}).node("Mul", {"s", "d"}, {"y"}).output("y");
  EXPECT_EQ(stages_of(one), (Stages{{true, true, 0}}));
}

TEST(UnitLayers, IsWhatIsLackingSaid) {
  const auto lacks = [](const ModelBuilder& b) { return std::string(work_of(b).lacks); };
  ModelBuilder channels = image();
  channels.input("c", {9, 1, 1}).node("Mul", {"x", "c"}, {"y"}).output("y");
  EXPECT_EQ(lacks(channels), "on lanes: operands that are neither one nor one per element");
  ModelBuilder root = image();
  root.node("Sigmoid", {"x"}, {"y"}).output("y");
  EXPECT_EQ(lacks(root), "on lanes: functions that the point-wise unit doesn't have");
  ModelBuilder softmax = image();
  softmax.node("Softmax", {"x"}, {"y"}, {{"axis", "", int64_t{1}}}).output("y");
  EXPECT_EQ(lacks(softmax), "on lanes: operators that no unit has");
  ModelBuilder wide = image();
  wide.node("MaxPool", {"x"}, {"y"},
            {ModelBuilder::ints("kernel_shape", {2, 2}), ModelBuilder::ints("dilations", {2, 2})});
  wide.output("y");
  EXPECT_EQ(lacks(wide), "on lanes: windows that the pooling unit doesn't have");
}

/// Of a network the report has each layer's own cycles, and names what lanes do.
TEST(UnitLayers, DoesAReportSayWhoDidWhat) {
  ModelBuilder b(17);
  b.input("x", {1, 64, 28, 28});
  b.node("MaxPool", {"x"}, {"p"},
         {ModelBuilder::ints("kernel_shape", {2, 2}), ModelBuilder::ints("strides", {2, 2})});
  b.node("GlobalAveragePool", {"p"}, {"y"}).output("y");
  const auto graph = elaborate(b.model(), {});
  ASSERT_TRUE(graph.ok());
  const auto network = cost_network(*graph, nv_small(), {});
  ASSERT_TRUE(network.ok()) << network.errors().front().text();
  const std::vector<LayerReport>& layers = network->report.layers;
  ASSERT_EQ(layers.size(), 2U);
  EXPECT_EQ(layers[0].costs.cycles, 20 + 32 + 33 + 28 * 28 * 64);
  EXPECT_EQ(layers[0].unverifiable, "units for pooling, LRN and point-wise layers");
  EXPECT_EQ(layers[0].costs.compute_bound, 28 * 28 * 64);
  EXPECT_EQ(layers[1].unverifiable, "on lanes: shapes beyond the units");  // 14 x 14 taps
  EXPECT_GT(layers[1].costs.cycles, 14 * 14 * 64);
}

}  // namespace
}  // namespace accsim::sim
