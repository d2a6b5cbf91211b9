#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "onnx/defs/schema.h"
#include "onnx/onnx_pb.h"
#include "onnx/shape_inference/implementation.h"
#include "sim/elaborate/elaborate.h"
#include "sim/onnx/reader.h"
#include "tests/support/source.h"

namespace accsim::sim {
namespace {

namespace fs = std::filesystem;

bool has_attribute(const Node& node, std::string_view name) {
  return std::ranges::any_of(node.attributes, [&](const Attribute& a) { return a.name == name; });
}

/// Why libonnx 1.12 can't be trusted with a node; "" when it can.
std::string known_wrong(const Node& node) {
  const bool averages = node.op_type == "AveragePool" || node.op_type == "LpPool";
  if (averages && has_attribute(node, "dilations")) return "dilations are ignored";
  if ((averages || node.op_type == "MaxPool") && has_attribute(node, "ceil_mode"))
    return "ceil_mode counts windows that start in the padding";
  if (node.op_type == "STFT") return "frames are counted wrongly";
  return "";
}

fs::path find_cases() {
  for (const char* folder : {"/usr/share/libonnx-testdata/data",
                             "/usr/lib/python3/dist-packages/onnx/backend/test/data"})
    if (fs::is_directory(fs::path(folder) / "node")) return folder;
  return {};
}

/// The dims of a type when all of them are numbers.
std::optional<Dims> static_dims(const onnx::TypeProto& type) {
  if (!type.has_tensor_type() || !type.tensor_type().has_shape()) return std::nullopt;
  Dims dims;
  for (const auto& dim : type.tensor_type().shape().dim()) {
    if (!dim.has_dim_value()) return std::nullopt;
    dims.push_back(dim.dim_value());
  }
  return dims;
}

struct Counts {
  size_t compared = 0, models = 0, known_wrong = 0;
};

/// libonnx's inferred tensors by name. Declared output shapes, which it keeps, are removed first.
/// Symbolic input dims become what our import bound them to, so that both see the same model.
std::map<std::string, onnx::TypeProto> infer(const fs::path& path, const Graph& ours) {
  onnx::ModelProto model;
  std::ifstream stream(path, std::ios::binary);
  if (!model.ParseFromIstream(&stream)) return {};
  std::map<std::string, Dims> inputs;
  for (TensorId id : ours.inputs) inputs[ours.tensor(id).name] = ours.tensor(id).dims;
  model.mutable_graph()->clear_value_info();
  for (auto& output : *model.mutable_graph()->mutable_output())
    if (output.type().has_tensor_type())
      output.mutable_type()->mutable_tensor_type()->clear_shape();
  for (auto& input : *model.mutable_graph()->mutable_input()) {
    const auto found = inputs.find(input.name());
    if (found == inputs.end() || !input.type().has_tensor_type()) continue;
    auto* shape = input.mutable_type()->mutable_tensor_type()->mutable_shape();
    shape->clear_dim();
    for (int64_t dim : found->second) shape->add_dim()->set_dim_value(dim);
  }
  const onnx::ShapeInferenceOptions options(false, 0, true);
  onnx::shape_inference::InferShapes(model, onnx::OpSchemaRegistry::Instance(), options);
  std::map<std::string, onnx::TypeProto> types;
  for (const auto* values : {&model.graph().value_info(), &model.graph().output()})
    for (const auto& value : *values) types[value.name()] = value.type();
  return types;
}

void compare(const fs::path& path, const Graph& ours, Counts& counts) {
  std::map<std::string, onnx::TypeProto> theirs;
  try {
    theirs = infer(path, ours);
  } catch (const std::exception&) {
    return;  // an opset or operator that libonnx gives up on
  }
  ++counts.models;
  std::set<TensorId> doubtful;  // everything downstream of a known wrong operator
  for (const Node& node : ours.nodes) {
    const bool wrong =
        !known_wrong(node).empty() ||
        std::ranges::any_of(node.inputs, [&](TensorId id) { return doubtful.contains(id); });
    for (TensorId id : node.outputs) {
      if (id == kNoTensor) continue;
      const Tensor& tensor = ours.tensor(id);
      const auto found = theirs.find(tensor.name);
      const std::optional<Dims> dims =
          found == theirs.end() ? std::nullopt : static_dims(found->second);
      if (!dims) continue;
      if (wrong && *dims != tensor.dims) {
        doubtful.insert(id);
        ++counts.known_wrong;
        continue;
      }
      ++counts.compared;
      EXPECT_EQ(*dims, tensor.dims) << node.op_type << " gives " << tensor.name;
      EXPECT_EQ(found->second.tensor_type().elem_type(), static_cast<int>(tensor.dtype))
          << node.op_type << " gives " << tensor.name;
    }
  }
}

Result<Graph> import(const fs::path& path) {
  const Result<ModelDef> model = read_model(path.string());
  if (!model) return model.errors();
  return elaborate(*model, {.bindings = {{"*", 1}}});
}

TEST(Oracle, DoesLibonnxInferTheSameShapesForEveryShippedModel) {
  Counts counts;
  for (const char* folder : {"models", "models/onnx-light"})
    for (const auto& entry : fs::directory_iterator(fs::path(kSource) / folder)) {
      if (entry.path().extension() != ".onnx") continue;
      SCOPED_TRACE(entry.path().filename().string());
      const Result<Graph> graph = import(entry.path());
      ASSERT_TRUE(graph.ok()) << graph.errors().front().text();
      compare(entry.path(), *graph, counts);
    }
  std::printf("%zu models, %zu tensors compared, %zu known wrong\n", counts.models, counts.compared,
              counts.known_wrong);
  EXPECT_GE(counts.models, 25u);
  EXPECT_GE(counts.compared, 4000u) << "hardly anything was compared";
}

TEST(Oracle, DoesLibonnxInferTheSameShapesForEveryNodeCase) {
  const fs::path root = find_cases();
  ASSERT_FALSE(root.empty()) << "ONNX's test cases are missing: install libonnx-testdata";
  Counts counts;
  for (const auto& entry : fs::directory_iterator(root / "node")) {
    SCOPED_TRACE(entry.path().filename().string());
    const fs::path path = entry.path() / "model.onnx";
    const Result<Graph> graph = import(path);
    if (graph.ok()) compare(path, *graph, counts);
  }
  std::printf("%zu cases, %zu tensors compared, %zu known wrong\n", counts.models, counts.compared,
              counts.known_wrong);
  EXPECT_GE(counts.compared, 500u) << "hardly anything was compared";
}

}  // namespace
}  // namespace accsim::sim
