#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "sim/elaborate/elaborate.h"
#include "sim/lower/lower.h"
#include "sim/lower/pads.h"
#include "tests/support/graph_values.h"
#include "tests/support/models.h"

/// Windows that slide over a padded tensor: where they take the padding over, the reference
/// executor makes the same numbers of them, and the padding costs nothing.
namespace accsim::sim {
namespace {

using test::ModelBuilder;

constexpr int64_t kOpset = 13;

/// x, its rectified form when asked, Pad of some lists and fill, and what reads it.
struct Case {
  std::string what;
  bool taken = true;
  std::vector<int64_t> pads{0, 0, 1, 2, 0, 0, 0, 1};
  std::string op = "Conv";
  std::vector<Attribute> attributes{};
  std::string fill = "";  ///< initializer of a number; "": absent
  std::string mode = "constant";
  bool rectified = false, read_twice = false, is_output = false;
  int64_t opset = kOpset;
};

Attribute kernel(int64_t side) { return ModelBuilder::ints("kernel_shape", {side, side}); }
Attribute word(const std::string& name, const std::string& value) { return {name, "", value}; }
Attribute number(const std::string& name, int64_t value) { return {name, "", value}; }

void add_number(ModelBuilder& b, const std::string& name, double value) {
  b.node("Constant", {}, {name}, {{"value_float", "", value}});
}

ModelBuilder network(const Case& c) {
  ModelBuilder b(c.opset);
  b.input("x", {2, 3, 9, 8}).weight("w", {4, 3, 3, 3}).weight("w2", {4, 3, 1, 1});
  b.constant("pads", {8}, c.pads);
  add_number(b, "zero", 0);
  add_number(b, "one", 1);
  add_number(b, "none", -std::numeric_limits<double>::infinity());
  std::string x = "x";
  if (c.rectified) b.node("Relu", {x}, {"r"}), x = "r";
  b.node("Pad", {x, "pads", c.fill}, {"p"}, {word("mode", c.mode)});
  std::vector<std::string> inputs{"p"};
  if (c.op == "Conv") inputs.emplace_back("w");
  b.node(c.op, inputs, {"y"}, c.attributes).output("y");
  if (c.read_twice) b.node("Conv", {"p", "w2"}, {"z"}).output("z");
  if (c.is_output) b.output("p");
  return b;
}

const Attribute kSteps = ModelBuilder::ints("strides", {2, 3});

std::vector<Case> convolutions() {
  const Attribute wide = ModelBuilder::ints("pads", {2, 0, 1, 0}),
                  valid = word("auto_pad", "VALID");
  return {
      {.what = "a convolution"},
      {.what = "beside pads of its own, strides", .attributes = {wide, kSteps}},
      {.what = "as wide as the kernel", .pads = {0, 0, 3, 4, 0, 0, 5, 3}, .attributes = {kSteps}},
      {.what = "auto_pad VALID", .attributes = {valid}},
      {.what = "a stated zero", .fill = "zero"},
      {.what = "two readers", .read_twice = true},
      {.what = "another number", .taken = false, .fill = "one"},
      {.what = "reflected", .taken = false, .mode = "reflect"},
      {.what = "along channels",
       .taken = false,
       .pads = {0, 1, 1, 1, 0, 0, 1, 1},
       .op = "AveragePool",
       .attributes = {kernel(3)}},
      {.what = "cut off", .taken = false, .pads = {0, 0, -1, 0, 0, 0, 0, 0}},
      {.what = "windows that find their edges",
       .taken = false,
       .attributes = {word("auto_pad", "SAME_UPPER")}},
      {.what = "an output of the network", .taken = false, .is_output = true},
  };
}

std::vector<Case> poolings() {
  const Attribute own = ModelBuilder::ints("pads", {1, 1, 1, 1}),
                  counts = number("count_include_pad", 1);
  return {
      {.what = "a mean", .op = "AveragePool", .attributes = {kernel(3)}},
      {.what = "a mean that counts pads of its own",
       .op = "AveragePool",
       .attributes = {kernel(3), own, counts, kSteps}},
      {.what = "a mean that doesn't",
       .taken = false,
       .op = "AveragePool",
       .attributes = {kernel(3), own}},
      {.what = "a mean with a part of a window",
       .taken = false,
       .op = "AveragePool",
       .attributes = {kernel(3), ModelBuilder::ints("strides", {2, 2}), number("ceil_mode", 1)}},
      {.what = "a maximum with infinity",
       .op = "MaxPool",
       .attributes = {kernel(3)},
       .fill = "none"},
      {.what = "a maximum of what isn't negative",
       .op = "MaxPool",
       .attributes = {kernel(3), kSteps},
       .rectified = true},
      {.what = "a maximum of anything and zero",
       .taken = false,
       .op = "MaxPool",
       .attributes = {kernel(3)}},
      {.what = "a maximum of padding alone",
       .taken = false,
       .pads = {0, 0, 3, 0, 0, 0, 0, 0},
       .op = "MaxPool",
       .attributes = {kernel(3)},
       .rectified = true},
      {.what = "a maximum of padding and of its own",
       .taken = false,
       .pads = {0, 0, 2, 2, 0, 0, 2, 2},
       .op = "MaxPool",
       .attributes = {kernel(3), ModelBuilder::ints("pads", {2, 2, 2, 2})},
       .rectified = true},
      {.what = "a maximum of elements apart",
       .taken = false,
       .op = "MaxPool",
       .attributes = {kernel(2), ModelBuilder::ints("dilations", {2, 2})},
       .rectified = true},
  };
}

std::vector<std::vector<double>> outputs(const Graph& graph) {
  return test::graph_values(graph, 7, 3);
}

/// Does the padding cost anything?
bool works(const Graph& graph) {
  const auto lowered = lower(graph);
  EXPECT_TRUE(lowered.ok());
  return std::ranges::any_of(lowered->layers,
                             [](const Layer& l) { return l.name == "p" && !l.work.empty(); });
}

TEST(AbsorbPads, WindowsTakePaddingWithoutChangingANumber) {
  std::vector<Case> cases = convolutions();
  std::ranges::copy(poolings(), std::back_inserter(cases));
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    const auto graph = elaborate(network(c).model(), {});
    ASSERT_TRUE(graph.ok()) << graph.errors().front().text();
    const Graph after = absorb_pads(*graph);
    ASSERT_TRUE(verify_graph(after).ok());
    EXPECT_TRUE(works(*graph));
    EXPECT_EQ(works(after), !c.taken);
    EXPECT_EQ(outputs(after), outputs(*graph)) << "sums of the same numbers in the same order";
  }
}

TEST(AbsorbPads, ProductsAreThoseOfThePaddedTensor) {
  const auto graph = elaborate(network({.what = "a convolution"}).model(), {});
  ASSERT_TRUE(graph.ok());
  int64_t macs = 0;
  const auto lowered = lower(absorb_pads(*graph));
  ASSERT_TRUE(lowered.ok());
  for (const Layer& l : lowered->layers) macs += l.macs;
  // 9 x 8 grow by 1 x 3 around 3 x 3: results of 8 x 9, 3 channels to 4.
  EXPECT_EQ(macs, 2 * (8 * 9) * 4 * (3 * 3 * 3));
}

/// What integers a zero is isn't known where the file pads them.
TEST(AbsorbPads, PaddingOfIntegersStays) {
  ModelBuilder b;
  b.input("x", {1, 3, 9, 8})
      .weight("w", {4, 3, 3, 3})
      .constant("pads", {8}, {0, 0, 1, 1, 0, 0, 1, 1});
  b.node("Pad", {"x", "pads"}, {"p"}).node("Conv", {"p", "w"}, {"y"}).output("y");
  auto graph = elaborate(b.model(), {});
  ASSERT_TRUE(graph.ok());
  const auto quantise = [&](int64_t zero) {
    Graph g = *graph;
    Tensor z;
    z.name = "zero_point";
    z.dtype = DType::uint8;
    z.constant = true;
    z.value = std::make_shared<ConstData>(std::vector<int64_t>{zero});
    g.tensors.push_back(z);
    const auto id = static_cast<TensorId>(g.tensors.size() - 1);
    g.tensor(g.inputs[0]).quantisation = Quantisation{.scale = id, .zero_point = id};
    return g;
  };
  EXPECT_TRUE(works(absorb_pads(quantise(7))));
  EXPECT_FALSE(works(absorb_pads(quantise(0))));
}

}  // namespace
}  // namespace accsim::sim
