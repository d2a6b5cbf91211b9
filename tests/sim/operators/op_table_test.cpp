#include "sim/operators/op_table.h"

#include <gtest/gtest.h>

#include <set>

namespace accsim::sim {
namespace {

/// All inputs are listed or none is; a scale or zero point says which other port it is of.
void check_ports(const OpRow& row) {
  const int ports = static_cast<int>(row.ports.size());
  if (row.max_inputs < kVariadic) {
    EXPECT_TRUE(ports == 0 || ports == row.max_inputs) << "lists " << ports << " ports";
  }
  for (int i = 0; i < ports; ++i) {
    const Port& port = row.ports[static_cast<size_t>(i)];
    EXPECT_FALSE(port.name.empty()) << "port " << i;
    const bool of_another = port.role == PortRole::scale || port.role == PortRole::zero_point ||
                            port.role == PortRole::weight_scale ||
                            port.role == PortRole::weight_zero_point;
    if (!of_another) {
      EXPECT_EQ(port.of, kNoPort) << port.name;
    } else if (port.of != kResult) {
      EXPECT_GE(port.of, 0) << port.name;
      EXPECT_LT(port.of, ports) << port.name;
      EXPECT_NE(port.of, i) << port.name;
    }
  }
}

TEST(OpTable, IsEveryRowWellFormed) {
  std::set<std::pair<std::string_view, std::string_view>> names;
  for (const OpRow* row : all_ops()) {
    SCOPED_TRACE(row->name);
    EXPECT_FALSE(row->name.empty());
    EXPECT_TRUE(names.emplace(row->domain, row->name).second) << "named twice";
    EXPECT_NE(row->domain, "ai.onnx") << "the default domain is \"\"";
    EXPECT_GE(row->since, 1);
    EXPECT_GE(row->min_inputs, 0);
    EXPECT_LE(row->min_inputs, row->max_inputs);
    const bool expanded = row->control_flow != ControlFlow::none;
    EXPECT_EQ(row->shape != nullptr, !expanded);
    EXPECT_TRUE(row->cost != nullptr || row->fate == Fate::view || expanded);
    check_ports(*row);
    std::set<std::string_view> attributes(row->attributes.begin(), row->attributes.end());
    EXPECT_EQ(attributes.size(), row->attributes.size()) << "an attribute is listed twice";
    EXPECT_FALSE(attributes.contains(""));
    EXPECT_EQ(row->weights == WeightLayout::gain, row->fusion == Fusion::affine);
    if (row->weights != WeightLayout::unknown && row->weights != WeightLayout::gain) {
      EXPECT_EQ(row->fate, Fate::gemm);
      EXPECT_NE(row->port_of(PortRole::weight), kNoPort);
    }
    if (row->fusion != Fusion::affine) continue;
    for (const PortRole role :
         {PortRole::gain, PortRole::shift, PortRole::mean, PortRole::variance})
      EXPECT_NE(row->port_of(role), kNoPort);
  }
  EXPECT_GT(names.size(), 150U);
}

TEST(OpTable, AreTheOperatorsWithSubgraphsThoseOfTheirAttributes) {
  for (const OpRow* row : all_ops()) {
    const bool holds = row->has_attribute("body") || row->has_attribute("then_branch");
    const bool expanded =
        row->control_flow == ControlFlow::branch || row->control_flow == ControlFlow::loop ||
        row->control_flow == ControlFlow::scan || row->control_flow == ControlFlow::sequence_map;
    EXPECT_EQ(expanded, holds) << row->name;
  }
}

TEST(OpTable, AreRolesAskedForByPort) {
  const OpRow& conv = *find_op("", "QLinearConv");
  EXPECT_EQ(conv.port_of(PortRole::weight), 3);
  EXPECT_EQ(conv.role_of(4), PortRole::weight_scale);
  EXPECT_EQ(conv.ports[6].of, kResult);
  EXPECT_EQ(conv.port_of(PortRole::gain), kNoPort);
  EXPECT_EQ(conv.role_of(100), PortRole::data);
  EXPECT_TRUE(holds_parameters(PortRole::weight_zero_point));
  EXPECT_FALSE(holds_parameters(PortRole::zero_point));
  EXPECT_TRUE(conv.has_attribute("pads"));
  EXPECT_FALSE(conv.has_attribute("pad"));
}

TEST(OpTable, IsEveryRowFound) {
  for (const OpRow* row : all_ops()) EXPECT_EQ(find_op(row->domain, row->name), row) << row->name;
}

TEST(OpTable, AreTheTwoNamesOfTheDefaultDomainOne) {
  ASSERT_NE(find_op("", "Relu"), nullptr);
  EXPECT_EQ(find_op("ai.onnx", "Relu"), find_op("", "Relu"));
}

TEST(OpTable, IsAnUnknownOperatorNotFound) {
  EXPECT_EQ(find_op("", "Rel"), nullptr);
  EXPECT_EQ(find_op("", "Reluu"), nullptr);
  EXPECT_EQ(find_op("", ""), nullptr);
  EXPECT_EQ(find_op("", "zzz"), nullptr);
  EXPECT_EQ(find_op("my.domain", "Relu"), nullptr);
}

TEST(Work, HasEveryFateAndClassAName) {
  std::set<std::string_view> names;
  for (int i = 0; i <= static_cast<int>(Fate::unsupported); ++i)
    names.insert(name(static_cast<Fate>(i)));
  EXPECT_EQ(names.size(), 6U);
  for (size_t i = 0; i < kVectorClasses; ++i) names.insert(name(static_cast<VectorClass>(i)));
  EXPECT_EQ(names.size(), 6U + kVectorClasses);
  EXPECT_FALSE(names.contains(""));
}

}  // namespace
}  // namespace accsim::sim
