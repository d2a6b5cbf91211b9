#include "sim/rewrite/layer_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sim/elaborate/node_label.h"
#include "sim/onnx/weights.h"
#include "sim/onnx/writer.h"

namespace accsim::sim {
namespace {

constexpr size_t kMostBytes = (size_t{1} << 31) - 1;

StoredTensor stored_as(std::string name, DType dtype, const Dims& dims, const uint8_t* data,
                       size_t size) {
  StoredTensor out;
  out.name = std::move(name);
  out.dtype = dtype;
  out.dims = dims;
  out.payload.kind = Payload::Kind::raw;
  out.payload.data = data;
  out.payload.size = size;
  return out;
}

/// Writes a graph's node, whose attributes may hold tensors that lie anywhere.
class LayerWriter {
 public:
  LayerWriter(const Graph& graph, const Node& node) : graph_(graph), node_(node) {}

  Result<NodeDef> node_definition() {
    NodeDef out;
    out.name = node_.name;
    out.op_type = node_.op_type;
    out.domain = node_.domain;
    for (const TensorId id : node_.inputs) out.inputs.push_back(name_of(id));
    for (const TensorId id : node_.outputs) out.outputs.push_back(name_of(id));
    for (const Attribute& attribute : node_.attributes) {
      Result<Attribute> written = attribute_in_memory(attribute);
      if (!written) return written.errors();
      out.attributes.push_back(std::move(*written));
    }
    return out;
  }

 private:
  std::string name_of(TensorId id) const {
    return id == kNoTensor ? std::string() : graph_.tensor(id).name;
  }
  Error cant_write(const Attribute& attribute, const char* why) const {
    return {Errc::unsupported,
            "its attribute '" + attribute.name + "' " + why + "; leave the node out with --dump",
            graph_.file + ": " + node_label(node_)};
  }
  /// The attribute with its elements in memory.
  Result<Attribute> attribute_in_memory(const Attribute& attribute) {
    if (std::holds_alternative<std::shared_ptr<const GraphDef>>(attribute.value))
      return cant_write(attribute, "holds a graph");
    const auto* tensor = std::get_if<std::shared_ptr<const StoredTensor>>(&attribute.value);
    if (tensor == nullptr) return attribute;
    const StoredTensor& stored = **tensor;
    if (stored.sparse) return cant_write(attribute, "is sparse");
    auto raw = raw_elements(graph_.file, stored.dtype, stored.dims, stored.payload);
    if (!raw) {
      if (stored.value && writes_values(stored.dtype)) return attribute;
      return cant_write(attribute, "has no elements in the file");
    }
    const RawElements& kept = *kept_.insert(kept_.end(), std::move(*raw));
    const uint8_t* data = kept.owned.empty() ? kept.data : kept.owned.data();
    return Attribute{attribute.name, "",
                     std::make_shared<const StoredTensor>(
                         stored_as(stored.name, stored.dtype, stored.dims, data, kept.size))};
  }

  const Graph& graph_;
  const Node& node_;
  std::vector<RawElements> kept_;  ///< what written attributes point into
};

/// The versions of the domains that the node needs.
std::map<std::string, int64_t> opsets_of(const Graph& graph, const Node& node) {
  std::map<std::string, int64_t> out = {{node.domain, std::max<int64_t>(node.opset, 1)}};
  if (graph.opset > 0) out.emplace("", graph.opset);
  return out;
}

}  // namespace

Result<std::string> layer_model(const Graph& graph, const Node& node,
                                const std::map<TensorId, std::string>& elements) {
  ModelDef model;
  model.ir_version = std::max(graph.ir_version, kInitializersNeedNoInput);
  model.producer = "accsim";
  model.opsets = opsets_of(graph, node);
  model.graph.name = node.name;
  LayerWriter writer(graph, node);
  Result<NodeDef> definition = writer.node_definition();
  if (!definition) return definition.errors();
  model.graph.nodes.push_back(std::move(*definition));
  std::set<TensorId> seen = {kNoTensor};
  for (const TensorId id : node.inputs) {
    if (!seen.insert(id).second) continue;
    const Tensor& t = graph.tensor(id);
    const auto found = elements.find(id);
    if (found == elements.end()) {
      model.graph.inputs.push_back(stated_value(t.name, t.dtype, t.dims));
      continue;
    }
    const std::string& raw = found->second;
    model.graph.initializers.push_back(stored_as(
        t.name, t.dtype, t.dims, reinterpret_cast<const uint8_t*>(raw.data()), raw.size()));
  }
  for (const TensorId id : node.outputs)
    if (seen.insert(id).second)
      model.graph.outputs.push_back(
          stated_value(graph.tensor(id).name, graph.tensor(id).dtype, graph.tensor(id).dims));
  std::string bytes = write_model(model);
  if (bytes.size() > kMostBytes)
    return Error{Errc::capacity,
                 fmt::format("would be a model of {} bytes, more than a file of protobuf may have "
                             "({}); leave the node out with --dump",
                             bytes.size(), kMostBytes),
                 graph.file + ": " + node_label(node)};
  return bytes;
}

}  // namespace accsim::sim
