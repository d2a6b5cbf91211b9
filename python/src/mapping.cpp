#include "python/src/mapping.h"

#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "hw/config/values.h"
#include "python/src/errors.h"
#include "python/src/model.h"
#include "sim/map/mapping_words.h"

namespace nb = nanobind;

namespace accsim::python {
namespace {

const std::vector<std::string> kNames = {
    "bind",       "input_shapes", "assume",        "branch",   "allow_unsupported",
    "key_blocks", "max_nodes",    "max_graph_mib", "max_rank", "max_programs",
    "dataflow",   "mapping",      "objective",     "slack",    "effort"};

/// The word of a model of that name that is taken as it is; nullptr: none is.
nb::object* object_of(GraphWords& words, std::string_view name) {
  if (name == "bind") return &words.bind;
  if (name == "input_shapes") return &words.input_shapes;
  if (name == "assume") return &words.assume;
  if (name == "branch") return &words.branch;
  if (name == "key_blocks") return &words.key_blocks;
  if (name == "max_nodes") return &words.max_nodes;
  if (name == "max_graph_mib") return &words.max_graph_mib;
  if (name == "max_rank") return &words.max_rank;
  return name == "max_programs" ? &words.max_programs : nullptr;
}

[[noreturn]] void refuse(const std::string& name) {
  const auto close = hw::nearest_word(name, kNames);
  throw nb::type_error(fmt::format("'{}' is no option{}", name,
                                   close ? fmt::format("; did you mean {}?", *close) : "")
                           .c_str());
}

}  // namespace

CostOptions cost_options(const nb::kwargs& keywords) {
  GraphWords graph;
  sim::MappingWords words;
  for (const auto [key, value] : keywords) {
    const auto name = nb::cast<std::string>(key);
    if (nb::object* const object = object_of(graph, name))
      *object = nb::borrow(value);
    else if (name == "allow_unsupported")
      graph.allow_unsupported = nb::cast<bool>(value);
    else if (name == "objective")
      words.objective = nb::cast<std::string>(value);
    else if (name == "slack")
      words.slack = nb::cast<std::string>(value);
    else if (name == "effort")
      words.effort = nb::cast<std::string>(value);
    else if (name != "dataflow" && name != "mapping")
      refuse(name);
    else if (value.is_none())
      continue;
    else if (name == "dataflow")
      words.dataflow = nb::cast<std::string>(value);
    else if (nb::isinstance<nb::str>(value))
      words.mappings = {nb::cast<std::string>(value)};
    else
      words.mappings = nb::cast<std::vector<std::string>>(value);
  }
  return {elaborate_options(graph), unwrap(sim::map_options(words))};
}

}  // namespace accsim::python
