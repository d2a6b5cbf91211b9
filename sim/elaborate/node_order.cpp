#include "sim/elaborate/node_order.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
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
    for (std::string_view name : names_read_by(nodes[at])) {
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

/// Indices of nodes, each with those that it reads from, by their places.
using Edges = std::vector<std::vector<size_t>>;

Edges find_edges(const std::vector<NodeDef>& nodes, const Producers& producers) {
  Edges out(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (std::string_view name : names_read_by(nodes[i]))
      if (const auto found = producers.find(name); found != producers.end())
        out[i].push_back(found->second);
    std::ranges::sort(out[i]);
  }
  return out;
}

/// Of each node, how many of its reads can never be made: those from a cycle or from behind one.
std::vector<size_t> never_made(const Edges& from) {
  std::vector<size_t> missing(from.size(), 0), ready;
  Edges readers(from.size());
  for (size_t i = 0; i < from.size(); ++i) {
    missing[i] = from[i].size();
    if (missing[i] == 0) ready.push_back(i);
    for (const size_t producer : from[i]) readers[producer].push_back(i);
  }
  while (!ready.empty()) {
    const size_t i = ready.back();
    ready.pop_back();
    for (const size_t reader : readers[i])
      if (--missing[reader] == 0) ready.push_back(reader);
  }
  return missing;
}

/// The nodes as they stand, but for those that stand behind a reader: they come right before the
/// first one. There are no cycles.
std::vector<size_t> as_they_stand(const Edges& from) {
  std::vector<size_t> order;
  order.reserve(from.size());
  std::vector<bool> placed(from.size(), false);
  std::vector<std::pair<size_t, size_t>> path;  ///< a node, and which of its reads comes next
  for (size_t i = 0; i < from.size(); ++i) {
    if (!placed[i]) path.emplace_back(i, 0);
    while (!path.empty()) {
      auto& [node, next] = path.back();
      if (next < from[node].size()) {
        const size_t producer = from[node][next++];
        if (!placed[producer]) path.emplace_back(producer, 0);
        continue;
      }
      placed[node] = true;
      order.push_back(node);
      path.pop_back();
    }
  }
  return order;
}

Result<std::vector<size_t>> sort_nodes(const std::vector<NodeDef>& nodes,
                                       const Producers& producers) {
  const Edges from = find_edges(nodes, producers);
  const std::vector<size_t> missing = never_made(from);
  if (std::ranges::any_of(missing, [](size_t count) { return count > 0; }))
    return describe_cycle(nodes, producers, missing);
  return as_they_stand(from);
}

}  // namespace

std::vector<std::string_view> names_read_by(const NodeDef& node) {
  std::vector<std::string_view> names;
  for (const std::string& input : node.inputs)
    if (!input.empty()) names.push_back(input);
  for (const Attribute& attribute : node.attributes)
    if (const auto* graph = std::get_if<std::shared_ptr<const GraphDef>>(&attribute.value))
      outer_names(**graph, names);
  return names;
}

Result<std::vector<size_t>> topological_order(const std::vector<NodeDef>& nodes,
                                              const IsKnown& known, const IsKnown& taken) {
  Result<Producers> producers = find_producers(nodes, taken);
  if (!producers) return producers.errors();
  bool sorted = true;
  for (size_t i = 0; i < nodes.size(); ++i)
    for (std::string_view name : names_read_by(nodes[i])) {
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
