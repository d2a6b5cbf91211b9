#include "sim/flow/latency_model.h"

#include <fmt/format.h>

#include "sim/base/key_bytes.h"
#include "sim/elaborate/elaborate.h"
#include "sim/flow/cost.h"
#include "sim/operators/names.h"

namespace accsim::sim {
namespace {

ValueDef value(const std::string& name, const Dims& dims) {
  ValueDef out;
  out.name = name;
  out.dtype = DType::float32;
  out.dims.emplace();
  for (const int64_t dim : dims) out.dims->push_back({.value = dim, .symbol = ""});
  return out;
}

NodeDef node(const std::string& op, std::vector<std::string> inputs, const std::string& output) {
  NodeDef out;
  out.name = output;
  out.op_type = op;
  out.inputs = std::move(inputs);
  out.outputs = {output};
  return out;
}

ModelDef model_of(const ProductShape& s) {
  ModelDef model;
  const Dims b = s.batch == 1 ? Dims{s.k, s.n} : Dims{s.batch, s.k, s.n};
  model.graph.inputs = {value("a", s.batch == 1 ? Dims{s.m, s.k} : Dims{s.batch, s.m, s.k})};
  if (s.weights) {
    StoredTensor& stored = model.graph.initializers.emplace_back();
    stored.name = "b";
    stored.dtype = DType::float32;
    stored.dims = b;
  } else {
    model.graph.inputs.push_back(value("b", b));
  }
  model.graph.nodes = {node(op::kMatMul, {"a", "b"}, "product")};
  model.graph.outputs = {value("product", s.batch == 1 ? Dims{s.m, s.n} : Dims{s.batch, s.m, s.n})};
  return model;
}

/// K comes transposed: caches are kept so.
ModelDef model_of(const AttentionShape& s) {
  ModelDef model;
  const int64_t rows = s.heads / s.kv_heads * s.queries;
  model.graph.inputs = {value("q", {s.kv_heads, rows, s.head_dim}),
                        value("k", {s.kv_heads, s.head_dim, s.keys}),
                        value("v", {s.kv_heads, s.keys, s.head_dim})};
  model.graph.nodes = {node(op::kMatMul, {"q", "k"}, "scores"),
                       node(op::kSoftmax, {"scores"}, "weights"),
                       node(op::kMatMul, {"weights", "v"}, "attended")};
  model.graph.outputs = {value("attended", {s.kv_heads, rows, s.head_dim})};
  return model;
}

Result<Latency> cost(ModelDef model, const hw::HwConfig& hw, const MapOptions& options) {
  model.ir_version = 8;
  model.opsets[""] = 17;
  const Result<Graph> graph = elaborate(model, {});
  if (!graph) return graph.errors();
  const Result<CostedNetwork> network = cost_network(*graph, hw, options);
  if (!network) return network.errors();
  const Report& report = network->report;
  const Costs& c = report.totals;
  return Latency{.cycles = c.cycles,
                 .macs = c.macs,
                 .read_bytes = c.dram_read,
                 .write_bytes = c.dram_write,
                 .nanoseconds = report.seconds(c.cycles) * 1e9,
                 .energy_pj = c.energy.total()};
}

Status check_sizes(const std::string& shape, std::initializer_list<int64_t> sizes) {
  for (const int64_t size : sizes)
    if (size < 1 || size > int64_t{1} << 31)
      return Error{Errc::usage, fmt::format("has size {}; sizes are 1..2^31", size), shape};
  return ok();
}

}  // namespace

LatencyModel::LatencyModel(hw::HwConfig hw, MapOptions options)
    : hw_(std::move(hw)), options_(std::move(options)) {
  options_.programs = false;
}

Result<Latency> LatencyModel::product(const ProductShape& shape) {
  const auto& [batch, m, k, n, weights] = shape;
  KeyBytes key;
  key.add('p', batch, m, k, n, weights);
  const std::string bytes = key.take();
  if (const auto known = known_.find(bytes); known != known_.end()) return known->second;
  const std::string name = fmt::format("product {}x{}x{}x{}", batch, m, k, n);
  if (const Status good = check_sizes(name, {batch, m, k, n}); !good) return good.errors();
  Result<Latency> found = cost(model_of(shape), hw_, options_);
  if (found) known_.emplace(bytes, *found);
  return found;
}

Result<Latency> LatencyModel::attention(const AttentionShape& shape) {
  const auto& [heads, kv_heads, queries, keys, head_dim] = shape;
  KeyBytes key;
  key.add('a', heads, kv_heads, queries, keys, head_dim);
  const std::string bytes = key.take();
  if (const auto known = known_.find(bytes); known != known_.end()) return known->second;
  const std::string name = fmt::format("attention of {} heads", heads);
  if (const Status good = check_sizes(name, {heads, kv_heads, queries, keys, head_dim}); !good)
    return good.errors();
  if (heads % kv_heads != 0)
    return Error{Errc::usage, fmt::format("kv_heads {} must divide them", kv_heads), name};
  Result<Latency> found = cost(model_of(shape), hw_, options_);
  if (found) known_.emplace(bytes, *found);
  return found;
}

}  // namespace accsim::sim
