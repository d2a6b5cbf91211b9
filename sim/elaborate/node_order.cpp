#include "sim/elaborate/node_order.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <queue>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "sim/elaborate/node_label.h"

namespace accsim::sim {
namespace {

using Producers = std::unordered_map<std::string_view, size_t>;

/// Appends the names that a subgraph takes from outside of it.
void outer_names(const GraphDef& graph, std::vector<std::string_view>& out) {
  std::unordered_set<std::string_view> inside;
  for (const ValueDef& input : graph.inputs) inside.insert(input.name);
  for (const StoredTensor& stored : graph.initializers) inside.insert(stored.name);
  for (const NodeDef& node : graph.nodes) inside.insert(node.outputs.begin(), node.outputs.end());
  std::vector<std::string_view> used;
  for (const ValueDef& output : graph.outputs) used.push_back(output.name);
  for (const NodeDef& node : graph.nodes) {
    used.insert(used.end(), node.inputs.begin(), node.inputs.end());
    for (const Attribute& attribute : node.attributes)
      if (const auto* inner = std::get_if<std::shared_ptr<const GraphDef>>(&attribute.value))
        outer_names(**inner, used);
  }
  for (std::string_view name : used)
    if (!name.empty() && !inside.contains(name)) out.push_back(name);
}

/// What a node reads: its inputs, and what its subgraphs take from outside.
std::vector<std::string_view> reads(const NodeDef& node) {
  std::vector<std::string_view> names;
  for (const std::string& input : node.inputs)
    if (!input.empty()) names.push_back(input);
  for (const Attribute& attribute : node.attributes)
    if (const auto* graph = std::get_if<std::shared_ptr<const GraphDef>>(&attribute.value))
      outer_names(**graph, names);
  return names;
}

Error at_node(const std::vector<NodeDef>& nodes, size_t i, std::string message) {
  return Error{Errc::invalid, std::move(message), node_label(nodes[i], node_name(nodes[i], i))};
}

Result<Producers> find_producers(const std::vector<NodeDef>& nodes, const IsKnown& taken) {
  Producers producers;
  producers.reserve(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i)
    for (const std::string& output : nodes[i].outputs) {
      if (output.empty()) continue;
      const auto [first, is_new] = producers.emplace(output, i);
      if (!is_new)
        return at_node(nodes, i,
                       fmt::format("writes tensor '{}', which node '{}' writes too", output,
                                   node_name(nodes[first->second], first->second)));
      if (taken(output))
        return at_node(nodes, i,
                       fmt::format("writes tensor '{}', which is an input or initializer", output));
    }
  return producers;
}

/// Names one cycle among the nodes that couldn't be ordered.
Error describe_cycle(const std::vector<NodeDef>& nodes, const Producers& producers,
                     const std::vector<size_t>& missing) {
  constexpr size_t kMostNamed = 10;
  std::vector<size_t> path;
  std::vector<size_t> place(nodes.size(), SIZE_MAX);
  size_t at = static_cast<size_t>(
      std::ranges::find_if(missing, [](size_t count) { return count > 0; }) - missing.begin());
  while (place[at] == SIZE_MAX) {
    place[at] = path.size();
    path.push_back(at);
    for (std::string_view name : reads(nodes[at])) {
      const auto found = producers.find(name);
      if (found == producers.end() || missing[found->second] == 0) continue;
      at = found->second;
      break;
    }
  }
  std::vector<std::string> names;
  for (size_t i = place[at]; i < path.size() && names.size() < kMostNamed; ++i)
    names.push_back(fmt::format("'{}'", node_name(nodes[path[i]], path[i])));
  if (path.size() - place[at] > kMostNamed) names.emplace_back("...");
  return at_node(nodes, at,
                 fmt::format("is on a cycle: each of {} needs the next one's output, the last the "
                             "first's",
                             fmt::join(names, ", ")));
}

/// Kahn's algorithm, smallest index first, so that the order changes no more than it must.
Result<std::vector<size_t>> sort_nodes(const std::vector<NodeDef>& nodes,
                                       const Producers& producers) {
  std::vector<size_t> missing(nodes.size(), 0);
  std::vector<std::vector<size_t>> readers(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i)
    for (std::string_view name : reads(nodes[i])) {
      const auto found = producers.find(name);
      if (found == producers.end()) continue;
      ++missing[i];
      readers[found->second].push_back(i);
    }
  std::priority_queue<size_t, std::vector<size_t>, std::greater<>> ready;
  for (size_t i = 0; i < nodes.size(); ++i)
    if (missing[i] == 0) ready.push(i);
  std::vector<size_t> order;
  order.reserve(nodes.size());
  while (!ready.empty()) {
    const size_t i = ready.top();
    ready.pop();
    order.push_back(i);
    for (size_t reader : readers[i])
      if (--missing[reader] == 0) ready.push(reader);
  }
  if (order.size() < nodes.size()) return describe_cycle(nodes, producers, missing);
  return order;
}

}  // namespace

Result<std::vector<size_t>> topological_order(const std::vector<NodeDef>& nodes,
                                              const IsKnown& known, const IsKnown& taken) {
  Result<Producers> producers = find_producers(nodes, taken);
  if (!producers) return producers.errors();
  bool sorted = true;
  for (size_t i = 0; i < nodes.size(); ++i)
    for (std::string_view name : reads(nodes[i])) {
      const auto found = producers->find(name);
      if (found != producers->end())
        sorted = sorted && found->second < i;
      else if (!known(name))
        return at_node(
            nodes, i,
            fmt::format("reads '{}', which no node, input or initializer gives; where a file "
                        "was saved without its weights, as torch does for "
                        "include_initializers=False, save it again with them: "
                        "program.save(\"model.onnx\", include_initializers=True)",
                        name));
    }
  if (!sorted) return sort_nodes(nodes, *producers);
  std::vector<size_t> order(nodes.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  return order;
}

}  // namespace accsim::sim
