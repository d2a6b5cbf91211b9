#include "sim/schedule/program_names.h"

#include <algorithm>
#include <map>
#include <string>
#include <string_view>

namespace accsim::sim {

void name_tensors(const Graph& graph, const OpTrace& trace, const LayerPorts& ports,
                  const LayerTensors& layer, std::span<hw::ProgramTensor> tensors) {
  const std::vector<int32_t> all = tensor_numbers(trace, ports, layer);
  std::map<std::string, std::string, std::less<>> renamed;  ///< by the mapping's name
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i] >= std::ssize(graph.tensors)) continue;
    const std::string& name = graph.tensors[static_cast<size_t>(all[i])].name;
    renamed.emplace(tensors[i].name, name);
    tensors[i].name = name;
  }
  for (size_t i = 0; i < all.size(); ++i) {
    if (trace.ports[i].side != OperandPort::Side::own) continue;
    std::string& name = tensors[i].name;
    const size_t note = name.rfind(" (");
    if (note == std::string::npos) continue;
    const auto known = renamed.find(std::string_view(name).substr(0, note));
    if (known != renamed.end()) name.replace(0, note, known->second);
  }
}

}  // namespace accsim::sim
