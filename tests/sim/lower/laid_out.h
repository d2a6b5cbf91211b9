#pragma once
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "sim/elaborate/elaborate.h"
#include "sim/lower/lower.h"
#include "tests/support/index.h"
#include "tests/support/models.h"

namespace accsim::test {

/// A graph laid out, asked by names.
struct LaidOut {
  sim::Graph graph;
  sim::Lowered lowered;

  explicit LaidOut(const ModelBuilder& b) {
    auto elaborated = sim::elaborate(b.model(), {});
    EXPECT_TRUE(elaborated.ok()) << elaborated.errors().front().text();
    graph = std::move(*elaborated);
    auto low = sim::lower_in_memory(graph);
    EXPECT_TRUE(low.ok()) << low.errors().front().text();
    lowered = std::move(*low);
  }

  sim::TensorId id(const std::string& tensor) const {
    for (size_t i = 0; i < graph.tensors.size(); ++i)
      if (graph.tensors[i].name == tensor) return static_cast<sim::TensorId>(i);
    throw std::logic_error("no tensor " + tensor);
  }
  const sim::Layer& layer(const std::string& name) const {
    for (const sim::Layer& each : lowered.layers)
      if (each.name == name) return each;
    throw std::logic_error("no layer " + name);
  }
  const sim::GemmOp& gemm(const std::string& name) const {
    return std::get<sim::GemmOp>(layer(name).work.back());
  }
  const sim::Layout& layout(const std::string& tensor) const {
    return lowered.layouts[as_index(id(tensor))];
  }
  /// Layers that only move bytes, each as often as it does.
  std::vector<std::string> moves() const {
    std::vector<std::string> out;
    for (const sim::Layer& l : lowered.layers)
      for (const sim::WorkItem& item : l.work)
        if (std::holds_alternative<sim::MemoryOp>(item)) out.push_back(l.name);
    return out;
  }
};

}  // namespace accsim::test
