#include "sim/graph/external_files.h"

#include <vector>

namespace accsim::sim {
namespace {

using Names = std::set<std::string>;

void note_file(const StoredTensor& tensor, Names& to) {
  const Payload& payload = tensor.payload;
  if (payload.kind == Payload::Kind::external ||
      (payload.kind == Payload::Kind::sparse && !payload.external_file.empty()))
    to.insert(payload.external_file);
}

/// Notes what the nodes' attributes hold; graphs among these come to `todo`.
void note_attributes(const std::vector<NodeDef>& nodes, Names& to,
                     std::vector<const GraphDef*>& todo) {
  for (const NodeDef& node : nodes)
    for (const Attribute& a : node.attributes) {
      if (const auto* t = std::get_if<std::shared_ptr<const StoredTensor>>(&a.value))
        note_file(**t, to);
      if (const auto* g = std::get_if<std::shared_ptr<const GraphDef>>(&a.value))
        todo.push_back(g->get());
    }
}

}  // namespace

Names external_files(const ModelDef& model) {
  Names out;
  std::vector<const GraphDef*> todo = {&model.graph};
  for (const FunctionDef& function : model.functions) note_attributes(function.nodes, out, todo);
  while (!todo.empty()) {
    const GraphDef& graph = *todo.back();
    todo.pop_back();
    for (const StoredTensor& stored : graph.initializers) note_file(stored, out);
    note_attributes(graph.nodes, out, todo);
  }
  return out;
}

}  // namespace accsim::sim
