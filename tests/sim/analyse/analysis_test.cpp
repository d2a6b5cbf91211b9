#include "sim/analyse/analysis.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "sim/analyse/op_kinds.h"
#include "sim/elaborate/elaborate.h"
#include "sim/lower/lower_each.h"
#include "sim/onnx/reader.h"
#include "sim/operators/names.h"
#include "tests/support/models.h"
#include "tests/support/source.h"

namespace accsim::sim {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::ModelBuilder;
using namespace std::string_literals;

const fs::path kTree = kSource;

struct Analysed {
  Graph graph;
  Lowered lowered;
  Analysis analysis;

  const NodeAnalysis& node(const std::string& name) const {
    for (const NodeAnalysis& n : analysis.nodes)
      if (graph.nodes[static_cast<size_t>(n.node)].name == name) return n;
    throw std::logic_error("no node " + name);
  }
  std::string name(NodeId id) const { return graph.nodes[static_cast<size_t>(id)].name; }
};

Analysed analysed(const ModelDef& model, const AnalyseOptions& options = {}) {
  auto graph = elaborate(model, {.bindings = {{"*", 1}}});
  EXPECT_TRUE(graph.ok()) << graph.errors().front().text();
  auto lowered = lower_each(*graph);
  EXPECT_TRUE(lowered.ok()) << lowered.errors().front().text();
  auto analysis = analyse(*graph, *lowered, options);
  EXPECT_TRUE(analysis.ok()) << analysis.errors().front().text();
  return {std::move(*graph), std::move(*lowered), std::move(*analysis)};
}

Analysed analysed_file(const std::string& name, const AnalyseOptions& options = {}) {
  const auto model = read_model((kTree / "models" / (name + ".onnx")).string());
  EXPECT_TRUE(model.ok()) << model.errors().front().text();
  return analysed(*model, options);
}

json truth(const std::string& name) {
  std::ifstream in(kTree / "tests/data/truth" / (name + ".json"));
  EXPECT_TRUE(in.good()) << name;
  return json::parse(in);
}

int64_t sum_of(const json& layers, const std::function<int64_t(const json&)>& value) {
  int64_t sum = 0;
  for (const json& l : layers) sum += value(l);
  return sum;
}

int64_t elements_of(const json& shape) {
  int64_t n = 1;
  for (const json& d : shape) n *= d.get<int64_t>();
  return n;
}

// ---- published figures --------------------------------------------------------------------------

TEST(KnownFigures, OfAlexNet) {
  const Analysed a = analysed_file("alexnet_op13");
  EXPECT_EQ(a.analysis.params, 61'100'840);
  EXPECT_EQ(a.analysis.weight_bytes, 244'403'360);
  EXPECT_EQ(a.analysis.weight_bytes_without_bias, 244'361'984);
  EXPECT_EQ(a.analysis.bytes_by_type, (std::map<std::string, int64_t>{{"float32", 244'403'360}}));
  EXPECT_EQ(a.analysis.macs, 714'188'480);
  const std::map<std::string, int64_t> layers = {
      {"/features/features.0/Conv", 70'276'800},     {"/features/features.3/Conv", 223'948'800},
      {"/features/features.6/Conv", 112'140'288},    {"/features/features.8/Conv", 149'520'384},
      {"/features/features.10/Conv", 99'680'256},    {"/classifier/classifier.1/Gemm", 37'748'736},
      {"/classifier/classifier.4/Gemm", 16'777'216}, {"/classifier/classifier.6/Gemm", 4'096'000}};
  for (const auto& [name, macs] : layers) EXPECT_EQ(a.node(name).macs, macs) << name;
}

TEST(KnownFigures, OfGoogLeNetUnderEachConvention) {
  const auto by_op = [](MacConvention macs) {
    return analysed_file("googlenet_bn_op13", {.macs = macs}).analysis.macs_by_op;
  };
  auto pure = by_op(MacConvention::pure);
  EXPECT_EQ(pure.size(), 2U);
  EXPECT_EQ(pure["Conv"], 1'497'352'192);
  EXPECT_EQ(pure["Gemm"], 1'024'000);
  auto bias = by_op(MacConvention::bias);
  EXPECT_EQ(bias["Conv"], 1'497'352'192) << "its convolutions have no bias before folding";
  EXPECT_EQ(bias["Gemm"], 1'025'000);
  auto all = by_op(MacConvention::all);
  EXPECT_EQ(all["MaxPool"], 2'875'712);
  EXPECT_EQ(all["GlobalAveragePool"], 50'176);
  EXPECT_EQ(all["BatchNormalization"], 6'452'320);
  EXPECT_EQ(all["Gemm"], 1'025'000);
  EXPECT_EQ(all["Relu"], 6'452'320 / 2) << "one after each BatchNorm";
  const Analysed a = analysed_file("googlenet_bn_op13");
  EXPECT_EQ(a.analysis.params, 6'624'904);
  // With ceil_mode the last pooling of the stem gives 14x14 and 7x7, not 13x13 and 6x6.
  EXPECT_EQ(a.node("/maxpool3/MaxPool").outputs[0], (Dims{1, 480, 14, 14}));
  EXPECT_EQ(a.node("/maxpool4/MaxPool").outputs[0], (Dims{1, 832, 7, 7}));
}

TEST(KnownFigures, OfResNet18) {
  const Analysed a = analysed_file("resnet18_bn_op13");
  EXPECT_EQ(a.analysis.params, 11'689'512);
  EXPECT_EQ(a.analysis.macs, 1'814'073'344);
}

TEST(KnownFigures, OfMobileNetV2sBandwidth) {
  for (const char* file : {"mobilenet_v2_op13", "mobilenet_v2_op9"}) {
    const Analysed a = analysed_file(file);
    const NodeAnalysis* first = nullptr;
    for (const NodeAnalysis& n : a.analysis.nodes)
      if (!first && n.macs > 0) first = &n;
    ASSERT_NE(first, nullptr);
    EXPECT_EQ(first->read_bytes, 602'112) << "1x3x224x224 floats";
    EXPECT_EQ(first->write_bytes, 1'605'632) << "1x32x112x112 floats";
    EXPECT_EQ(first->weight_read_bytes, 4 * (32 * 3 * 3 * 3 + 32));
    // The activation behind the first expansion, 1x96x112x112 floats in and out.
    const auto peak = static_cast<size_t>(a.analysis.peak_node);
    EXPECT_EQ(a.analysis.nodes[peak].total_bytes(), 9'633'792);
    EXPECT_EQ(a.graph.nodes[peak].op_type, "Clip");
  }
}

// ---- against what PyTorch recorded --------------------------------------------------------------

class MeasuredNetwork : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(MeasuredNetwork, HasTheWeightsBiasesAndActivationsThatHooksSaw) {
  const Analysed a = analysed_file(GetParam().first);
  const json t = truth(GetParam().second);
  const auto field = [](const char* key) {
    return [key](const json& l) { return l[key].get<int64_t>(); };
  };
  EXPECT_EQ(a.analysis.params, t["params"].get<int64_t>());
  EXPECT_EQ(a.analysis.weight_bytes, t["weight_bytes_fp32"].get<int64_t>());
  EXPECT_EQ(a.analysis.weight_bytes_without_bias, 4 * sum_of(t["layers"], field("weight_elems")));
  // Outputs of convolutions, normalisations and linear layers, which are nodes in both worlds.
  int64_t ours = 0;
  for (const NodeAnalysis& n : a.analysis.nodes) {
    const std::string& op = a.graph.nodes[static_cast<size_t>(n.node)].op_type;
    if (op == "Conv" || op == "Gemm" || op == "BatchNormalization") ours += n.write_bytes;
  }
  EXPECT_EQ(ours, sum_of(t["layers"], [](const json& l) {
              const auto op = l["op"].get<std::string>();
              const bool counts = op == "Conv2d" || op == "Linear" || op == "BatchNorm2d";
              return counts ? 4 * elements_of(l["out_shapes"][0]) : 0;
            }));
}

INSTANTIATE_TEST_SUITE_P(Models, MeasuredNetwork,
                         testing::Values(std::pair{"alexnet_op13", "alexnet"},
                                         std::pair{"vgg16_op13", "vgg16"},
                                         std::pair{"squeezenet1_1_op13", "squeezenet1_1"},
                                         std::pair{"googlenet_bn_op13", "googlenet"},
                                         std::pair{"resnet18_bn_op13", "resnet18"}),
                         [](const auto& test) { return std::string(test.param.second); });

TEST(Biases, OfATransformerAreItsOneDimensionalAdditions) {
  // BERT: of its vectors all but the LayerNorms' scales are added to something.
  const json t = truth("bert_base");
  const Analysed a = analysed_file("bert_base_op17");
  const int64_t vectors = t["params"].get<int64_t>() - t["params_dim_ge2"].get<int64_t>();
  const int64_t scales = sum_of(t["layers"], [](const json& l) {
    return l["op"] == "LayerNorm" ? l["weight_elems"].get<int64_t>() : 0;
  });
  const int64_t biases = vectors - scales;
  EXPECT_EQ(a.analysis.weight_bytes - a.analysis.weight_bytes_without_bias, 4 * biases);
}

// ---- every model --------------------------------------------------------------------------------

std::vector<fs::path> models() {
  std::vector<fs::path> out;
  for (const auto& entry : fs::recursive_directory_iterator(kTree / "models"))
    if (entry.path().extension() == ".onnx") out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

class EveryModel : public testing::TestWithParam<fs::path> {};

TEST_P(EveryModel, GoesThroughAndItsSumsAddUp) {
  const auto model = read_model(GetParam().string());
  ASSERT_TRUE(model.ok());
  const AnalyseOptions options{
      .macs = MacConvention::all, .reads = ReadConvention::all, .in_place = true, .reorder = true};
  const Analysed x = analysed(*model, options);
  const Analysis& a = x.analysis;
  int64_t params = 0, macs = 0, moved = 0, by_op = 0, by_type = 0, ops = 0;
  for (const NodeAnalysis& n : a.nodes) {
    params += n.params;
    macs += n.macs;
    moved += n.total_bytes();
    EXPECT_TRUE(!n.constant || n.macs + n.total_bytes() == 0) << x.name(n.node);
  }
  for (const auto& [op, count] : a.macs_by_op) by_op += count;
  for (const auto& [type, bytes] : a.bytes_by_type) by_type += bytes;
  for (const auto& [op, summary] : a.ops) ops += summary.count;
  EXPECT_EQ(params, a.params);
  EXPECT_EQ(macs, a.macs);
  EXPECT_EQ(by_op, a.macs);
  EXPECT_EQ(by_type, a.weight_bytes);
  EXPECT_EQ(moved, a.total_bytes());
  EXPECT_EQ(static_cast<size_t>(ops), x.graph.nodes.size());
  EXPECT_LE(a.weight_bytes_without_bias, a.weight_bytes);
  const Activation& act = a.activation;
  ASSERT_EQ(act.reordered.size(), 1U);
  EXPECT_LE(act.reordered[0].peak.bytes, act.given.peak.bytes);
  for (const MemoryPlan* plan : {&act.given, &act.reordered[0]}) {
    EXPECT_GE(plan->arena.bytes, plan->peak.bytes);
    EXPECT_LE(plan->peak.bytes, a.input_bytes + act.sum_bytes);
  }
  const Analysed apart = analysed(*model);
  EXPECT_GE(apart.analysis.activation.given.peak.bytes, act.given.peak.bytes)
      << "working in place never needs more";
}

INSTANTIATE_TEST_SUITE_P(Models, EveryModel, testing::ValuesIn(models()),
                         [](const auto& test) { return test.param.stem().string(); });

// ---- conventions on small graphs ----------------------------------------------------------------

/// The second input of a Reshape.
StoredTensor shape_of(const std::string& name, const std::vector<int64_t>& dims) {
  StoredTensor shape;
  shape.name = name;
  shape.dtype = DType::int64;
  shape.dims = {static_cast<int64_t>(dims.size())};
  shape.value = std::make_shared<ConstData>(dims);
  return shape;
}

ModelBuilder linear_with_bias_add() {
  ModelBuilder b;
  b.input("x", {5, 8}).weight("w", {8, 6}).weight("shift", {6});
  b.node("MatMul", {"x", "w"}, {"product"})
      .node("Add", {"product", "shift"}, {"sum"})
      .node("Relu", {"sum"}, {"y"})
      .output("y");
  return b;
}

TEST(Macs, CountABiasAddOnce) {
  const auto macs = [](MacConvention convention) {
    return analysed(linear_with_bias_add().model(), {.macs = convention}).analysis.macs_by_op;
  };
  using Counts = std::map<std::string, int64_t>;
  EXPECT_EQ(macs(MacConvention::pure), (Counts{{"MatMul", 5 * 8 * 6}}));
  EXPECT_EQ(macs(MacConvention::bias), (Counts{{"MatMul", 5 * 8 * 6}, {"Add", 5 * 6}}));
  EXPECT_EQ(macs(MacConvention::all),
            (Counts{{"MatMul", 5 * 8 * 6}, {"Add", 5 * 6}, {"Relu", 5 * 6}}));
}

TEST(Biases, AreThoseOfAnAddWhoeverElseReadsTheProduct) {
  ModelBuilder b;
  b.input("x", {5, 8}).weight("w", {8, 6}).weight("first", {6}).weight("second", {1, 6});
  b.weight("rows", {5, 1});
  b.node("MatMul", {"x", "w"}, {"product"}).node("Identity", {"product"}, {"same"});
  b.node("Add", {"product", "first"}, {"a"}).node("Add", {"second", "same"}, {"b"});
  b.node("Add", {"product", "rows"}, {"c"}).node("Add", {"a", "first"}, {"d"});
  b.output("product").output("b").output("c").output("d");
  const Analysed a = analysed(b.model(), {.macs = MacConvention::bias});
  EXPECT_EQ(a.node("product").macs, 5 * 8 * 6);
  EXPECT_EQ(a.node("a").macs, 5 * 6);
  EXPECT_EQ(a.node("b").macs, 5 * 6) << "behind a view";
  EXPECT_EQ(a.node("c").macs, 0) << "one number a row, not a column";
  EXPECT_EQ(a.node("d").macs, 0) << "added to a sum, not to a product";
  EXPECT_EQ(a.analysis.weight_bytes_without_bias, 4 * (8 * 6 + 5));
}

TEST(Biases, OfAConvolutionReachTheViewsThatKeepItsChannels) {
  ModelBuilder b;
  b.input("x", {2, 3, 4, 4}).weight("w", {4, 3, 1, 1}).weight("shift", {4, 1});
  b.weight("apart", {4, 1});
  b.node("Conv", {"x", "w"}, {"c"});
  b.node("Reshape", {"c", "kept"}, {"v"}).node("Add", {"v", "shift"}, {"y"});
  b.node("Reshape", {"c", "mixed"}, {"u"}).node("Add", {"u", "apart"}, {"z"});
  b.output("y").output("z");
  ModelDef model = b.model();
  model.graph.initializers.push_back(shape_of("kept", {2, 4, 16}));
  model.graph.initializers.push_back(shape_of("mixed", {4, 4, 8}));
  const Analysed a = analysed(model, {.macs = MacConvention::bias});
  EXPECT_EQ(a.node("y").macs, 2 * 4 * 16);
  EXPECT_EQ(a.node("z").macs, 0);
  EXPECT_EQ(a.analysis.weight_bytes_without_bias, 4 * (4 * 3 + 4));
}

TEST(Biases, OfATransposedConvolutionAreAddedOncePerOutput) {
  ModelBuilder b;
  b.input("x", {1, 4, 5, 5}).weight("w", {4, 6, 3, 3}).weight("shift", {6});
  b.node("ConvTranspose", {"x", "w", "shift"}, {"y"}).output("y");
  const auto count = [&](MacConvention macs) {
    return analysed(b.model(), {.macs = macs}).analysis.macs;
  };
  const int64_t products = 4 * 5 * 5 * 6 * 3 * 3, outputs = 6 * 7 * 7;
  EXPECT_EQ(count(MacConvention::pure), products);
  EXPECT_EQ(count(MacConvention::bias), products + outputs);
  EXPECT_EQ(count(MacConvention::all), products + outputs);
  const Analysed a = analysed(b.model());
  EXPECT_EQ(a.analysis.weight_bytes, 4 * (4 * 6 * 9 + 6));
  EXPECT_EQ(a.analysis.weight_bytes_without_bias, 4 * 4 * 6 * 9);
}

TEST(Biases, AreFoundBehindANodeThatReshapesThem) {
  ModelBuilder b;
  b.input("x", {1, 3, 6, 6}).weight("w", {4, 3, 3, 3}).weight("shift", {4});
  b.node("Identity", {"shift"}, {"same"}).node("Conv", {"x", "w", "same"}, {"y"}).output("y");
  const Analysed a = analysed(b.model());
  EXPECT_EQ(a.analysis.weight_bytes, 4 * (4 * 27 + 4));
  EXPECT_EQ(a.analysis.weight_bytes_without_bias, 4 * 4 * 27);
}

TEST(Traffic, MovesEachInputOnceAndOfAGatherOnlyWhatItTakes) {
  ModelBuilder b;
  b.input("ids", {7}, DType::int64).weight("table", {1000, 16}).input("x", {7, 16});
  b.node("Gather", {"table", "ids"}, {"rows"}).node("Add", {"rows", "rows"}, {"twice"});
  b.node("Mul", {"twice", "x"}, {"y"}).output("y");
  const Analysed a = analysed(b.model());
  EXPECT_EQ(a.node("rows").activation_read_bytes, 7 * 8);
  EXPECT_EQ(a.node("rows").weight_read_bytes, 7 * 16 * 4);
  EXPECT_EQ(a.node("twice").read_bytes, 7 * 16 * 4) << "both operands are one tensor";
  EXPECT_EQ(a.node("y").read_bytes, 2 * 7 * 16 * 4);
  const Analysed all = analysed(b.model(), {.reads = ReadConvention::all});
  EXPECT_EQ(all.node("rows").read_bytes, 7 * 8 + 7 * 16 * 4);
}

TEST(Traffic, OfABatchNormalizationIsThatOfItsFourVectorsWhateverIsBeforeIt) {
  const std::vector<std::string> vectors = {"scale", "shift", "mean", "variance"};
  for (const char* op : {"Relu", "Conv"}) {
    ModelBuilder b;
    b.input("x", {1, 64, 2, 2}).weight("w", {64, 64, 1, 1});
    for (const std::string& v : vectors) b.weight(v, {64});
    if (op == std::string("Conv"))
      b.node("Conv", {"x", "w"}, {"a"});
    else
      b.node("Relu", {"x"}, {"a"});
    b.node("BatchNormalization", {"a", "scale", "shift", "mean", "variance"}, {"y"}).output("y");
    const Analysed a = analysed(b.model());
    EXPECT_EQ(a.node("y").weight_read_bytes, 4 * 64 * 4) << "behind " << op;
    EXPECT_EQ(a.node("y").activation_read_bytes, 64 * 2 * 2 * 4) << "behind " << op;
  }
}

/// A product, a view of its result and a sum with that; maybe another reader of the product.
ModelDef product_view_sum(const std::string& view, bool forks) {
  ModelBuilder b;
  b.input("x", {8, 16}).input("q", {8, 16}).weight("w", {16, 16});
  b.node("MatMul", {"x", "w"}, {"r"});
  b.node(view, view == "Reshape" ? std::vector<std::string>{"r", "shape"} : std::vector{"r"s},
         {"v"});
  b.node("Add", {"v", "q"}, {"y"}).output("y");
  if (forks) b.node("Tanh", {"r"}, {"z"}).output("z");
  ModelDef model = b.model();
  if (view == "Reshape") model.graph.initializers.push_back(shape_of("shape", {8, 16}));
  return model;
}

TEST(Views, ShareTheirInputsMemoryWhateverReadsThem) {
  for (const char* view : {"Reshape", "Flatten", "Identity", "Dropout"})
    for (const bool forks : {false, true}) {
      const Analysed a = analysed(product_view_sum(view, forks));
      EXPECT_TRUE(a.node("v").view) << view << forks;
      EXPECT_EQ(a.node("v").total_bytes(), 0) << view << forks;
      EXPECT_EQ(a.node("y").activation_read_bytes, 2 * 8 * 16 * 4) << view << forks;
      EXPECT_EQ(a.analysis.activation.storage.views, 1) << view << forks;
      EXPECT_EQ(a.analysis.activation.given.peak.bytes, 3 * 8 * 16 * 4)
          << view << forks << ": of the product, q and one result";
    }
}

TEST(Views, AreNodesThatMoveNothingByThemselves) {
  // A transpose that only moves dims of 1 shows the same bytes, another one doesn't; of two tensors
  // put together neither does.
  ModelBuilder b;
  b.input("x", {1, 4, 6});
  const auto turned = [&](const char* to, std::vector<int64_t> perm) {
    b.node("Transpose", {"x"}, {to}, {ModelBuilder::ints("perm", std::move(perm))}).output(to);
  };
  turned("shown", {1, 0, 2});
  turned("moved", {0, 2, 1});
  b.node("Concat", {"x", "x"}, {"joined"}, {Attribute{"axis", "", int64_t{0}}}).output("joined");
  const Analysed a = analysed(b.model());
  EXPECT_TRUE(a.node("shown").view);
  EXPECT_FALSE(a.node("moved").view);
  EXPECT_EQ(a.node("moved").total_bytes(), 2 * 4 * 6 * 4);
  EXPECT_FALSE(a.node("joined").view);
  EXPECT_EQ(a.node("joined").write_bytes, 2 * 4 * 6 * 4);
}

/// The model with its one node of com.microsoft.
ModelDef of_microsoft(ModelDef model) {
  model.opsets[std::string(kMicrosoft)] = 1;
  model.graph.nodes.at(0).domain = kMicrosoft;
  return model;
}

TEST(Traffic, IsOfPackedRowsTheirBytesWithTheirScalesAndZeroPoints) {
  ModelBuilder b;
  b.input("ids", {2, 7}, DType::int64).weight("t", {100, 32}, DType::uint8);
  b.weight("scales", {100, 2}).weight("zeros", {100, 1}, DType::uint8);
  b.node("GatherBlockQuantized", {"t", "ids", "scales", "zeros"}, {"rows"},
         {{"bits", "", int64_t{4}}, {"block_size", "", int64_t{32}}});
  const Analysed a = analysed(of_microsoft(b.output("rows").model()));
  EXPECT_EQ(a.node("rows").activation_read_bytes, 2 * 7 * 8);
  EXPECT_EQ(a.node("rows").weight_read_bytes, 2 * 7 * (32 + 2 * 4 + 1));
  EXPECT_EQ(a.node("rows").write_bytes, 2 * 7 * 64 * 4);
}

TEST(Traffic, IsOfPackedWeightsAllWithTheirScales) {
  ModelBuilder b;
  b.input("x", {3, 64}).weight("w", {5, 2, 16}, DType::uint8).weight("scales", {5, 2});
  b.node("MatMulNBits", {"x", "w", "scales"}, {"y"},
         {{"K", "", int64_t{64}},
          {"N", "", int64_t{5}},
          {"bits", "", int64_t{4}},
          {"block_size", "", int64_t{32}}});
  const Analysed a = analysed(of_microsoft(b.output("y").model()));
  EXPECT_EQ(a.node("y").weight_read_bytes, 5 * 64 / 2 + 5 * 2 * 4);
}

TEST(Memory, OfAChainWithAndWithoutWorkingInPlace) {
  ModelBuilder b;
  b.input("x", {1, 100}).weight("w", {100, 50});
  b.node("MatMul", {"x", "w"}, {"a"})
      .node("Reshape", {"a", "shape"}, {"v"})
      .node("Relu", {"v"}, {"r"})
      .node("Neg", {"r"}, {"y"})
      .output("y");
  ModelDef model = b.model();
  model.graph.initializers.push_back(shape_of("shape", {5, 10}));
  const Analysed apart = analysed(model);
  const Activation& given = apart.analysis.activation;
  EXPECT_EQ(given.sum_bytes, 4 * 4 * 50);
  EXPECT_EQ(given.storage.views, 1);
  EXPECT_EQ(given.storage.in_place, 0);
  EXPECT_EQ(given.given.peak.bytes, 4 * (100 + 50)) << "the product: its input and its result";
  EXPECT_EQ(given.given.peak.place, 0);
  EXPECT_EQ(apart.node("v").total_bytes(), 0) << "a view moves nothing";
  const Analysed in_place = analysed(model, {.in_place = true});
  const Storage& s = in_place.analysis.activation.storage;
  EXPECT_EQ(s.in_place, 2);
  EXPECT_EQ(s.buffers.size(), 2U) << "the input, and everything else";
}

TEST(Memory, IsNotOverwrittenWhileAnybodyElseReadsIt) {
  // v shows a's bytes and is read after the Relu of a: the Relu may not work in place.
  ModelBuilder b;
  b.input("x", {4, 6});
  b.node("Neg", {"x"}, {"a"})
      .node("Flatten", {"a"}, {"v"})
      .node("Relu", {"a"}, {"r"})
      .node("Add", {"v", "r"}, {"y"})
      .output("y");
  const Analysed a = analysed(b.model(), {.in_place = true});
  const Storage& s = a.analysis.activation.storage;
  EXPECT_EQ(s.in_place, 1)
      << "only the Add, over the Relu's result; the input is never overwritten";
  std::vector<std::vector<std::string>> names;
  for (const Storage::Buffer& buffer : s.buffers) {
    names.emplace_back();
    for (TensorId id : buffer.tensors) names.back().push_back(a.graph.tensor(id).name);
  }
  EXPECT_EQ(names, (std::vector<std::vector<std::string>>{{"x"}, {"a", "v"}, {"r", "y"}}));
}

TEST(Memory, KeepsGraphOutputsToTheEnd) {
  ModelBuilder b;
  b.input("x", {10});
  b.node("Neg", {"x"}, {"a"}).node("Abs", {"a"}, {"b"}).node("Exp", {"b"}, {"c"});
  b.output("a").output("c");
  const Analysed a = analysed(b.model());
  const MemoryPlan& plan = a.analysis.activation.given;
  EXPECT_EQ(plan.peak.bytes, 3 * 40) << "a, b and c while Exp runs";
  EXPECT_EQ(plan.peak.place, 2);
}

TEST(Operators, AreSummarisedWithTheirAttributesRanges) {
  const Analysed a = analysed_file("alexnet_op13");
  const OpSummary& conv = a.analysis.ops.at("Conv");
  EXPECT_EQ(conv.count, 5);
  const AttributeSummary& kernel = conv.attributes.at("kernel_shape");
  EXPECT_EQ(kernel.count, 5);
  EXPECT_EQ(kernel.distinct, 3);
  EXPECT_EQ(kernel.values,
            (std::vector<AttributeValue>{std::vector<int64_t>{3, 3}, std::vector<int64_t>{5, 5},
                                         std::vector<int64_t>{11, 11}}));
  EXPECT_EQ(kernel.least, 3);
  EXPECT_EQ(kernel.most, 11);
  EXPECT_EQ(a.analysis.ops.at("Relu").count, 7);
  EXPECT_TRUE(a.analysis.ops.at("Relu").attributes.empty());
}

TEST(Operators, SurviveAttributesWithoutOrder) {
  ModelBuilder b;
  b.input("x", {4});
  const auto alpha = [](double v) { return Attribute{"alpha", "", v}; };
  b.node("LeakyRelu", {"x"}, {"a"}, {alpha(std::nan(""))})
      .node("LeakyRelu", {"a"}, {"b"}, {alpha(0.5)})
      .node("LeakyRelu", {"b"}, {"c"}, {alpha(std::nan(""))})
      .output("c");
  const Analysed a = analysed(b.model());
  const AttributeSummary& summary = a.analysis.ops.at("LeakyRelu").attributes.at("alpha");
  EXPECT_EQ(summary.count, 3);
  EXPECT_EQ(summary.distinct, 2);
  EXPECT_EQ(summary.least, 0.5);
}

TEST(Analyse, RefusesSizesThatCannotBeCounted) {
  ModelBuilder b;
  b.input("x", {int64_t{1} << 55}).node("Flatten", {"x"}, {"y"}).output("y");
  const auto graph = elaborate(b.model(), {});
  ASSERT_TRUE(graph.ok());
  const auto lowered = lower_each(*graph);
  ASSERT_TRUE(lowered.ok());
  const auto analysis = analyse(*graph, *lowered, {});
  ASSERT_FALSE(analysis.ok());
  EXPECT_EQ(analysis.errors().front().code, Errc::overflow);
  EXPECT_NE(analysis.errors().front().message.find("'x'"), std::string::npos);
}

TEST(Analyse, TakesNoNodesThatAreMerged) {
  const auto graph = elaborate(linear_with_bias_add().model(), {});
  ASSERT_TRUE(graph.ok());
  const auto merged = lower(*graph);
  ASSERT_TRUE(merged.ok());
  EXPECT_DEATH((void)analyse(*graph, *merged, {}), "lower_each");
}

TEST(OpKinds, KnowNamesakesOfOtherDomainsApart) {
  const auto node = [](std::string domain, std::string op) {
    Node n;
    n.domain = std::move(domain);
    n.op_type = std::move(op);
    return n;
  };
  EXPECT_EQ(kind_of(node("", "MaxPool")), OpKind::pooling);
  EXPECT_EQ(kind_of(node("mine", "MaxPool")), OpKind::other);
  EXPECT_EQ(kind_of(node("", "BatchNormalization")), OpKind::normalization);
  EXPECT_EQ(kind_of(node("", "Sigmoid")), OpKind::elementwise);
  EXPECT_EQ(kind_of(node("com.microsoft", "QuickGelu")), OpKind::elementwise);
  EXPECT_EQ(kind_of(node("", "Conv")), OpKind::convolution);
  EXPECT_EQ(kind_of(node("mine", "Conv")), OpKind::other);
  for (const char* op : {"Cast", "Identity", "Dropout", "Concat", "ReduceSum"})
    EXPECT_EQ(kind_of(node("", op)), OpKind::other) << op;
  EXPECT_EQ(shift_port(node("", "LayerNormalization")), 2);
  EXPECT_EQ(shift_port(node("mine", "LayerNormalization")), -1);
  EXPECT_EQ(op_label(node("ai.onnx", "Conv")), "Conv");
  EXPECT_EQ(op_label(node("com.microsoft", "FusedConv")), "com.microsoft.FusedConv");
}

TEST(Analyse, TakesUnsupportedNodesAsTheirTraffic) {
  ModelBuilder b;
  b.input("x", {3, 4}).node("Mystery", {"x"}, {"y"}).output("y");
  ElaborateOptions options;
  options.allow_unsupported = true;
  const auto graph = elaborate(b.model(), options);
  ASSERT_TRUE(graph.ok());
  const auto lowered = lower_each(*graph);
  ASSERT_TRUE(lowered.ok());
  const auto analysis = analyse(*graph, *lowered, {});
  ASSERT_TRUE(analysis.ok());
  EXPECT_EQ(analysis->nodes[0].read_bytes, 3 * 4 * 4);
  EXPECT_EQ(analysis->macs, 0);
}

}  // namespace
}  // namespace accsim::sim
