#include "sim/graph/module_path.h"

#include <gtest/gtest.h>

namespace accsim::sim {
namespace {

TEST(ModulePath, IsTheScopeBeforeTheNodeItself) {
  const auto of = [](const char* scopes) {
    return module_from_notes({{"pkg.torch.onnx.name_scopes", scopes}, {"namespace", "x: y/z: w"}});
  };
  EXPECT_EQ(of("['', 'layer1', 'layer1.0', 'layer1.0.conv1', 'conv2d_3']"), "layer1.0.conv1");
  EXPECT_EQ(of("[\"it's\", 'add']"), "it's");
  EXPECT_EQ(of(R"(['it\'s "q"', 'add'])"), "it's \"q\"");
  EXPECT_EQ(of("['', 'add']"), "") << "of the network itself";
  EXPECT_EQ(of("['add']"), "");
  EXPECT_EQ(of("[]"), "");
  EXPECT_EQ(of("['open, 'a"), "") << "text that is no list";
  EXPECT_EQ(of("'"), "");
}

TEST(ModulePath, IsThatOfTheNamespaceWhereThereAreNoScopes) {
  const auto of = [](const char* text) { return module_from_notes({{"namespace", text}}); };
  EXPECT_EQ(of(": net.Net/0: torch.nn.modules.linear.Linear/linear: aten.linear.default"), "0");
  EXPECT_EQ(of(": net.Net/a: net.A/a.b: net.B/add: aten.add.Tensor"), "a.b");
  EXPECT_EQ(of(": net.Net/add: aten.add.Tensor"), "");
  EXPECT_EQ(of("add: aten.add.Tensor"), "");
  EXPECT_EQ(of(""), "");
  EXPECT_EQ(module_from_notes({{"other", "['a', 'b']"}}), "");
}

TEST(ModulePath, IsWhatStandsBeforeTheLastPartOfAName) {
  EXPECT_EQ(module_from_name("/layer1/layer1.0/conv1/Conv"), "layer1.0.conv1");
  EXPECT_EQ(module_from_name("/stem/stem.2/body/body/body.0/body.0.0/Conv"),
            "stem.2.body.body.0.0");
  EXPECT_EQ(module_from_name("model/block_1/conv/Conv2D"), "model.block_1.conv");
  EXPECT_EQ(module_from_name("/layer1/layer10/Conv"), "layer1.layer10");
  EXPECT_EQ(module_from_name("//a//b"), "a");
  EXPECT_EQ(module_from_name("/Add"), "");
  EXPECT_EQ(module_from_name("Conv_12"), "");
  EXPECT_EQ(module_from_name(""), "");
}

}  // namespace
}  // namespace accsim::sim
