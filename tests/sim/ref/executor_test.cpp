#include "sim/ref/executor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <string>
#include <tuple>

#include "sim/elaborate/elaborate.h"
#include "sim/onnx/reader.h"
#include "tests/support/models.h"
#include "tests/support/source.h"

namespace accsim::sim::ref {
namespace {

Graph load(const std::string& name) {
  const Result<ModelDef> model = read_model(kSource + "/models/" + name);
  EXPECT_TRUE(model.ok());
  Result<Graph> graph = elaborate(*model, {});
  EXPECT_TRUE(graph.ok());
  return *graph;
}

Arrays inputs_of(const Graph& graph, uint64_t seed = 0) {
  Arrays inputs;
  for (TensorId id : graph.inputs) inputs[graph.tensor(id).name] = random_input(graph, id, seed);
  return inputs;
}

bool same_bytes(const Array& a, const Array& b) {
  return a.dims() == b.dims() &&
         std::memcmp(a.raw_data(), b.raw_data(), static_cast<size_t>(a.bytes())) == 0;
}

/// Most bytes of node results and inputs alive at a node, from first write to last read. A view
/// shares its input's bytes.
int64_t live_peak(const Graph& graph) {
  std::vector<size_t> last(graph.tensors.size(), 0);
  for (size_t n = 0; n < graph.nodes.size(); ++n)
    for (TensorId id : graph.nodes[n].inputs)
      if (id != kNoTensor) last[static_cast<size_t>(id)] = n;
  for (TensorId id : graph.outputs) last[static_cast<size_t>(id)] = graph.nodes.size();
  const auto bytes = [&](TensorId id) {
    return storage_bytes(graph.tensor(id).dtype, elements(graph.tensor(id).dims));
  };
  int64_t live = 0, peak = 0;
  for (TensorId id : graph.inputs) live += bytes(id);
  for (size_t n = 0; n < graph.nodes.size(); ++n) {
    for (TensorId id : graph.nodes[n].outputs) live += id == kNoTensor ? 0 : bytes(id);
    peak = std::max(peak, live);
    std::vector<TensorId> read = graph.nodes[n].inputs;
    std::ranges::sort(read);
    read.erase(std::ranges::unique(read).begin(), read.end());
    for (TensorId id : read)
      if (id != kNoTensor && graph.tensor(id).origin != Tensor::Origin::initializer &&
          last[static_cast<size_t>(id)] == n)
        live -= bytes(id);
  }
  return peak;
}

int64_t weight_bytes(const Graph& graph) {
  int64_t sum = 0;
  for (const Tensor& t : graph.tensors)
    if (t.origin == Tensor::Origin::initializer) sum += storage_bytes(t.dtype, elements(t.dims));
  return sum;
}

TEST(Executor, DoesPeakMemoryStayWithin1Point3TimesTheLiveSetPlusWeights) {
  for (const char* name : {"resnet18_op13.onnx", "mobilenet_v2_op13.onnx",
                           "squeezenet1_1_op13.onnx", "googlenet_op17.onnx"}) {
    const Graph graph = load(name);
    RunOptions options;
    options.weight_seed = 1;
    const Result<RunResult> result = run_graph(graph, inputs_of(graph), options);
    ASSERT_TRUE(result.ok()) << result.errors().front().text();
    const int64_t live = live_peak(graph), weights = weight_bytes(graph);
    EXPECT_LE(result->peak_bytes, static_cast<int64_t>(1.3 * static_cast<double>(live + weights)));
    EXPECT_GE(result->peak_bytes, live) << name << ": the counter misses arrays";
    // Weights are freed too, so the peak is far below all of them together with the live set.
    if (std::string(name) == "resnet18_op13.onnx") {
      EXPECT_LT(result->peak_bytes, weights / 2);
    }
  }
}

TEST(Executor, DoesPeakMemoryOfHalvesStayWithinTheirOwnBytesToo) {
  // They take four bytes an element while alive, but weights come and go one layer at a time.
  for (const char* name :
       {"resnet18_op13.onnx", "mobilenet_v2_op13.onnx", "squeezenet1_1_op13.onnx"}) {
    Graph graph = load(name);
    for (Tensor& tensor : graph.tensors)
      if (tensor.dtype == DType::float32) tensor.dtype = DType::float16;
    RunOptions options;
    options.weight_seed = 1;
    const Result<RunResult> result = run_graph(graph, inputs_of(graph), options);
    ASSERT_TRUE(result.ok()) << result.errors().front().text();
    const int64_t bytes = live_peak(graph) + weight_bytes(graph);
    EXPECT_LE(result->peak_bytes, static_cast<int64_t>(1.3 * static_cast<double>(bytes))) << name;
  }
}

TEST(Executor, AreResultsTheSameForAnyNumberOfThreads) {
  for (const char* name : {"squeezenet1_1_op13.onnx", "llama_tiny2_prefill64_op17.onnx"}) {
    const Graph graph = load(name);
    RunOptions options;
    options.weight_seed = 3;
    const Result<RunResult> one = run_graph(graph, inputs_of(graph), options);
    ASSERT_TRUE(one.ok());
    for (int threads : {2, 3, 7}) {
      options.threads = threads;
      const Result<RunResult> many = run_graph(graph, inputs_of(graph), options);
      ASSERT_TRUE(many.ok());
      for (const auto& [output, array] : one->outputs)
        EXPECT_TRUE(same_bytes(array, many->outputs.at(output))) << name << " " << threads;
    }
  }
}

TEST(Executor, DoPreloadedWeightsGiveTheSame) {
  const Graph graph = load("squeezenet1_1_op13.onnx");
  RunOptions options;
  options.weight_seed = 3;
  const Result<RunResult> fresh = run_graph(graph, inputs_of(graph), options);
  const Result<std::vector<Array>> loaded = load_weights(graph, 3);
  ASSERT_TRUE(loaded.ok() && fresh.ok());
  options.loaded = &*loaded;
  const Result<RunResult> again = run_graph(graph, inputs_of(graph), options);
  ASSERT_TRUE(again.ok());
  EXPECT_TRUE(same_bytes(fresh->outputs.begin()->second, again->outputs.begin()->second));
}

TEST(Executor, IsAMissingWeightNamedWithItsFile) {
  const Graph graph = load("squeezenet1_1_op13.onnx");
  const Result<RunResult> result = run_graph(graph, inputs_of(graph), {});
  ASSERT_FALSE(result.ok());
  const std::string text = result.errors().front().text();
  EXPECT_NE(text.find("weights.bin"), std::string::npos) << text;
  EXPECT_NE(text.find("--weights random:SEED"), std::string::npos) << text;
}

Graph relu_graph() {
  test::ModelBuilder builder(13);
  builder.input("x", {2, 3}).node("Relu", {"x"}, {"y"}).node("Neg", {"y"}, {"z"}).output("z");
  Result<Graph> graph = elaborate(builder.model(), {});
  EXPECT_TRUE(graph.ok());
  return *graph;
}

TEST(Executor, AreInputsOfAnotherShapeOrTypeRefused) {
  const Graph graph = relu_graph();
  EXPECT_FALSE(run_graph(graph, {}, {}).ok());
  EXPECT_FALSE(run_graph(graph, {{"x", Array(DType::float32, {3, 2})}}, {}).ok());
  EXPECT_FALSE(run_graph(graph, {{"x", Array(DType::float64, {2, 3})}}, {}).ok());
  EXPECT_TRUE(run_graph(graph, inputs_of(graph), {}).ok());
}

TEST(Executor, IsAnAttributeThatItsOperatorDoesNotHaveRefused) {
  for (const auto& [domain, op, known] :
       {std::tuple{"", "LeakyRelu", "alpha"}, {"com.microsoft", "QuickGelu", "alpha"}}) {
    Graph graph = relu_graph();
    Node& node = graph.nodes.front();
    node.op_type = op;
    node.domain = domain;
    node.attributes = {{known, "", 0.5}};
    EXPECT_TRUE(check_runnable(graph).ok()) << op;
    node.attributes.push_back({"alhpa", "", 0.5});
    const Status status = check_runnable(graph);
    ASSERT_FALSE(status.ok()) << op;
    EXPECT_EQ(status.errors().front().code, Errc::unsupported);
    EXPECT_NE(status.errors().front().message.find("'alhpa' is unknown"), std::string::npos);
  }
}

TEST(Executor, DoesTheObserverSeeEveryNodeInOrderAndCanItStop) {
  const Graph graph = relu_graph();
  std::vector<std::string> seen;
  RunOptions options;
  options.observe = [&](const NodeRun& node) -> Status {
    seen.push_back(graph.nodes[static_cast<size_t>(node.node)].op_type);
    EXPECT_EQ(node.inputs.size(), 1u);
    EXPECT_EQ(node.outputs.size(), 1u);
    return ok();
  };
  ASSERT_TRUE(run_graph(graph, inputs_of(graph), options).ok());
  EXPECT_EQ(seen, (std::vector<std::string>{"Relu", "Neg"}));
  options.observe = [](const NodeRun&) -> Status { return Error{Errc::io, "disk full", ""}; };
  EXPECT_FALSE(run_graph(graph, inputs_of(graph), options).ok());
  options.observe = nullptr;
  options.progress = [](size_t done, size_t) { return done == 0; };
  EXPECT_FALSE(run_graph(graph, inputs_of(graph), options).ok());
}

TEST(Executor, DoesASubstituteStandInForTheKernel) {
  const Graph graph = relu_graph();
  RunOptions options;
  options.substitute = [&](NodeId node, const std::vector<Array>& inputs,
                           std::vector<Array>& outputs) -> Result<bool> {
    if (node != 0) return false;
    outputs[0] = inputs[0];
    return true;
  };
  const Arrays inputs = inputs_of(graph);
  const Result<RunResult> result = run_graph(graph, inputs, options);
  ASSERT_TRUE(result.ok());
  for (int64_t i = 0; i < 6; ++i)
    EXPECT_EQ(result->outputs.at("z").data<float>()[i], -inputs.at("x").data<float>()[i]);
}

TEST(RandomInput, DependsOnNameAndSeedAndStaysInRange) {
  const Graph graph = load("bert_base_op17.onnx");
  for (TensorId id : graph.inputs) {
    const Array a = random_input(graph, id, 1), b = random_input(graph, id, 1),
                c = random_input(graph, id, 2);
    EXPECT_TRUE(same_bytes(a, b));
    EXPECT_FALSE(same_bytes(a, c));
    for (int64_t v : a.integers()) {
      EXPECT_GE(v, 0);
      EXPECT_LT(v, 30522);  // BERT's vocabulary
    }
  }
}

}  // namespace
}  // namespace accsim::sim::ref
