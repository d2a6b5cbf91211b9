#include "sim/cost/latency_model.h"

#include <fmt/format.h>

#include "sim/base/key_bytes.h"
#include "sim/cost/cost.h"
#include "sim/elaborate/elaborate.h"
#include "sim/onnx/writer.h"
#include "sim/operators/names.h"

namespace accsim::sim {
namespace {

ValueDef float_value(const std::string& name, const Dims& dims) {
  return stated_value(name, DType::float32, dims);
}

NodeDef make_node(const std::string& op, std::vector<std::string> inputs,
                  const std::string& output) {
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
  model.graph.inputs = {float_value("a", s.batch == 1 ? Dims{s.m, s.k} : Dims{s.batch, s.m, s.k})};
  if (s.weights) {
    StoredTensor& stored = model.graph.initializers.emplace_back();
    stored.name = "b";
    stored.dtype = DType::float32;
    stored.dims = b;
  } else {
    model.graph.inputs.push_back(float_value("b", b));
  }
  model.graph.nodes = {make_node(op::kMatMul, {"a", "b"}, "product")};
  model.graph.outputs = {
      float_value("product", s.batch == 1 ? Dims{s.m, s.n} : Dims{s.batch, s.m, s.n})};
  return model;
}

/// K comes transposed: caches are kept so.
ModelDef model_of(const AttentionShape& s) {
  ModelDef model;
  const int64_t rows = s.heads / s.kv_heads * s.queries;
  model.graph.inputs = {float_value("q", {s.kv_heads, rows, s.head_dim}),
                        float_value("k", {s.kv_heads, s.head_dim, s.keys}),
                        float_value("v", {s.kv_heads, s.keys, s.head_dim})};
  model.graph.nodes = {make_node(op::kMatMul, {"q", "k"}, "scores"),
                       make_node(op::kSoftmax, {"scores"}, "weights"),
                       make_node(op::kMatMul, {"weights", "v"}, "attended")};
  model.graph.outputs = {float_value("attended", {s.kv_heads, rows, s.head_dim})};
  return model;
}

Result<Latency> cost_of_model(ModelDef model, const hw::HwConfig& hw, const MapOptions& options) {
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
                 .energy_pj = c.energy.total_pj()};
}

Status check_sizes(const std::string& shape, std::initializer_list<int64_t> sizes) {
  for (const int64_t size : sizes)
    if (size < 1 || size > int64_t{1} << 31)
      return Error{Errc::usage, fmt::format("has size {}; sizes are 1..2^31", size), shape};
  return ok();
}

Status check_shape(const ProductShape& s) {
  return check_sizes(fmt::format("product {}x{}x{}x{}", s.batch, s.m, s.k, s.n),
                     {s.batch, s.m, s.k, s.n});
}

Status check_shape(const AttentionShape& s) {
  const std::string name = fmt::format("attention of {} heads", s.heads);
  if (Status good = check_sizes(name, {s.heads, s.kv_heads, s.queries, s.keys, s.head_dim}); !good)
    return good;
  if (s.heads % s.kv_heads != 0)
    return Error{Errc::usage, fmt::format("kv_heads {} must divide them", s.kv_heads), name};
  return ok();
}

std::string key_of(const ProductShape& shape) {
  const auto& [batch, m, k, n, weights] = shape;
  return KeyBytes().add('p', batch, m, k, n, weights).take_bytes();
}

std::string key_of(const AttentionShape& shape) {
  const auto& [heads, kv_heads, queries, keys, head_dim] = shape;
  return KeyBytes().add('a', heads, kv_heads, queries, keys, head_dim).take_bytes();
}

}  // namespace

LatencyModel::LatencyModel(hw::HwConfig hw, MapOptions options)
    : hw_(std::move(hw)), options_(std::move(options)) {
  options_.programs = false;
}

template <class Shape>
Result<Latency> LatencyModel::known_or_costed(const Shape& shape) {
  std::string key = key_of(shape);
  if (const auto known = known_.find(key); known != known_.end()) return known->second;
  if (const Status good = check_shape(shape); !good) return good.errors();
  Result<Latency> found = cost_of_model(model_of(shape), hw_, options_);
  if (found) known_.emplace(std::move(key), *found);
  return found;
}

Result<Latency> LatencyModel::product_latency(const ProductShape& shape) {
  return known_or_costed(shape);
}

Result<Latency> LatencyModel::attention_latency(const AttentionShape& shape) {
  return known_or_costed(shape);
}

}  // namespace accsim::sim
