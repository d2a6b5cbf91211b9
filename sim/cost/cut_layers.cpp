#include "sim/cost/cut_layers.h"

#include <map>
#include <string_view>

#include "sim/base/sums.h"
#include "sim/cost/layer_costs.h"
#include "sim/rewrite/tiled_from.h"

namespace accsim::sim {
namespace {

using ByName = std::map<std::string_view, TensorId>;

Operand named_operand(const Graph& graph, const Residency& residency, const hw::HwConfig& hw,
                      const ByName& tensors, const std::string& name) {
  const auto found = tensors.find(name);
  if (found == tensors.end())
    return {{name, hw::MemoryId::dram, false}, element_bytes(hw, DType::float32)};
  const Tensor& t = graph.tensor(found->second);
  const bool resident = residency.resident[static_cast<size_t>(found->second)];
  return {{t.name, resident ? hw::MemoryId::shared : hw::MemoryId::dram, t.constant},
          element_bytes(hw, t.dtype)};
}

CutLayer describe_cut(const TiledFrom& from) {
  const GemmOp& op = from.op;
  CutLayer out;
  out.name = from.layer;
  out.op_type = from.op_type;
  out.edge = from.padded ? "pad" : "ragged";
  out.batch = op.batch;
  out.m = op.m();
  out.k = op.k();
  out.n = op.n();
  out.tile_m = from.tile.m;
  out.tile_k = from.tile.k;
  out.tile_n = from.tile.n;
  out.products = from.products;
  return out;
}

/// Adds the report's rows to the cut layer whose prefix their names start with.
void add_rows(const std::map<std::string_view, size_t>& prefixes, Report& report) {
  for (const LayerReport& row : report.layers) {
    const std::string_view name = row.name;
    for (size_t at = name.find('/', 1); at != std::string_view::npos; at = name.find('/', at + 1)) {
      const auto found = prefixes.find(name.substr(0, at));
      if (found == prefixes.end()) continue;
      CutLayer& layer = report.cut_layers[found->second];
      layer.cut += row.costs;
      ++layer.nodes;
      break;
    }
  }
}

}  // namespace

Status compare_cut_layers(const Graph& graph, const Lowered& lowered, const Residency& residency,
                          const ProductMapper& products, Report& report) {
  const auto property = graph.metadata.find(kTiledFrom);
  if (property == graph.metadata.end()) return ok();
  const auto layers = parse_tiled_from(property->second, graph.file);
  if (!layers) return layers.errors();
  const hw::HwConfig& machine = products.modes.machine();
  const OperandTypes types(graph, lowered);
  ByName tensors;
  for (size_t i = 0; i < graph.tensors.size(); ++i)
    tensors.emplace(graph.tensors[i].name, static_cast<TensorId>(i));
  std::map<std::string_view, size_t> prefixes;
  for (const TiledFrom& from : *layers) {
    OpRequest request;
    request.item = from.op;
    for (const std::string& name : from.inputs)
      request.inputs.push_back(
          name.empty() ? Operand{} : named_operand(graph, residency, machine, tensors, name));
    request.inputs.resize(std::max<size_t>(request.inputs.size(), 3));
    request.outputs.push_back(named_operand(graph, residency, machine, tensors, from.output));
    const auto tensor = [&](ValuePort port) {
      if (!port.is_within(from.inputs.size())) return kNoTensor;
      const auto found = tensors.find(from.inputs[port.index()]);
      return found == tensors.end() ? kNoTensor : found->second;
    };
    const AskedTypes asked =
        types.of_product(from.op, tensor(from.op.a_port), tensor(from.op.b_port));
    request.mode = products.modes.mode_of(asked).mode;
    const auto mapping = products.mapper.map(request, from.layer);
    if (!mapping) return mapping.errors();
    CutLayer layer = describe_cut(from);
    const hw::Timing& alone = (*mapping)->timing;
    layer.native = item_costs(request, {(*mapping)->counts, alone.total, alone},
                              products.mapper.machine_of(request));
    layer.native.macs = from.op.macs();
    layer.mapping = (*mapping)->description;
    prefixes.emplace(from.prefix, report.cut_layers.size());
    report.cut_layers.push_back(std::move(layer));
  }
  add_rows(prefixes, report);
  Costs all;  // reports show sums of the native ones, too
  int64_t cut = 0;
  for (const CutLayer& layer : report.cut_layers) {
    all += layer.native;
    cut = add_counts(cut, layer.products);
  }
  if (cut == kBeyond) return beyond_64_bits("products", graph.file);
  return check_sums(all, graph.file);
}

}  // namespace accsim::sim
