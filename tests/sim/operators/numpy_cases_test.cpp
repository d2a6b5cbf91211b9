#include <fstream>

#include "tests/sim/operators/json_case.h"
#include "tests/support/source.h"

namespace accsim::sim {
namespace {

TEST(ValueRules, AgreeWithNumPy) {
  std::ifstream file(kSource + "/tests/sim/operators/numpy_cases.json");
  const auto cases = nlohmann::json::parse(file);
  ASSERT_GT(cases.size(), 400U);
  for (const auto& json : cases) {
    JsonCase test(json);
    EXPECT_EQ(test.complaint(true), "") << json.at("name");
  }
}

TEST(ValueRules, IsAWrongExpectationNoticed) {
  std::ifstream file(kSource + "/tests/sim/operators/numpy_cases.json");
  auto json = nlohmann::json::parse(file).at(0);
  json["outputs"][0]["data"][0] = 1000;
  EXPECT_NE(JsonCase(json).complaint(true), "");
}

}  // namespace
}  // namespace accsim::sim
