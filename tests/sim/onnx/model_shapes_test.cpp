#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "sim/elaborate/elaborate.h"
#include "sim/onnx/reader.h"
#include "tests/support/source.h"

namespace accsim::sim {
namespace {

namespace fs = std::filesystem;

const fs::path kTree = kSource;

std::string first_error(const Errors& errors) { return errors.front().text(); }

Result<Graph> import(const fs::path& path, const ElaborateOptions& options = {}) {
  const Result<ModelDef> model = read_model(path.string());
  if (!model) return model.errors();
  return elaborate(*model, options);
}

std::vector<fs::path> files(const fs::path& folder, const std::string& extension) {
  std::vector<fs::path> out;
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == extension) out.push_back(entry.path());
  return out;
}

/// The measured shapes of a network (tests/data/shapes) against the inferred ones.
void compare_measured(const fs::path& measured, const Graph& graph) {
  std::ifstream stream(measured);
  const nlohmann::json truth = nlohmann::json::parse(stream);
  std::map<std::string, const Tensor*> by_name;
  for (const Tensor& tensor : graph.tensors) by_name[tensor.name] = &tensor;
  size_t compared = 0;
  for (const auto& [name, expected] : truth.items()) {
    ASSERT_TRUE(by_name.contains(name)) << name;
    EXPECT_EQ(expected[1].get<Dims>(), by_name[name]->dims) << name;
    EXPECT_EQ(expected[0].get<std::string>(), accsim::name(by_name[name]->dtype)) << name;
    ++compared;
  }
  // Running a network may fold its constants away first; everything else was measured.
  for (const Node& node : graph.nodes)
    for (TensorId id : node.outputs)
      EXPECT_TRUE(node.folded || truth.contains(graph.tensor(id).name)) << graph.tensor(id).name;
  EXPECT_GT(compared, graph.nodes.size() / 2) << "hardly anything was compared";
}

TEST(ModelShapes, AgreeWithTheShapesMeasuredByRunningTheNetwork) {
  const std::vector<fs::path> measured = files(kTree / "tests/data/shapes", ".json");
  ASSERT_GE(measured.size(), 10u) << "tests/data/shapes is missing";
  for (const fs::path& truth : measured) {
    SCOPED_TRACE(truth.filename().string());
    const Result<Graph> graph =
        import(kTree / "models" / truth.filename().replace_extension(".onnx"));
    ASSERT_TRUE(graph.ok()) << first_error(graph.errors());
    compare_measured(truth, *graph);
  }
}

TEST(ModelShapes, EveryShippedModelIsImportedAndVerified) {
  std::vector<fs::path> models = files(kTree / "models", ".onnx");
  for (const fs::path& path : files(kTree / "models/onnx-light", ".onnx")) models.push_back(path);
  ASSERT_GE(models.size(), 27u) << "models/ is missing";
  for (const fs::path& path : models) {
    SCOPED_TRACE(path.filename().string());
    const auto start = std::chrono::steady_clock::now();
    const Result<ModelDef> model = read_model(path.string());
    const auto read = std::chrono::steady_clock::now();
    ASSERT_TRUE(model.ok()) << first_error(model.errors());
    const Result<Graph> graph = elaborate(*model, {.bindings = {{"*", 1}}});
    const auto done = std::chrono::steady_clock::now();
    ASSERT_TRUE(graph.ok()) << first_error(graph.errors());
    const Status verified = verify_graph(*graph);
    EXPECT_TRUE(verified.ok()) << first_error(verified.errors());
    const std::chrono::duration<double, std::milli> reading = read - start, working = done - read;
    std::printf("%-40s %5zu nodes, read %.2f ms, elaborated %.2f ms\n", path.filename().c_str(),
                graph->nodes.size(), reading.count(), working.count());
  }
}

TEST(ModelShapes, ADynamicExportBoundToTheStaticSizesHasTheStaticShapes) {
  const Result<Graph> fixed = import(kTree / "models/resnet50_op17.onnx");
  ElaborateOptions options;
  options.bindings["batch"] = 1;
  const Result<Graph> bound = import(kTree / "models/resnet50_dynbatch_op17.onnx", options);
  ASSERT_TRUE(fixed.ok());
  ASSERT_TRUE(bound.ok()) << first_error(bound.errors());
  std::map<std::string, Dims> shapes;
  for (const Tensor& tensor : fixed->tensors) shapes[tensor.name] = tensor.dims;
  for (const Tensor& tensor : bound->tensors) {
    const auto same = shapes.find(tensor.name);
    if (same == shapes.end()) continue;
    EXPECT_EQ(same->second, tensor.dims) << tensor.name;
  }
  options.bindings["batch"] = 8;
  const Result<Graph> eight = import(kTree / "models/resnet50_dynbatch_op17.onnx", options);
  ASSERT_TRUE(eight.ok());
  EXPECT_EQ((Dims{8, 1000}), eight->tensor(eight->outputs[0]).dims);
}

}  // namespace
}  // namespace accsim::sim
