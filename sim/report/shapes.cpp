#include "sim/report/shapes.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "sim/base/json_text.h"
#include "sim/report/format.h"
#include "sim/report/table.h"

namespace accsim::sim {

std::string shapes_json(const Graph& graph) {
  using Json = nlohmann::ordered_json;
  Json out = Json::object();
  std::vector<std::pair<const std::string, Json>>& members = out.get_ref<Json::object_t&>();
  for (const Node& node : graph.nodes)
    for (TensorId id : node.outputs)
      if (id != kNoTensor) {
        const Tensor& t = graph.tensor(id);
        // Names are each a tensor's: looking them up would look at all of them.
        members.emplace_back(t.name, Json{std::string(name(t.dtype)), t.dims});
      }
  return json_text(out, 1) + "\n";
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
