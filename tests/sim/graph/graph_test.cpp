#include "sim/graph/graph.h"

#include <gtest/gtest.h>

namespace accsim::sim {
namespace {

/// x -> Relu -> y -> Add(y, y) -> z
Graph chain() {
  Graph graph;
  graph.file = "m.onnx";
  const auto add = [&](std::string name, NodeId producer) {
    Tensor tensor;
    tensor.name = std::move(name);
    tensor.origin = producer < 0 ? Tensor::Origin::input : Tensor::Origin::node;
    tensor.dtype = DType::float32;
    tensor.dims = {2, 3};
    tensor.producer = producer;
    graph.tensors.push_back(std::move(tensor));
  };
  add("x", kNoNode);
  add("y", 0);
  add("z", 1);
  graph.nodes.push_back({"relu", "Relu", "", 17, {0, kNoTensor}, {1}, {}, false});
  graph.nodes.push_back({"add", "Add", "", 17, {1, 1}, {2}, {}, false});
  graph.inputs = {0};
  graph.outputs = {2};
  return graph;
}

std::string problem(const Graph& graph) {
  const Status status = verify_graph(graph);
  return status.ok() ? "" : status.errors().front().text();
}

TEST(Graph, IsAGoodGraphAccepted) { EXPECT_EQ("", problem(chain())); }

TEST(Graph, WhoReadsATensor) {
  const std::vector<std::vector<NodeId>> expected{{0}, {1}, {}};
  EXPECT_EQ(expected, consumers_by_tensor(chain()));
}

TEST(Graph, IsEachBrokenGraphRefusedWithTheNodesName) {
  Graph graph = chain();
  graph.nodes[1].inputs[0] = 7;
  EXPECT_NE(std::string::npos, problem(graph).find("node 'add' (op Add)"));

  graph = chain();
  std::swap(graph.nodes[0], graph.nodes[1]);
  EXPECT_NE(std::string::npos, problem(graph).find("before it is written"));

  graph = chain();
  graph.nodes[1].outputs[0] = 1;
  EXPECT_NE(std::string::npos, problem(graph).find("again"));

  graph = chain();
  graph.tensors[2].producer = 0;
  EXPECT_NE(std::string::npos, problem(graph).find("isn't the producer"));

  graph = chain();
  graph.tensors[1].dims = {int64_t{1} << 40, int64_t{1} << 40};
  EXPECT_NE(std::string::npos, problem(graph).find("62 bits"));

  graph = chain();
  graph.tensors[0].value = std::make_shared<const ConstData>(std::vector<int64_t>{1});
  EXPECT_NE(std::string::npos, problem(graph).find("elements of value"));

  graph = chain();
  graph.nodes[0].name.clear();
  EXPECT_NE(std::string::npos, problem(graph).find("no name"));

  graph = chain();
  graph.outputs = {9};
  EXPECT_NE(std::string::npos, problem(graph).find("output"));
}

}  // namespace
}  // namespace accsim::sim
