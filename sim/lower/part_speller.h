#pragma once
#include <string>
#include <utility>
#include <vector>

#include "sim/lower/node_rewrites.h"

namespace accsim::sim {

/// Adds the nodes that stand for one node, named behind it.
class PartSpeller {
 public:
  PartSpeller(RebuiltGraph& graph, const Node& node) : graph_(graph), node_(node) {}

  RebuiltGraph& graph() const { return graph_; }
  const Node& node() const { return node_; }
  TensorId input(size_t port) const { return node_.inputs[port]; }
  const Dims& dims(TensorId id) const { return graph_.dims(id); }
  const Dims& result() const { return graph_.dims(node_.outputs[0]); }

  TensorId add(const char* op, const std::string& part, std::vector<TensorId> inputs, Dims to,
               std::vector<Attribute> attributes = {}, int64_t opset = kPlainOpset) {
    return graph_.add_operator(op, opset, node_.name + "/" + part, std::move(inputs), std::move(to),
                               std::move(attributes));
  }
  TensorId add_number(const std::string& part, int64_t value) {
    return graph_.add_constant(node_.name + "/" + part, DType::int64, {1},
                               ConstData(std::vector<int64_t>{value}));
  }
  /// `count` elements of a dim from `from` on.
  TensorId add_slice(const std::string& part, TensorId of, int64_t dim, int64_t from,
                     int64_t count);
  TensorId add_reshape(const std::string& part, TensorId of, Dims to);
  /// The last one.
  void give(const char* op, std::vector<TensorId> inputs, std::vector<Attribute> attributes = {},
            int64_t opset = kPlainOpset) {
    graph_.add_node(graph_.new_operator(op, opset, std::move(attributes)), node_.name,
                    std::move(inputs), {node_.outputs[0]});
  }

 private:
  RebuiltGraph& graph_;
  const Node& node_;
};

}  // namespace accsim::sim
