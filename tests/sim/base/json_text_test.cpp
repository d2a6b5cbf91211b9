#include "sim/base/json_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace accsim {
namespace {

using Json = nlohmann::ordered_json;

TEST(JsonText, IsOneLineOrIndentedInTheOrderOfItsMembers) {
  const Json json = {{"b", 1}, {"a", {true, nullptr}}};
  EXPECT_EQ(json_text(json), R"({"b":1,"a":[true,null]})");
  EXPECT_EQ(json_text(json, 1), "{\n \"b\": 1,\n \"a\": [\n  true,\n  null\n ]\n}");
}

TEST(JsonText, ReplacesBytesThatAreNotUtf8) {
  EXPECT_EQ(json_text(Json("a\xff\xc3")), "\"a\xEF\xBF\xBD\xEF\xBF\xBD\"");
}

}  // namespace
}  // namespace accsim
