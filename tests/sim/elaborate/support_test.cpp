#include "sim/elaborate/support.h"

#include <gtest/gtest.h>

#include "tests/sim/elaborate/model_parts.h"

namespace accsim::sim {
namespace {

TEST(Support, AreAllUnknownOperatorsReportedAtOnce) {
  NodeDef custom = node("Frobnicate", {"a"}, {"y"});
  custom.domain = "my.ops";
  ModelDef model = model_of({node("Reluu", {"x"}, {"a"}), custom});
  const Result<Graph> graph = elaborate(model, ones());
  ASSERT_FALSE(graph.ok());
  ASSERT_EQ(2u, graph.errors().size());
  EXPECT_EQ(Errc::unsupported, graph.errors()[0].code);
  EXPECT_TRUE(says(graph.errors()[0].text(), "node 'Reluu_0' (op Reluu)"));
  EXPECT_TRUE(says(graph.errors()[0].text(), "Relu)")) << graph.errors()[0].text();
  EXPECT_TRUE(says(graph.errors()[1].text(), "(op my.ops::Frobnicate)"));

  ModelDef more = model;
  more.graph.nodes.push_back(node("Reluu", {"x"}, {"b"}));
  more.graph.nodes.push_back(node("Reluu", {"x"}, {"c"}));
  const Result<Graph> grouped = elaborate(more, ones());
  ASSERT_EQ(2U, grouped.errors().size()) << "an error an operator";
  EXPECT_TRUE(says(grouped.errors()[0].text(), "node 'Reluu_0' (op Reluu) and 2 more: no support"));

  model.graph.outputs = {value("y", {{7, ""}, {-1, "n"}}, DType::int8)};
  ElaborateOptions options;
  options.allow_unsupported = true;
  options.bindings["n"] = 3;
  const Result<Graph> kept = elaborate(model, options);
  ASSERT_TRUE(kept.ok()) << kept.errors().front().text();
  EXPECT_EQ((Dims{2, 3}), kept->tensor(kept->nodes[0].outputs[0]).dims) << "as its input";
  EXPECT_EQ((Dims{7, 3}), kept->tensor(kept->outputs[0]).dims) << "as declared";
  EXPECT_EQ(DType::int8, kept->tensor(kept->outputs[0]).dtype);
}

/// A name of the same domain that is a slip of the keyboard away; nothing else is known.
TEST(Support, WhichNamesAreProposed) {
  const auto message = [](std::string op, std::string domain) {
    NodeDef custom = node(std::move(op), {"x"}, {"y"});
    custom.domain = std::move(domain);
    return problem(model_of({custom}));
  };
  EXPECT_TRUE(says(message("relu", ""), "(the nearest name known is Relu)"));
  EXPECT_TRUE(says(message("MatMulNbit", "com.microsoft"),
                   "(the nearest name known is com.microsoft::MatMulNBits)"));
  for (const auto& [op, domain] : {std::pair("Pad", "com.microsoft"),
                                   {"MoE", "com.microsoft"},
                                   {"Relu", "my.ops"},
                                   {"Abz", ""}})
    EXPECT_FALSE(says(message(op, domain), "nearest")) << op;
}

}  // namespace
}  // namespace accsim::sim
