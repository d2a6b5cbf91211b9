#include "sim/report/shapes.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/report/format.h"
#include "sim/report/table.h"

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

std::string shapes_text(const Graph& graph, size_t width) {
  TextTable table(
      {{"tensor", "", true}, {"type", "", true}, {"shape", "", true}, {"made by", "", true, 1}});
  for (const Node& node : graph.nodes)
    for (TensorId id : node.outputs)
      if (id != kNoTensor) {
        const Tensor& t = graph.tensor(id);
        table.add({{t.name, std::string(name(t.dtype)),
                    shorten_middle(to_string(t.dims), kShapeMost), node.op_type}});
      }
  std::string out;
  for (const std::string& line : table.lines(std::max<size_t>(width, 60), false))
    out += line + "\n";
  return out;
}

}  // namespace accsim::sim
