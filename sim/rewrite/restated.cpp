#include "sim/rewrite/restated.h"

#include "sim/onnx/writer.h"

namespace accsim::sim::rewrite {

std::map<std::string, ValueDef> restated_values(
    const GraphDef& graph, FunctionRef<const Tensor*(const std::string&)> tensor) {
  std::map<std::string, ValueDef> out;
  const auto add = [&](const ValueDef& value, bool symbols) {
    const Tensor* const known = value.dims ? tensor(value.name) : nullptr;
    if (known == nullptr) return;
    bool differs = value.dims->size() != known->dims.size();
    for (size_t i = 0; !differs && i < known->dims.size(); ++i) {
      const int64_t dim = (*value.dims)[i].value;
      differs = dim != known->dims[i] && (symbols || dim >= 0);
    }
    if (!differs) return;
    ValueDef& now = out[value.name] = stated_value(value.name, known->dtype, known->dims);
    now.is_optional = value.is_optional;
  };
  for (const ValueDef& value : graph.inputs) add(value, true);
  for (const ValueDef& value : graph.outputs) add(value, true);
  for (const ValueDef& value : graph.value_infos) add(value, false);
  return out;
}

}  // namespace accsim::sim::rewrite
