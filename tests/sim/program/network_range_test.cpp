#include "sim/program/network_range.h"

#include <gtest/gtest.h>

#include "hw/config/load.h"
#include "tests/support/models.h"
#include "tests/support/source.h"

namespace accsim::sim {
namespace {

/// Two convolutions with a function in the first one's program, and pooling.
class NetworkRange : public testing::Test {
 protected:
  void SetUp() override {
    test::ModelBuilder m;
    m.input("in", {1, 8, 12, 12}).weight("w1", {16, 8, 3, 3}).weight("w2", {16, 16, 1, 1});
    m.node("Conv", {"in", "w1"}, {"first"});
    m.node("Relu", {"first"}, {"clip"});
    m.node("Conv", {"clip", "w2"}, {"second"});
    m.node("MaxPool", {"second"}, {"pool"}, {test::ModelBuilder::ints("kernel_shape", {2, 2})});
    m.output("pool");
    graph_ = *elaborate(m.model(), {});
    network_ = *cost_network(graph_, *hw::load_hw(kSource + "/configs/8x8.yaml"), {});
    program_ = network_program(graph_, network_);
  }

  Result<VerifiedLayers> find(const LayerWords& words) const {
    return find_layers(words, network_, program_);
  }
  std::string error(const LayerWords& words) const {
    const Result<VerifiedLayers> found = find(words);
    return found ? "" : found.errors().front().text();
  }
  const std::string& name(size_t layer) const { return network_.lowered.layers[layer].name; }

  Graph graph_;
  CostedNetwork network_;
  NetworkProgram program_;
};

TEST_F(NetworkRange, TakesNamesAndNumbers) {
  const VerifiedLayers none = *find({});
  EXPECT_FALSE(none.from || none.until || none.traced);
  EXPECT_EQ(find({.from = name(2)})->from, 2U);
  EXPECT_EQ(find({.from = "2"})->from, 2U);
  EXPECT_EQ(find({.from = "0", .until = name(2), .traced = "2"})->traced, 2U);
}

TEST_F(NetworkRange, SaysWhatIsNoLayerOfIt) {
  const auto says = [&](const LayerWords& words, const std::string& part) {
    EXPECT_NE(error(words).find(part), std::string::npos) << error(words);
  };
  says({.from = name(2) + "x"}, "did you mean '" + name(2) + "'?");
  says({.until = "4"}, "--until: there is no layer '4'; layers have names and numbers, 0 to 3");
  says({.from = "1"},
       "has no commands of its own in the network's program; the next that has "
       "some is '" +
           name(2) + "'");
  says({.from = "2", .until = "0"}, "--until: '0' ends before '2' begins");
  says({.from = "2", .traced = "0"}, "--trace-layer: '0' isn't among the layers that run on RTL");
  says({.until = "0", .traced = "2"}, "isn't among the layers");
}

TEST_F(NetworkRange, IsWhatStandsFromALayersHeadToTheNextOnes) {
  const std::vector<hw::Item>& body = program_.program.body;
  const BodyRange first = body_of(0, program_), second = body_of(2, program_),
                  pool = body_of(3, program_);
  EXPECT_EQ(first.first, 0U);
  EXPECT_EQ(pool.end, body.size());
  EXPECT_EQ(std::get<hw::LayerHead>(body[second.first].node).name, name(2));
  const BodyRange rest = body_of({.from = 2}, program_), begin = body_of({.until = 2}, program_);
  EXPECT_EQ(std::pair(rest.first, rest.end), std::pair(second.first, body.size()));
  EXPECT_EQ(std::pair(begin.first, begin.end), std::pair(size_t{0}, second.end));
}

}  // namespace
}  // namespace accsim::sim
