#include "sim/elaborate/symbols.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sim/elaborate/elaborate.h"
#include "tests/sim/elaborate/model_parts.h"

namespace accsim::sim {
namespace {

/// Inputs of the given shapes, of which the first is read.
ModelDef with_inputs(std::vector<ValueDef> inputs) {
  ModelDef model = model_of({node("Identity", {inputs.front().name}, {"y"})});
  model.graph.inputs = std::move(inputs);
  return model;
}

/// The names of axes; "3": a number.
std::vector<DimDef> axes(const Strings& names) {
  std::vector<DimDef> out;
  for (const std::string& name : names) {
    const bool number = !name.empty() && name.find_first_not_of("0123456789") == std::string::npos;
    out.push_back(number ? DimDef{std::stoll(name), ""} : DimDef{-1, name});
  }
  return out;
}

/// The sizes that nobody gave.
Strings open_sizes(const ModelDef& model, const ElaborateOptions& options = {}) {
  InputDefs inputs;
  for (const ValueDef& input : model.graph.inputs) inputs.push_back(&input);
  const Result<BoundInputs> bound = bind_symbols(inputs, options);
  EXPECT_TRUE(bound.ok()) << bound.errors().front().text();
  return bound ? bound->open : Strings{};
}

TEST(Symbols, WhatDoSymbolsBecome) {
  ModelDef model = model_of({node("Relu", {"x"}, {"y"})});
  ElaborateOptions options;
  options.bindings["n"] = 5;
  Result<Graph> graph = elaborate(model, options);
  ASSERT_TRUE(graph.ok()) << graph.errors().front().text();
  EXPECT_EQ((Dims{2, 5}), graph->tensor(graph->outputs[0]).dims);
  EXPECT_TRUE(graph->defaulted.empty());
  EXPECT_EQ(5, graph->bindings.at("n"));

  model.graph.inputs.push_back(value("mask", {{-1, ""}, {-1, "n + 1"}}));
  graph = elaborate(model, options);
  ASSERT_TRUE(graph.ok()) << graph.errors().front().text();
  EXPECT_EQ((Dims{1, 6}), graph->tensor(graph->inputs[1]).dims) << "n + 1 follows from n";
  EXPECT_EQ(Strings{"mask_dim0"}, graph->defaulted);
}

TEST(Symbols, OnlyABatchCountsAsOneUnasked) {
  const auto open = [](const std::vector<Strings>& shapes) {
    std::vector<ValueDef> inputs;
    for (const Strings& shape : shapes)
      inputs.push_back(value("x" + std::to_string(inputs.size()), axes(shape)));
    return open_sizes(with_inputs(std::move(inputs)));
  };
  EXPECT_EQ(open({{"n", "3", "224", "224"}}), Strings{});
  EXPECT_EQ(open({{"n", "3", "h", "w"}}), (Strings{"h", "w"}));
  EXPECT_EQ(open({{"3", "n"}}), Strings{"n"}) << "a second axis is no batch";
  EXPECT_EQ(open({{"n"}}), Strings{"n"}) << "an only axis may count anything";
  EXPECT_EQ(open({{"n"}, {"n", "4"}}), Strings{}) << "but not where another input has it first";
  EXPECT_EQ(open({{"n"}, {"1", "n"}}), Strings{"n"});
  EXPECT_EQ(open({{"n", "n"}}), Strings{"n"}) << "a mask";
  EXPECT_EQ(open({{"1", "n", "8"}, {"n", "4"}}), Strings{"n"}) << "a table of positions";
  EXPECT_EQ(open({{"b", "n"}, {"3", "b", "n"}, {"b", "2", "p", "8"}}), (Strings{"n", "p"}))
      << "rows of positions in threes";
  EXPECT_EQ(open({{"b", "n"}, {"b", "n + p"}, {"b", "2", "p", "8"}}), (Strings{"n", "p"}))
      << "what these spell follows";
}

TEST(Symbols, AxesWithoutANameAreEachASizeOfTheirOwn) {
  for (const char* nothing : {"", "?", "None", "-1", "*", " "}) {
    const DimDef open{-1, nothing};
    ModelDef model =
        with_inputs({value("x", {open, {3, ""}, open, open}), value("z", {open, open})});
    EXPECT_EQ(open_sizes(model), (Strings{"x_dim2", "x_dim3", "z_dim1"})) << nothing;
    ElaborateOptions options;
    options.input_shapes = {{"x", {1, 3, 48, 192}}};
    options.bindings = {{"z_dim1", 7}};
    const auto graph = elaborate(model, options);
    ASSERT_TRUE(graph.ok()) << graph.errors().front().text();
    EXPECT_EQ(graph->tensor(graph->outputs[0]).dims, (Dims{1, 3, 48, 192}));
    EXPECT_EQ(graph->tensor(graph->inputs[1]).dims, (Dims{1, 7}));
    EXPECT_EQ(graph->defaulted, Strings{"z_dim0"});
  }
  // A name is a name, even where it is short or has a sign of an exporter in it.
  EXPECT_EQ(open_sizes(with_inputs({value("x", axes({"b", "?1", "?1", "N"}))})),
            (Strings{"?1", "N"}));
}

TEST(Symbols, TheStarBindsAllThatIsLeft) {
  const ModelDef model =
      with_inputs({value("x", axes({"b", "3", "h", "?"})), value("z", axes({"b", "h + 1"}))});
  ElaborateOptions options;
  options.bindings = {{"*", 8}, {"h", 5}};
  Result<Graph> graph = elaborate(model, options);
  ASSERT_TRUE(graph.ok()) << graph.errors().front().text();
  EXPECT_EQ(graph->tensor(graph->inputs[0]).dims, (Dims{8, 3, 5, 8})) << "the batch, too";
  EXPECT_EQ(graph->tensor(graph->inputs[1]).dims, (Dims{8, 6})) << "what is spelt isn't left";
  EXPECT_EQ(graph->bindings,
            (std::map<std::string, int64_t>{{"b", 8}, {"h", 5}, {"h + 1", 6}, {"x_dim3", 8}}));
  EXPECT_EQ(graph->defaulted, Strings{});
  options.input_shapes["x"] = {1, 3, 5, 9};
  graph = elaborate(model, options);
  ASSERT_TRUE(graph.ok()) << graph.errors().front().text();
  EXPECT_EQ(graph->tensor(graph->inputs[1]).dims, (Dims{1, 6})) << "a shape that is given says b";
  for (const int64_t size : {int64_t{0}, int64_t{-1}})
    EXPECT_TRUE(says(problem(model, {.bindings = {{"*", size}}}), "below 1 are bound by name"));
  EXPECT_EQ("", problem(with_inputs({value("x", axes({"2", "3"}))}), ones())) << "nothing is left";
}

TEST(Symbols, FollowFromOthersByTheirNames) {
  const auto becomes = [](const std::string& name, int64_t n) {
    ModelDef model = model_of({node("Relu", {"x"}, {"y"})});
    model.graph.inputs.push_back(value("mask", {{2, ""}, {-1, name}}));
    const auto graph = elaborate(model, {.bindings = {{"n", n}, {"*", 100}}});
    EXPECT_TRUE(graph.ok()) << graph.errors().front().text();
    return graph ? graph->tensor(graph->inputs[1]).dims[1] : -1;
  };
  EXPECT_EQ(becomes("n - 2", 7), 5);
  EXPECT_EQ(becomes("3*n + 1", 7), 22);
  EXPECT_EQ(becomes("n // 2", 7), 3);
  EXPECT_EQ(becomes("2 * n / 4 * 3", 6), 9);
  EXPECT_EQ(becomes("n + n - 1 * n", 6), 6);
  // What follows from nothing is left, as any other symbol.
  for (const char* name : {"n /", "n / 0", "n + m", "n ++ 1", "n % 2", "9223372036854775807 * n",
                           "9223372036854775807 + n", "batch"})
    EXPECT_EQ(becomes(name, 6), 100) << name;
}

TEST(Symbols, AreWrongBindingsRefused) {
  const ModelDef model = model_of({node("Relu", {"x"}, {"y"})});
  ElaborateOptions options;
  options.bindings["batch"] = 5;
  EXPECT_TRUE(says(problem(model, options), "the model has n")) << problem(model, options);
  options.bindings = {{"n", -1}};
  EXPECT_TRUE(says(problem(model, options), "at least 0"));
  options.bindings = {{"n", 3}};
  options.input_shapes["x"] = {2, 4};
  EXPECT_TRUE(says(problem(model, options), "is 3 elsewhere")) << problem(model, options);
  options.bindings.clear();
  const Result<Graph> graph = elaborate(model, options);
  ASSERT_TRUE(graph.ok());
  EXPECT_EQ(4, graph->bindings.at("n"));
  options.input_shapes["z"] = {1};
  EXPECT_TRUE(says(problem(model, options), "no input 'z'"));
}

TEST(Symbols, DoesAnInputWithoutShapeNeedOne) {
  ModelDef model = model_of({node("Relu", {"x"}, {"y"})});
  model.graph.inputs[0].dims.reset();
  EXPECT_TRUE(says(problem(model), "--input-shape x=1x"));
  ElaborateOptions options;
  options.input_shapes["x"] = {3, 4};
  EXPECT_EQ("", problem(model, options));
}

/// The first 8 rows of x twice, and a mask of m x 8 added: it needs an n of 4 or more, an m of 1 or
/// 8.
ModelDef needs_a_batch() {
  ModelDef model =
      model_of({node("Concat", {"x", "x"}, {"c"}, {{"axis", "", int64_t{0}}}),
                node("Slice", {"c", "zero", "eight", "zero"}, {"s"}),
                node("Reshape", {"s", "square"}, {"q"}), node("Add", {"q", "mask"}, {"y"})});
  model.graph.initializers = {integers("zero", {1}, {0}), integers("eight", {1}, {8}),
                              integers("square", {2}, {8, 8})};
  model.graph.inputs = {value("x", axes({"n", "8"})), value("mask", axes({"m", "8"}))};
  return model;
}

TEST(Unbound, AreBatchesThatWouldFitNamedWithAnErrorOfShapes) {
  const ModelDef model = needs_a_batch();
  const std::string text = problem(model, {});
  EXPECT_TRUE(says(text, "m, n weren't bound and count as 1: with --bind n=224 the shapes fit"))
      << text;
  ElaborateOptions options;
  options.bindings["n"] = 224;
  EXPECT_EQ("", problem(model, options));
  options.bindings = {{"n", 1}};
  EXPECT_TRUE(says(problem(model, options), "m wasn't bound and counts as 1: give the sizes with"));
  options.bindings = {{"n", 1}, {"m", 1}};
  EXPECT_FALSE(says(problem(model, options), "bound"));
}

/// Halves the axes behind the channels of x so many times.
ModelDef halves(const Strings& shape, int times) {
  std::vector<NodeDef> nodes;
  for (int i = 0; i < times; ++i)
    nodes.push_back(node("MaxPool", {i == 0 ? "x" : "p" + std::to_string(i)},
                         {i + 1 == times ? "y" : "p" + std::to_string(i + 1)},
                         {{"kernel_shape", "", std::vector<int64_t>(shape.size() - 2, 2)},
                          {"strides", "", std::vector<int64_t>(shape.size() - 2, 2)}}));
  ModelDef model = model_of(std::move(nodes));
  model.graph.inputs = {value("x", axes(shape))};
  return model;
}

/// What a message says behind each `option`, as options.
ElaborateOptions options_of(const std::string& text, const std::string& option) {
  ElaborateOptions out;
  for (size_t at = text.find(option); at != std::string::npos; at = text.find(option, at + 1)) {
    const size_t from = at + option.size() + 1, is = text.find('=', from);
    const std::string name = text.substr(from, is - from);
    const std::string sizes = text.substr(is + 1, text.find(' ', is) - is - 1);
    if (name == "'*") continue;
    if (option == "--bind") {
      out.bindings[name] = std::stoll(sizes);
    } else {
      Dims& dims = out.input_shapes[name];
      for (size_t x = 0; x < sizes.size(); x = std::min(sizes.find('x', x), sizes.size() - 1) + 1)
        dims.push_back(std::stoll(sizes.substr(x)));
    }
  }
  return out;
}

/// The message that asks for the sizes; what it says is tried.
std::string asks(const ModelDef& model, const ElaborateOptions& options = {}) {
  const std::string text = problem(model, options);
  for (const char* option : {"--bind", "--input-shape"}) {
    if (!says(text, option)) continue;
    ElaborateOptions copied = options_of(text, option);
    copied.bindings.insert(options.bindings.begin(), options.bindings.end());
    EXPECT_EQ("", problem(model, copied)) << text;
  }
  return text;
}

TEST(Unbound, AreHeightAndWidthAskedForWithSizesThatFit) {
  const std::string text = asks(halves({"n", "3", "height", "width"}, 5));
  EXPECT_TRUE(says(text, "m.onnx: nobody gave height, width of input 'x' (n x 3 x height x width)"))
      << text;
  EXPECT_TRUE(says(text, "heights and widths of 224, 320, 640 fit")) << text;
  EXPECT_TRUE(says(text, "give --input-shape x=1x3x224x224 or --bind height=224 --bind width=224 "))
      << text;
  EXPECT_TRUE(says(text, "--bind '*=N'")) << text;

  EXPECT_TRUE(says(asks(halves({"4", "3", "48", "?"}, 5)), "--input-shape x=4x3x48x224"));
  EXPECT_TRUE(says(asks(halves({"n", "3", "h", "w"}, 2), {.bindings = {{"n", 2}, {"h", 16}}}),
                   "--input-shape x=2x3x16x224"));
  EXPECT_TRUE(says(asks(halves({"n", "3", "h", "w"}, 9)), "--input-shape x=1x3x640x640"))
      << "224 and 320 halve less often";
  const std::string none = problem(halves({"n", "3", "h", "w"}, 12), {});
  EXPECT_TRUE(says(none, "(none that was tried fits: node 'MaxPool_")) << none;
  EXPECT_TRUE(says(none, "give --bind h=N --bind w=N (none")) << none;
}

TEST(Unbound, IsWhatIsAskedForOfTheInputsKind) {
  const auto of = [](std::vector<ValueDef> inputs) { return asks(with_inputs(std::move(inputs))); };
  EXPECT_TRUE(says(of({value("x", axes({"n", "h", "w", "3"}))}), "x=1x224x224x3")) << "NHWC";
  EXPECT_TRUE(says(of({value("x", axes({"3", "h", "w"}))}), "x=3x224x224"));
  EXPECT_TRUE(says(of({value("x", axes({"n", "c", "h", "w"}))}), "x=1x3x224x224"));
  EXPECT_TRUE(says(of({value("x", axes({"n", "3", "t", "h", "w"}))}), "x=1x3x16x224x224"));
  EXPECT_TRUE(says(of({value("x", axes({"n", "h", "w", "3"}), DType::uint8)}), "x=1x224x224x3"));
  EXPECT_TRUE(says(of({value("x", axes({"n", "80", "t"}))}), "x=1x80x128")) << "of sound";
  const auto tokens = value("ids", axes({"b", "s"}), DType::int64);
  EXPECT_TRUE(says(of({tokens}), "ids=1x128"));
  EXPECT_TRUE(says(of({value("ids", axes({"s"}), DType::int64)}), "ids=128"));
  const auto cache = [](const char* name, const char* past) {
    return value(name, axes({"b", "2", past, "32"}));
  };
  std::string text = of({tokens, cache("k", "past"), cache("v", "past")});
  EXPECT_TRUE(says(text, "--bind s=1 --bind past=127")) << text;
  text = of({tokens, value("mask", axes({"b", "all"}), DType::int64), cache("k", "past"),
             cache("v", "past")});
  EXPECT_TRUE(says(text, "--bind s=1 --bind all=128 --bind past=127")) << text;
  text = of({tokens, value("mask", axes({"b", "s + past"}), DType::int64), cache("k", "past"),
             cache("v", "past")});
  EXPECT_TRUE(says(text, "--bind s=1 --bind past=127 (")) << text;
  text = of({tokens, value("mask", axes({"b", "all"}), DType::int64),
             value("positions", axes({"3", "b", "s"}), DType::int64), cache("k", "past"),
             cache("v", "past")});
  EXPECT_TRUE(says(text, "--bind s=1 --bind all=128 --bind past=127")) << text;
  text = of({tokens, value("mask", axes({"b", "1", "s", "all"})), cache("k", "past"),
             cache("v", "past")});
  EXPECT_TRUE(says(text, "--bind s=1 --bind all=128 --bind past=127")) << text;
  text = of({value("x", axes({"b", "1", "64"})), cache("k", "?"), cache("v", "?")});
  EXPECT_TRUE(says(text, "--bind k_dim2=127 --bind v_dim2=127")) << text;
}

TEST(Unbound, DoWeightsSayHowManyFeaturesAnInputHas) {
  ModelDef model = model_of({node("MatMul", {"x", "w"}, {"y"})});
  model.graph.inputs = {value("x", axes({"n", "features"}))};
  StoredTensor w;
  w.name = "w";
  w.dtype = DType::float32;
  w.dims = {784, 10};
  model.graph.initializers = {w};
  EXPECT_TRUE(says(asks(model), "--bind features=784"));
}

TEST(Unbound, IsTheSizeOfAComputedShapeFound) {
  // The heads of 64 are cut out by Reshape, from the size that Shape and Gather give.
  ModelDef model =
      model_of({node("Shape", {"x"}, {"shape"}), node("Gather", {"shape", "one"}, {"n"}),
                node("Div", {"n", "heads"}, {"d"}),
                node("Concat", {"minus", "heads", "d"}, {"to"}, {{"axis", "", int64_t{0}}}),
                node("Reshape", {"x", "to"}, {"r"}), node("Add", {"r", "bias"}, {"y"})});
  model.graph.inputs = {value("x", axes({"n", "size"})), value("bias", axes({"4", "32"}))};
  model.graph.initializers = {integers("one", {1}, {1}), integers("heads", {1}, {4}),
                              integers("minus", {1}, {-1})};
  EXPECT_TRUE(says(asks(model), "--bind size=128"));
}

TEST(Unbound, AreOperatorsWithoutSupportSaidAsWell) {
  ModelDef model = halves({"n", "3", "h", "w"}, 2);
  model.graph.nodes.push_back(node("NoSuchOp", {"y"}, {"z"}));
  const Result<Graph> graph = elaborate(model, {});
  ASSERT_FALSE(graph.ok());
  ASSERT_EQ(graph.errors().size(), 2U);
  EXPECT_EQ(graph.errors()[0].code, Errc::usage);
  EXPECT_TRUE(says(graph.errors()[0].text(), "--input-shape x=1x3x224x224"));
  EXPECT_EQ(graph.errors()[1].code, Errc::unsupported);
  EXPECT_TRUE(says(graph.errors()[1].text(), "m.onnx: node 'NoSuchOp_2'"));
}

}  // namespace
}  // namespace accsim::sim
