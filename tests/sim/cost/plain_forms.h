#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/elaborate/elaborate.h"
#include "sim/lower/lower.h"
#include "sim/lower/plain_forms.h"
#include "tests/support/graph_values.h"
#include "tests/support/models.h"

namespace accsim::test {

inline Attribute number(const std::string& name, int64_t value) { return {name, "", value}; }
inline Attribute word(const std::string& name, const std::string& value) {
  return {name, "", value};
}

inline int64_t count_of(const Graph& graph, const std::string& op) {
  return std::ranges::count_if(graph.nodes,
                               [&](const Node& n) { return n.op_type == op && !n.folded; });
}

inline int64_t macs_of_all(const Lowered& lowered) {
  int64_t sum = 0;
  for (const Layer& l : lowered.layers) sum += l.macs;
  return sum;
}

/// Its floats have values: between -11/16 and 11/16, of variances from 1/2 on.
inline ModelDef with_stored_weights(ModelDef model) {
  for (StoredTensor& t : model.graph.initializers) {
    if (t.dtype != DType::float32 || t.value) continue;
    std::vector<double> values;
    for (int64_t i = 0; i < elements(t.dims); ++i) {
      const auto at = i * 37 + static_cast<int64_t>(t.name.back());
      values.push_back(static_cast<double>(at % 23 - 11) / 16);
      if (t.name == "var") values.back() = std::abs(values.back()) + 0.5;
    }
    t.value = std::make_shared<const ConstData>(std::move(values));
  }
  return model;
}

/// The graph in plain forms, compared with what it was: values, MACs, parameters. `stored`: weights
/// have values that are known.
inline Graph same_in_plain_forms(const ModelBuilder& b, bool stored = true) {
  auto graph = elaborate(stored ? with_stored_weights(b.model()) : b.model(), {});
  EXPECT_TRUE(graph.ok()) << graph.errors().front().text();
  Graph plain = plain_forms(*graph);
  EXPECT_TRUE(verify_graph(plain).ok());
  const auto before = graph_values(*graph, 5, 9), after = graph_values(plain, 5, 9);
  EXPECT_EQ(before.size(), after.size());
  for (size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(before[i].size(), after[i].size());
    for (size_t k = 0; k < std::min(before[i].size(), after[i].size()); ++k)
      EXPECT_NEAR(before[i][k], after[i][k], 1e-4 * (1 + std::abs(before[i][k]))) << k;
    EXPECT_EQ(graph->tensor(graph->outputs[i]).name, plain.tensor(plain.outputs[i]).name);
  }
  const auto was = lower(*graph), is = lower(plain);
  EXPECT_TRUE(was.ok() && is.ok());
  EXPECT_EQ(macs_of_all(*was), macs_of_all(*is));
  EXPECT_EQ(was->params, is->params);
  EXPECT_EQ(was->weight_bytes, is->weight_bytes);
  return plain;
}

}  // namespace accsim::test
