#include "sim/report/shapes.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace accsim::sim {

std::string shapes_json(const Graph& graph) {
  nlohmann::ordered_json out = nlohmann::ordered_json::object();
  for (const Node& node : graph.nodes)
    for (TensorId id : node.outputs)
      if (id != kNoTensor) {
        const Tensor& t = graph.tensor(id);
        out[t.name] = {std::string(name(t.dtype)), t.dims};
      }
  return out.dump(1, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

std::string shapes_text(const Graph& graph) {
  size_t widest = 0;
  for (const Tensor& t : graph.tensors) widest = std::max(widest, t.name.size());
  std::string out;
  for (const Node& node : graph.nodes)
    for (TensorId id : node.outputs)
      if (id != kNoTensor) {
        const Tensor& t = graph.tensor(id);
        out += fmt::format("{:<{}}  {:<9} {:<20} {}\n", t.name, widest, name(t.dtype),
                           to_string(t.dims), node.op_type);
      }
  return out;
}

}  // namespace accsim::sim
