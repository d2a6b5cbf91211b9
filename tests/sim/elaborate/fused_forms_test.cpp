#include "sim/elaborate/fused_forms.h"

#include <gtest/gtest.h>

#include "tests/sim/elaborate/model_parts.h"

namespace accsim::sim {
namespace {

constexpr char kOwnDomain[] = "com.microsoft";

NodeDef ms(std::string op, Strings inputs, Strings outputs,
           std::vector<Attribute> attributes = {}) {
  NodeDef def = node(std::move(op), std::move(inputs), std::move(outputs), std::move(attributes));
  def.domain = kOwnDomain;
  return def;
}

/// A model of one node whose inputs "x0", "x1", ... have such dims.
ModelDef model_of_inputs(NodeDef def, const std::vector<Dims>& dims) {
  ModelDef model = model_of({std::move(def)});
  model.opsets[kOwnDomain] = 1;
  model.graph.inputs.clear();
  for (size_t i = 0; i < dims.size(); ++i) {
    std::vector<DimDef> sizes;
    for (const int64_t d : dims[i]) sizes.push_back({d, ""});
    model.graph.inputs.push_back(value("x" + std::to_string(i), sizes));
  }
  return model;
}

Strings operators(const Graph& graph) {
  Strings out;
  for (const Node& n : graph.nodes) out.push_back(n.op_type);
  return out;
}

TEST(FusedForms, StandOthersInTheirPlaceUnlessTheFilesOwnNodesAreWanted) {
  const ModelDef model = model_of_inputs(ms("BiasGelu", {"x0", "x1"}, {"y"}), {{2, 4}, {4}});
  const Result<Graph> costed = elaborate(model, ones());
  ASSERT_TRUE(costed.ok());
  EXPECT_EQ(operators(*costed), (Strings{"Add", "Gelu"}));
  EXPECT_EQ(costed->tensor(costed->outputs[0]).name, "y");
  ElaborateOptions options = ones();
  options.as_written = true;
  const Result<Graph> written = elaborate(model, options);
  ASSERT_TRUE(written.ok());
  EXPECT_EQ(operators(*written), (Strings{"BiasGelu"}));
}

TEST(FusedForms, AreErrorsThoseOfTheOperatorsOwnRule) {
  const std::string said =
      problem(model_of_inputs(ms("BiasGelu", {"x0", "x1"}, {"y"}), {{2, 4}, {2, 4}}));
  EXPECT_TRUE(says(said, "must have 4 elements")) << said;
}

/// Weights of NhwcFusedConv: as the definition has them, and with channels last.
TEST(FusedForms, AreWeightsOfEitherOrderThoseOfOneConvolution) {
  for (const Dims& weights : {Dims{8, 3, 3, 4}, Dims{8, 4, 3, 3}}) {
    const Attribute kernel{"kernel_shape", "", std::vector<int64_t>{3, 3}};
    const ModelDef model = model_of_inputs(ms("NhwcFusedConv", {"x0", "x1", "x2"}, {"y"}, {kernel}),
                                           {{1, 6, 6, 4}, weights, {8}});
    const Result<Graph> graph = elaborate(model, ones());
    ASSERT_TRUE(graph.ok()) << graph.errors().front().text();
    EXPECT_EQ(graph->tensor(graph->outputs[0]).dims, (Dims{1, 4, 4, 8}));
  }
}

/// ONNX Runtime's kernels take parameters in single precision beside inputs in half.
TEST(FusedForms, MayParametersBeOfAnotherFloat) {
  ModelDef model = model_of_inputs(ms("LinearAttentionGate", {"x0", "x1", "x2", "x3"}, {"y", "z"}),
                                   {{1, 2, 4}, {4}, {4}, {1, 2, 4}});
  for (const size_t half : {0, 3}) model.graph.inputs[half].dtype = DType::float16;
  const Result<Graph> graph = elaborate(model, ones());
  ASSERT_TRUE(graph.ok()) << graph.errors().front().text();
  EXPECT_EQ(graph->tensor(graph->outputs[0]).dtype, DType::float16);
}

/// Two heads of queries and keys, each of which two heads of values have.
TEST(FusedForms, MayHeadsOfAStateShareKeys) {
  const ModelDef model =
      model_of_inputs(ms("LinearAttention", {"x0", "x1", "x2", "x3", "x4", "x5"}, {"y", "state"},
                         {{"q_num_heads", "", int64_t{2}}, {"kv_num_heads", "", int64_t{4}}}),
                      {{1, 1, 16}, {1, 1, 16}, {1, 1, 12}, {1, 4, 8, 3}, {1, 1, 4}, {1, 1, 4}});
  const Result<Graph> graph = elaborate(model, ones());
  ASSERT_TRUE(graph.ok()) << graph.errors().front().text();
  EXPECT_EQ(graph->tensor(graph->outputs[0]).dims, (Dims{1, 1, 12}));
}

/// Blocks of channels are filled up; a convolution channel by channel has weights for these, too.
TEST(FusedForms, HaveConvolutionsOfBlocksNoMoreChannelsThanTheirInput) {
  NodeDef conv = node("Conv", {"x0", "x1", "x2"}, {"y"},
                      {{"group", "", int64_t{16}}, {"pads", "", std::vector<int64_t>{1, 1, 1, 1}}});
  conv.domain = "com.microsoft.nchwc";
  ModelDef model = model_of_inputs(conv, {{1, 12, 6, 6}, {16, 1, 3, 3}, {16}});
  model.opsets["com.microsoft.nchwc"] = 1;
  const Result<Graph> graph = elaborate(model, ones());
  ASSERT_TRUE(graph.ok()) << graph.errors().front().text();
  EXPECT_EQ(graph->tensor(graph->outputs[0]).dims, (Dims{1, 12, 6, 6}));
}

TEST(FusedForms, SaysARefusedOperatorWhatItStandsForAndWhatToDo) {
  const std::string said = problem(model_of_inputs(ms("BeamSearch", {"x0"}, {"y"}), {{2, 4}}));
  EXPECT_TRUE(says(said, "is refused: it is a search for tokens")) << said;
  EXPECT_TRUE(says(said, "Export the decoder for one step")) << said;
}

TEST(FusedForms, SaysAFormWithoutSpellingWhy) {
  const std::string said =
      problem(model_of_inputs(ms("BitmaskDropout", {"x0"}, {"y", "mask"}), {{2, 4}}));
  EXPECT_TRUE(says(said, "export it for inference")) << said;
}

}  // namespace
}  // namespace accsim::sim
