#include "python/src/model.h"

#include <fmt/format.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

#include "hw/config/find_machine.h"
#include "python/src/compute.h"
#include "python/src/errors.h"
#include "python/src/values.h"
#include "sim/base/limit_ranges.h"
#include "sim/cost/cost.h"
#include "sim/cost/load_graph.h"
#include "sim/elaborate/key_blocks_word.h"

namespace nb = nanobind;

namespace accsim::python {
namespace {

using Numbers = std::map<std::string, int64_t>;

/// Limits of what a file may ask for that aren't the usual ones, by keyword.
Numbers limits(const sim::ElaborateOptions& o) {
  const Limits usual;
  Numbers out;
  if (o.limits.nodes != usual.nodes) out["max_nodes"] = o.limits.nodes;
  if (o.limits.graph_bytes != usual.graph_bytes) out["max_graph_mib"] = o.limits.graph_bytes >> 20;
  if (o.limits.rank != usual.rank) out["max_rank"] = o.limits.rank;
  return out;
}

bool given(const sim::ElaborateOptions& o) {
  return !o.bindings.empty() || !o.input_shapes.empty() || !o.sizes.empty() ||
         !o.branches.empty() || o.allow_unsupported || o.key_blocks || !limits(o).empty();
}

/// What a network was read with that the entry of a sweep spec can't say, by keyword.
std::vector<std::string> beyond_sweeps(const sim::ElaborateOptions& o) {
  std::vector<std::string> out;
  if (!o.input_shapes.empty()) out.emplace_back("input_shapes");
  if (!o.sizes.empty()) out.emplace_back("assume");
  if (!o.branches.empty()) out.emplace_back("branch");
  if (o.key_blocks) out.emplace_back("key_blocks");
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
    "decides, by the node that has them; branch: \"then\" or \"else\" by the If whose condition\n"
    "only a run decides; allow_unsupported: operators without a rule cost the traffic of their\n"
    "inputs and outputs instead of being an error; key_blocks: attention in blocks of so many\n"
    "keys, \"off\": never, \"auto\" or None: where that is better; max_nodes, max_graph_mib,\n"
    "max_rank: what the file may ask for at most, None: as the command line's options have it.";

Numbers numbers(const nb::object& given, const char* name, const char* option, Errors& errors) {
  if (given.is_none()) return {};
  auto out = nb::cast<Numbers>(given);
  for (const auto& [key, number] : out)
    if (number < 0)
      errors.push_back({Errc::usage,
                        "'" + key + "=" + std::to_string(number) + "' is not " + name +
                            "=N with N a whole number",
                        option});
  return out;
}

std::map<std::string, bool> branches(const nb::object& given, Errors& errors) {
  std::map<std::string, bool> out;
  if (given.is_none()) return out;
  for (const auto& [node, branch] : nb::cast<std::map<std::string, std::string>>(given)) {
    if (branch != sim::kThenBranch && branch != sim::kElseBranch)
      errors.push_back({Errc::usage,
                        fmt::format("'{}={}' is not NODE=then or NODE=else", node, branch),
                        "--branch"});
    out[node] = branch == sim::kThenBranch;
  }
  return out;
}

/// Sets `limit`, which is counted in `unit`s, where one is given.
void take_limit(const nb::object& given, std::string_view option, int64_t least, int64_t unit,
                int64_t& limit, Errors& errors) {
  if (given.is_none()) return;
  if (!nb::isinstance<nb::int_>(given))
    throw nb::type_error(fmt::format("{} takes a whole number", option).c_str());
  const int64_t most = unit == 1 ? kMostLimit : kMostLimitMib;
  int64_t number = 0;
  if (nb::try_cast(given, number) && number >= least && number <= most)
    limit = number * unit;
  else
    errors.push_back({Errc::usage,
                      fmt::format("{} is not a whole number from {} to {}",
                                  nb::cast<std::string>(nb::str(given)), least, most),
                      std::string(option)});
}

void take_key_blocks(const nb::object& given, sim::ElaborateOptions& to, Errors& errors) {
  if (given.is_none()) return;
  const auto keys = sim::key_blocks_of(nb::cast<std::string>(nb::str(given)));
  if (keys)
    to.key_blocks = *keys;
  else
    errors.insert(errors.end(), keys.errors().begin(), keys.errors().end());
}

void take_limits(const GraphWords& words, Limits& limits, Errors& errors) {
  constexpr int64_t kMib = int64_t{1} << 20;
  take_limit(words.max_nodes, kNodesOption, 0, 1, limits.nodes, errors);
  take_limit(words.max_graph_mib, kGraphOption, 1, kMib, limits.graph_bytes, errors);
  take_limit(words.max_rank, kRankOption, 1, 1, limits.rank, errors);
  take_limit(words.max_programs, kProgramsOption, 1, 1, limits.programs, errors);
  take_limit(words.max_memory_mib, kMemoryOption, 1, kMib, limits.memory_bytes, errors);
}

void add_load(nb::class_<Model>& type) {
  type.def_static(
      "load",
      [](nb::handle model, nb::object bind, nb::object shapes, nb::object assume, nb::object branch,
         bool unsupported, nb::object key_blocks, nb::object nodes, nb::object graph_mib,
         nb::object rank) {
        return model_of(model, elaborate_options({.bind = std::move(bind),
                                                  .input_shapes = std::move(shapes),
                                                  .assume = std::move(assume),
                                                  .branch = std::move(branch),
                                                  .allow_unsupported = unsupported,
                                                  .key_blocks = std::move(key_blocks),
                                                  .max_nodes = std::move(nodes),
                                                  .max_graph_mib = std::move(graph_mib),
                                                  .max_rank = std::move(rank)}));
      },
      nb::arg("model"), nb::kw_only(), nb::arg("bind") = nb::none(),
      nb::arg("input_shapes") = nb::none(), nb::arg("assume") = nb::none(),
      nb::arg("branch") = nb::none(), nb::arg("allow_unsupported") = false,
      nb::arg("key_blocks") = nb::none(), nb::arg("max_nodes") = nb::none(),
      nb::arg("max_graph_mib") = nb::none(), nb::arg("max_rank") = nb::none(), kLoad,
      nb::sig("def load(model: Model | str | os.PathLike[str] | bytes, *, "
              "bind: dict[str, int] | None = None, "
              "input_shapes: dict[str, collections.abc.Sequence[int]] | None = None, "
              "assume: dict[str, int] | None = None, "
              "branch: dict[str, str] | None = None, "
              "allow_unsupported: bool = False, key_blocks: int | str | None = None, "
              "max_nodes: int | None = None, "
              "max_graph_mib: int | None = None, max_rank: int | None = None) -> Model"));
}

}  // namespace

sim::ElaborateOptions elaborate_options(const GraphWords& words) {
  sim::ElaborateOptions out;
  out.allow_unsupported = words.allow_unsupported;
  Errors errors;
  out.bindings = numbers(words.bind, "NAME", "--bind", errors);
  out.sizes = numbers(words.assume, "NODE", "--assume", errors);
  out.branches = branches(words.branch, errors);
  take_key_blocks(words.key_blocks, out, errors);
  take_limits(words, out.limits, errors);
  if (!words.input_shapes.is_none())
    for (const auto [name, shape] : nb::cast<nb::dict>(words.input_shapes)) {
      Dims dims;
      for (const nb::handle dim : shape) dims.push_back(nb::cast<int64_t>(dim));
      out.input_shapes[nb::cast<std::string>(name)] = std::move(dims);
    }
  for (const auto& [input, dims] : out.input_shapes)
    for (const int64_t dim : dims)
      if (dim < 1)
        errors.push_back(
            {Errc::usage,
             "'" + input + "=" + to_string(dims) + "' is not NAME=DIMS, e.g. input=1x3x224x224",
             "--input-shape"});
  if (!errors.empty()) throw RaisedErrors(std::move(errors));
  return out;
}

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
    return given(options) ? read(model, options) : model;
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
          "Limits that it was read with, by keyword, where they aren't the usual ones.")
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
