#include "sim/schedule/program_names.h"

#include <gtest/gtest.h>

#include "sim/elaborate/elaborate.h"
#include "sim/program/network_program.h"
#include "tests/support/machines.h"
#include "tests/support/models.h"

namespace accsim::sim {
namespace {

TEST(ProgramNames, AreThoseOfTheLayerAndNotOfAnEqualOne) {
  test::ModelBuilder b(17);
  b.input("x", {8, 16}).weight("w1", {16, 16}).weight("w2", {16, 16});
  b.node("MatMul", {"x", "w1"}, {"r"}).node("MatMul", {"r", "w2"}, {"y"}).output("y");
  const auto graph = elaborate(b.model(), {});
  hw::HwConfig hw = test::small_machine();
  hw.shared.kib = 0;  // x, r and y lie in DRAM: the layers are equal
  const auto network = cost_network(*graph, hw, {});
  ASSERT_TRUE(network.ok());
  ASSERT_EQ(network->mappings[0], network->mappings[1]);
  const auto text = dump_programs(*graph, *network, "y");
  ASSERT_TRUE(text.ok());
  for (const char* name : {"'r'", "'w2'", "'y'", "'w2 (bias and scale)'"})
    EXPECT_NE(text->find(name), std::string::npos) << *text;
  std::vector<std::string> names;
  for (const hw::ProgramTensor& t : network_program(*graph, *network).program.tensors)
    names.push_back(t.name);
  EXPECT_EQ(names, (std::vector<std::string>{"x", "w1", "r", "w1 (bias and scale)", "w2", "y",
                                             "w2 (bias and scale)"}));
}

}  // namespace
}  // namespace accsim::sim
