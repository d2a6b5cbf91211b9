#include "sim/lower/key_blocks.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sim/elaborate/elaborate.h"
#include "tests/support/models.h"

namespace accsim::sim {
namespace {

using test::ModelBuilder;

constexpr int64_t kDepth = 4;

/// Keys, turned, and what reads them.
Graph turned_keys(int64_t keys) {
  ModelBuilder b;
  b.input("k", {2, keys, kDepth});
  b.node("Transpose", {"k"}, {"t"}, {ModelBuilder::ints("perm", {0, 2, 1})});
  b.node("Neg", {"t"}, {"y"}).output("y");
  return *elaborate(b.model(), {});
}

TEST(KeyBlocks, HaveAllKeysInNearlyEqualParts) {
  for (int64_t keys = 1; keys < 40; ++keys)
    for (int64_t each = 1; each <= keys; ++each) {
      const Graph graph = turned_keys(keys);
      RebuiltGraph rebuilt(graph);
      rebuilt.begin_part_of(0);
      KeyBlocks blocks(rebuilt);
      blocks.begin_keys(keys, each);
      int64_t all = 0, least = keys, most = 0;
      for (const TensorId id : blocks.blocks_along(graph.inputs[0], 1)) {
        const int64_t size = rebuilt.dims(id)[1];
        EXPECT_EQ(rebuilt.dims(id), (Dims{2, size, kDepth}));
        all += size;
        least = std::min(least, size);
        most = std::max(most, size);
      }
      EXPECT_EQ(static_cast<int64_t>(blocks.count()), keys / each);
      EXPECT_EQ(all, keys);
      EXPECT_LE(most - least, 1);
    }
}

/// The tensor that a node turns is split, and each block of it turned.
TEST(KeyBlocks, AreCutWhereTheirKeysComeFrom) {
  const Graph graph = turned_keys(10);
  const TensorId turned = graph.nodes[0].outputs[0];
  RebuiltGraph rebuilt(graph);
  rebuilt.begin_part_of(0);
  KeyBlocks blocks(rebuilt);
  blocks.begin_keys(10, 3);
  const KeyBlocks::Blocks cut = blocks.blocks_along(turned, 2);
  EXPECT_EQ(blocks.blocks_along(turned, 2), cut) << "they are made once";
  rebuilt.add_node(rebuilt.new_operator("Concat", 13, {{"axis", "", int64_t{2}}}), "whole", cut,
                   {turned});
  rebuilt.keep_node(1);
  const Graph out = rebuilt.take_graph();
  EXPECT_TRUE(verify_graph(out).ok());
  std::vector<std::string> ops;
  for (const Node& node : out.nodes) ops.push_back(node.op_type);
  EXPECT_EQ(ops, (std::vector<std::string>{"Split", "Transpose", "Transpose", "Transpose", "Concat",
                                           "Neg"}));
  const std::vector<int64_t> sizes{4, 3, 3};
  for (size_t b = 0; b < cut.size(); ++b)
    EXPECT_EQ(out.tensor(cut[b]).dims, (Dims{2, kDepth, sizes[b]}));
}

}  // namespace
}  // namespace accsim::sim
