#include "sim/elaborate/given_values.h"

#include <gtest/gtest.h>

#include "tests/sim/elaborate/model_parts.h"

namespace accsim::sim {
namespace {

Tensor tensor_of(DType dtype, Dims dims) {
  Tensor tensor;
  tensor.name = "t";
  tensor.dtype = dtype;
  tensor.dims = std::move(dims);
  return tensor;
}

std::string error_of(const Errors& errors) { return errors.front().text(); }

std::vector<int64_t> integers_of(std::string_view text) {
  const Result<GivenValue> value = parse_value(text);
  EXPECT_TRUE(value.ok()) << text;
  return value ? value->elements->integers() : std::vector<int64_t>{};
}

TEST(GivenValues, AreNumbersOrListsOfOneShape) {
  EXPECT_EQ(integers_of("3"), (std::vector<int64_t>{3}));
  EXPECT_EQ(integers_of(" -1, 2 ,3"), (std::vector<int64_t>{-1, 2, 3}));
  EXPECT_EQ(integers_of("[[1,2],[3,4],[5,6]]"), (std::vector<int64_t>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(integers_of("true,False"), (std::vector<int64_t>{1, 0}));
  EXPECT_EQ(parse_value("3")->dims, std::nullopt);
  EXPECT_EQ(parse_value("[[1,2],[3,4],[5,6]]")->dims, (Dims{3, 2}));
  EXPECT_EQ(parse_value("[]")->dims, (Dims{0}));
  EXPECT_EQ(parse_value("[1, 2.5]")->elements->reals(), (std::vector<double>{1, 2.5}));
  const std::string deep(200, '[');
  for (const std::string bad :
       {"", "x", "1,", "[1", "[1,[2]]", "[[1],[2,3]]", "1 2", "[1]]", "0x3", deep.c_str()})
    EXPECT_FALSE(parse_value(bad).ok()) << bad;
}

TEST(GivenValues, FitTensorsOfTheirShapeAndType) {
  const Tensor pair = tensor_of(DType::int32, {2}), one = tensor_of(DType::int64, {1, 1});
  EXPECT_EQ((*fit_value(*parse_value("4,5"), pair))->integers(), (std::vector<int64_t>{4, 5}));
  EXPECT_TRUE(fit_value(*parse_value("4"), one).ok());
  EXPECT_EQ((*fit_value(*parse_value("4"), tensor_of(DType::float32, {})))->reals(),
            (std::vector<double>{4}));
  const auto refused = [](std::string_view text, const Tensor& tensor) {
    const Result<ConstPtr> value = fit_value(*parse_value(text), tensor);
    return value ? "" : error_of(value.errors());
  };
  EXPECT_EQ(refused("4", pair), "--value of 't' must be int32 2, but 4 is 1 number");
  EXPECT_EQ(refused("[[4,5]]", pair), "--value of 't' must be int32 2, but [[4,5]] is 1x2");
  EXPECT_EQ(refused("4,0.5", pair),
            "--value of 't' must be int32 2, but 4,0.5 holds a number that isn't whole");
  EXPECT_EQ(refused("1,2147483648", pair),
            "--value of 't' must be int32 2, but 1,2147483648 holds 2147483648");
  EXPECT_EQ(refused("-1", tensor_of(DType::uint64, {})),
            "--value of 't' must be uint64 scalar, but -1 holds -1");
  EXPECT_EQ(refused("2", tensor_of(DType::boolean, {})),
            "--value of 't' must be bool scalar, but 2 holds 2");
}

/// k -> Add(k, k) -> Reshape of x (6 x 4) -> y.
ModelDef reshaping() {
  ModelDef model = model_of({node("Add", {"k", "k"}, {"twice"}),
                             node("Reshape", {"x", "twice"}, {"y"}), node("Relu", {"y"}, {"z"})});
  model.graph.inputs = {value("x", {{6, ""}, {4, ""}}), value("k", {{2, ""}}, DType::int64)};
  model.graph.outputs = {value("z", {})};
  return model;
}

Result<Graph> with_values(const ModelDef& model,
                          std::initializer_list<std::pair<const char*, const char*>> given) {
  ElaborateOptions options;
  for (const auto& [name, text] : given) options.values[name] = *parse_value(text);
  return elaborate(model, options);
}

TEST(GivenValues, AreKnownButNotConstant) {
  for (const auto& [name, text] : {std::pair("k", "2,3"), {"twice", "8,3"}}) {
    const Result<Graph> graph = with_values(reshaping(), {{name, text}});
    ASSERT_TRUE(graph.ok()) << error_of(graph.errors());
    EXPECT_EQ(graph->inputs.size(), 2U);
    EXPECT_FALSE(graph->nodes[0].folded) << "every run computes it";
    const Tensor& twice = graph->tensor(graph->nodes[0].outputs[0]);
    EXPECT_FALSE(twice.constant);
    ASSERT_TRUE(twice.value);
    EXPECT_EQ(graph->tensor(graph->outputs[0]).dims, (name[0] == 'k' ? Dims{4, 6} : Dims{8, 3}));
  }
}

TEST(GivenValues, AreRefusedWhereNothingIsToBeDecided) {
  const auto refused = [](std::initializer_list<std::pair<const char*, const char*>> given) {
    const Result<Graph> graph = with_values(reshaping(), given);
    return graph ? "" : graph.errors().front().message;
  };
  const std::string ones = "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1";
  EXPECT_EQ(refused({{"x", ones.c_str()}, {"k", "2,3"}}),
            "--value gives 'x', but no shape and no cost depends on its value");
  EXPECT_EQ(refused({{"q", "1"}}),
            "--value names 'q', which is no tensor of the model; its inputs are x, k");
  EXPECT_EQ(refused({}),
            "Reshape: the output shape depends on the value of input 'shape' (tensor 'twice'), "
            "which isn't constant; give --value twice=N,N... (int64 2), or --value k=N,N... "
            "(int64 2)");
}

}  // namespace
}  // namespace accsim::sim
