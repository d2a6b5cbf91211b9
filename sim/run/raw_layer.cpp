#include "sim/run/raw_layer.h"

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <set>

#include "sim/elaborate/node_label.h"
#include "sim/ref/raw.h"
#include "sim/report/write_file.h"
#include "sim/rewrite/layer_model.h"
#include "sim/run/run.h"

namespace accsim::sim {
namespace {

/// One side of a node, of which each tensor is written once.
struct Side {
  const std::vector<TensorId>& ids;
  const std::vector<ref::Array>& arrays;
  const char* ending;
};

}  // namespace

Result<DumpLayer> write_raw_layer(const ref::NodeRun& run, const std::string& root,
                                  const std::string& layer) {
  const Node& node = run.graph.nodes[static_cast<size_t>(run.node)];
  const std::string folder = root + "/" + layer;
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return Error{Errc::io, fmt::format("can't be made a folder: {}", error.message()), folder};
  DumpLayer out{node.name, node.op_type, {}, {}, "", layer + "/layer.onnx"};
  std::map<TensorId, std::string> stored;
  std::set<TensorId> written = {kNoTensor};
  const auto write = [&](const Side& side, std::vector<DumpTensor>& to) -> Status {
    for (size_t port = 0; port < side.ids.size(); ++port) {
      const TensorId id = side.ids[port];
      if (side.arrays[port].empty() || !written.insert(id).second) continue;
      const Tensor& tensor = run.graph.tensor(id);
      if (!ref::has_raw_elements(side.arrays[port].dtype()))
        return Error{
            Errc::unsupported,
            fmt::format("'{}' holds {}, which has no raw elements; leave the node out with "
                        "--dump",
                        tensor.name, name(side.arrays[port].dtype())),
            run.graph.file + ": " + node_label(node)};
      std::string raw = ref::to_raw(side.arrays[port]);
      DumpTensor entry{
          tensor.name,
          fmt::format("{}/{}_{}.{}", layer, port, plain_name(tensor.name), side.ending),
          tensor.dtype, side.arrays[port].dims(), &to == &out.inputs && tensor.constant};
      if (const Status s = write_file_atomically(root + "/" + entry.file, raw); !s) return s;
      if (entry.stored) stored.emplace(id, std::move(raw));
      to.push_back(std::move(entry));
    }
    return ok();
  };
  if (const Status s = write({node.inputs, run.inputs, "bin"}, out.inputs); !s) return s.errors();
  if (const Status s = write({node.outputs, run.outputs, "out"}, out.outputs); !s)
    return s.errors();
  const Result<std::string> model = layer_model(run.graph, node, stored);
  if (!model) return model.errors();
  if (const Status s = write_file_atomically(root + "/" + out.model, *model); !s) return s.errors();
  return out;
}

}  // namespace accsim::sim
