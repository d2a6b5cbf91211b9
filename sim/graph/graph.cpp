#include "sim/graph/graph.h"

#include <fmt/format.h>

#include <string_view>
#include <utility>

namespace accsim::sim {
namespace {

Error graph_error(const Graph& graph, std::string place, std::string message) {
  return Error{Errc::invalid, std::move(message),
               graph.file.empty() ? std::move(place) : fmt::format("{}: {}", graph.file, place)};
}

bool in_range(const Graph& graph, TensorId id) {
  return id >= 0 && static_cast<size_t>(id) < graph.tensors.size();
}

std::string label_with_op(const Node& node) {
  return fmt::format("node '{}' (op {}{}{})", node.name, node.domain,
                     node.domain.empty() ? "" : "::", node.op_type);
}

Status verify_tensors(const Graph& graph) {
  for (const Tensor& tensor : graph.tensors) {
    const std::string place = fmt::format("tensor '{}'", tensor.name);
    const std::optional<int64_t> count = checked_elements(tensor.dims);
    if (!count)
      return graph_error(graph, place,
                         fmt::format("its shape {} doesn't fit 62 bits", to_string(tensor.dims)));
    if (tensor.value && static_cast<int64_t>(tensor.value->size()) != *count)
      return graph_error(graph, place,
                         fmt::format("has {} elements of value, its shape {}", tensor.value->size(),
                                     to_string(tensor.dims)));
    const bool made = tensor.origin == Tensor::Origin::node;
    const bool has_producer =
        tensor.producer >= 0 && static_cast<size_t>(tensor.producer) < graph.nodes.size();
    if (made != has_producer)
      return graph_error(graph, place, fmt::format("has the producer {}", tensor.producer));
  }
  return ok();
}

Status verify_node(const Graph& graph, NodeId id, std::vector<bool>& written) {
  const Node& node = graph.nodes[static_cast<size_t>(id)];
  if (node.name.empty()) return graph_error(graph, fmt::format("node {}", id), "has no name");
  for (TensorId input : node.inputs) {
    if (input == kNoTensor) continue;
    if (!in_range(graph, input))
      return graph_error(graph, label_with_op(node),
                         fmt::format("reads tensor {}, which isn't there", input));
    if (!written[static_cast<size_t>(input)])
      return graph_error(
          graph, label_with_op(node),
          fmt::format("reads tensor '{}' before it is written", graph.tensor(input).name));
  }
  for (TensorId output : node.outputs) {
    if (output == kNoTensor) continue;
    if (!in_range(graph, output))
      return graph_error(graph, label_with_op(node),
                         fmt::format("writes tensor {}, which isn't there", output));
    const std::string& name = graph.tensor(output).name;
    if (written[static_cast<size_t>(output)])
      return graph_error(graph, label_with_op(node), fmt::format("writes tensor '{}' again", name));
    if (graph.tensor(output).producer != id)
      return graph_error(graph, label_with_op(node),
                         fmt::format("isn't the producer of its output '{}'", name));
    written[static_cast<size_t>(output)] = true;
  }
  return ok();
}

}  // namespace

Result<int64_t> assume_size(Graph& graph, Assumption asked) {
  const auto given = graph.given_sizes.find(asked.node);
  if (given != graph.given_sizes.end()) {
    if (given->second > asked.bound)
      return Error{Errc::usage,
                   fmt::format("--assume gives {} {}, of which there are at most {}", given->second,
                               asked.of, asked.bound),
                   ""};
    asked.size = given->second;
    asked.given = true;
  }
  graph.assumed.push_back(std::move(asked));
  return graph.assumed.back().size;
}

Status verify_graph(const Graph& graph) {
  Status status = verify_tensors(graph);
  if (!status) return status;
  std::vector<bool> written(graph.tensors.size());
  for (size_t i = 0; i < graph.tensors.size(); ++i)
    written[i] = graph.tensors[i].origin != Tensor::Origin::node;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    status = verify_node(graph, static_cast<NodeId>(i), written);
    if (!status) return status;
  }
  for (const auto& [ids, what] : {std::pair{&graph.inputs, "input"}, {&graph.outputs, "output"}})
    for (TensorId id : *ids)
      if (!in_range(graph, id) || !written[static_cast<size_t>(id)])
        return graph_error(graph, fmt::format("graph {}", what),
                           fmt::format("tensor {} isn't there", id));
  return ok();
}

std::vector<std::vector<NodeId>> consumers_by_tensor(const Graph& graph) {
  std::vector<std::vector<NodeId>> readers(graph.tensors.size());
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    for (TensorId input : graph.nodes[i].inputs) {
      if (input == kNoTensor) continue;
      std::vector<NodeId>& list = readers[static_cast<size_t>(input)];
      const NodeId id = static_cast<NodeId>(i);
      // A node that reads it twice is listed once.
      if (list.empty() || list.back() != id) list.push_back(id);
    }
  return readers;
}

}  // namespace accsim::sim
