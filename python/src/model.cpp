#include "python/src/model.h"

#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "hw/config/find_machine.h"
#include "python/src/compute.h"
#include "python/src/costing_keywords.h"
#include "python/src/errors.h"
#include "python/src/values.h"
#include "sim/cost/cost.h"
#include "sim/cost/load_graph.h"

namespace nb = nanobind;

namespace accsim::python {
namespace {

using Rows = std::vector<const sim::CostingOption*>;

/// Options that a network was read with, where they aren't the usual ones.
Rows given(const sim::ElaborateOptions& o) {
  Rows out = sim::options_for(sim::kLoadKeywords);
  std::erase_if(out, [&](const auto* row) { return option_words(*row, {o, {}}).empty(); });
  return out;
}

/// Limits of what a file may ask for that aren't the usual ones, by keyword.
nb::dict limits(const sim::ElaborateOptions& o) {
  nb::dict out;
  for (const sim::CostingOption* row : given(o))
    if (row->is_number())
      out[row->key().c_str()] = nb::int_(nb::str(option_words(*row, {o, {}}).front().c_str()));
  return out;
}

/// What a network was read with that the entry of a sweep spec can't say, by keyword.
std::vector<std::string> beyond_sweeps(const sim::ElaborateOptions& o) {
  std::vector<std::string> out;
  for (const sim::CostingOption* row : given(o))
    if ((row->uses & sim::kModelKeys) == 0) out.push_back(row->key());
  return out;
}

Model read(Model model, const sim::ElaborateOptions& options) {
  if (!model.bytes && hw::is_missing(model.path))
    if (const auto near = hw::near_file(model.path))
      throw RaisedErrors({{Errc::io, "no such file; did you mean " + *near + "?", model.path}});
  Result<sim::Graph> graph = compute([model, options](const std::atomic<bool>&) {
    return model.bytes ? sim::load_graph(model.bytes, model.name, options)
                       : sim::load_graph(model.path, options);
  });
  model.graph = std::make_shared<const sim::Graph>(unwrap(std::move(graph)));
  model.options = options;
  return model;
}

Model of_bytes(const nb::bytes& bytes) {
  Model model;
  model.bytes = std::make_shared<const std::string>(bytes.c_str(), bytes.size());
  model.name = "model.onnx";
  return model;
}

constexpr const char* kLoad =
    "Reads an ONNX model: the path of a file, whose weights are never read, or its bytes.\n"
    "bind: sizes of symbolic dimensions by name, \"*\" for all that nothing else gives; without\n"
    "a size a batch is 1, and others are an error that says sizes which fit; input_shapes: shapes\n"
    "of graph inputs by name, instead of the declared ones; assume: sizes that only a run\n"
    "decides, by the node that has them; value: elements of tensors that only data knows, a\n"
    "number, list, array or path by name; branch: \"then\" or \"else\" by the If whose condition\n"
    "only a run decides; allow_unsupported: operators without a rule cost the traffic of their\n"
    "inputs and outputs instead of being an error; key_blocks: attention in blocks of so many\n"
    "keys, \"off\": never, \"auto\" or None: where that is better; max_nodes, max_graph_mib,\n"
    "max_rank: what the file may ask for at most, None: as the command line's options have it.";

void add_load(nb::class_<Model>& type) {
  type.def_static(
      "load",
      [](nb::handle model, const nb::kwargs& options) {
        return model_of(model, costing_options(options, sim::kLoadKeywords).elaborate);
      },
      nb::arg("model"), nb::arg("options"), kLoad,
      nb::sig(("def load(model: Model | str | os.PathLike[str] | bytes, *, " +
               keyword_signature(sim::kLoadKeywords) + ") -> Model")
                  .c_str()));
}

}  // namespace

std::shared_ptr<const sim::Graph> graph_as_written(const Model& model) {
  const bool stands = std::ranges::any_of(
      model.graph->tensors, [](const sim::Tensor& t) { return t.quantisation.has_value(); });
  const bool changed = std::ranges::any_of(model.graph->nodes, [](const sim::Node& n) {
    return n.absorbed || !n.written_as.empty() || !n.quantisation.empty();
  });
  if (!stands && !changed) return model.graph;
  sim::ElaborateOptions options = model.options;
  options.as_written = true;
  return read(model, options).graph;
}

Model model_of(nb::handle argument, const sim::ElaborateOptions& options) {
  if (nb::isinstance<Model>(argument)) {
    const auto& model = nb::cast<const Model&>(argument);
    return !given(options).empty() ? read(model, options) : model;
  }
  if (nb::isinstance<nb::bytes>(argument))
    return read(of_bytes(nb::cast<nb::bytes>(argument)), options);
  if (!is_path(argument))
    throw nb::type_error("a model is a Model, the path of an ONNX file, or its bytes");
  Model model;
  model.path = path_of(argument);
  return read(std::move(model), options);
}

void add_model(nb::module_& module) {
  nb::class_<Model> type(module, "Model",
                         "A network whose shapes are known, ready to be costed on many machines.");
  add_load(type);
  type.def_prop_ro(
          "name", [](const Model& m) { return python_text(m.graph->name); }, "The graph's name.",
          nb::sig("def name(self) -> str"))
      .def_prop_ro(
          "file", [](const Model& m) { return python_text(m.path); },
          "The file that the model was read from; \"\" for bytes.",
          nb::sig("def file(self) -> str"))
      .def_prop_ro(
          "bindings", [](const Model& m) { return m.graph->bindings; },
          "Sizes of the symbolic dimensions, by name.")
      .def_prop_ro(
          "limits", [](const Model& m) { return limits(m.options); },
          "Limits that it was read with, by keyword, where they aren't the usual ones.",
          nb::sig("def limits(self) -> dict[str, int]"))
      .def_prop_ro(
          "_beyond_sweeps", [](const Model& m) { return beyond_sweeps(m.options); },
          "Keywords that it was read with and that a sweep can't read it with.")
      .def_prop_ro(
          "_allows_unsupported", [](const Model& m) { return m.options.allow_unsupported; },
          "Was it read with allow_unsupported?")
      .def_prop_ro(
          "inputs",
          [](const Model& m) {
            nb::dict out;
            for (const sim::TensorId id : m.graph->inputs) {
              const sim::Tensor& tensor = m.graph->tensor(id);
              out[python_text(tensor.name)] = nb::make_tuple(
                  python_text(name(tensor.dtype)), to_python(sim::FieldValue(tensor.dims)));
            }
            return out;
          },
          "Element type and shape of each graph input, by name.",
          nb::sig("def inputs(self) -> dict[str, tuple[str, tuple[int, ...]]]"))
      .def("__len__", [](const Model& m) { return m.graph->nodes.size(); })
      .def("__repr__", [](const Model& m) {
        return "<accsim.Model '" + m.graph->name + "', " + std::to_string(m.graph->nodes.size()) +
               " nodes>";
      });
}

}  // namespace accsim::python
