#include "python/src/report_class.h"

#include <fmt/format.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "hw/config/load.h"
#include "python/src/compute.h"
#include "python/src/costing_keywords.h"
#include "python/src/errors.h"
#include "python/src/machine.h"
#include "python/src/model.h"
#include "python/src/report_state.h"
#include "python/src/table_class.h"
#include "python/src/values.h"
#include "sim/cost/timeline.h"
#include "sim/html/page.h"
#include "sim/report/csv.h"
#include "sim/report/html.h"
#include "sim/report/json.h"
#include "sim/report/text.h"

namespace nb = nanobind;

namespace accsim::python {
namespace {

/// A layer of a report, or its totals: a value for each field of the report's list.
struct Row {
  std::shared_ptr<const sim::Report> report;
  const sim::LayerReport* layer = nullptr;  ///< null: the totals

  sim::ReportRow row() const {
    return layer == nullptr ? totals_row(*report) : layer_row(*report, *layer);
  }
  bool has(const sim::ReportField& field) const {
    return layer == nullptr ? field.in_totals() : field.in_layers();
  }
};

nb::object field(const Row& row, std::string_view key) {
  for (const sim::ReportField& f : sim::report_fields())
    if (f.key == key && row.has(f)) return to_python(f.get(row.row()));
  return {};
}

nb::dict to_dict(const Row& row) {
  nb::dict out;
  for (const sim::ReportField& f : sim::report_fields())
    if (row.has(f)) out[f.key.c_str()] = to_python(f.get(row.row()));
  return out;
}

std::string repr(const Row& row) {
  std::string out = row.layer == nullptr ? "totals:" : "layer:";
  for (const sim::ReportField& f : sim::report_fields())
    if (row.has(f))
      out += fmt::format("\n  {} = {}{}{}", f.key,
                         nb::cast<std::string>(nb::str(nb::repr(to_python(f.get(row.row()))))),
                         f.unit.empty() ? "" : " ", f.unit);
  return out;
}

TablePtr layers(const ReportObject& r) {
  if (!r.layers) r.layers = layers_table(*r.report);
  return r.layers;
}

std::string text(const ReportObject& r, int width, bool all) {
  return to_text(*r.report, {.width = width, .all_layers = all, .unicode = true});
}

/// The text's table as it is, which browsers set in one width; a page is to_html().
std::string notebook(const ReportObject& r) {
  return "<pre style=\"line-height: 1.2\">" + sim::html_escape(text(r, 140, false)) + "</pre>";
}

std::string page(const ReportObject& r) {
  sim::HtmlContext context;
  context.command = "accsim.cost(\"" + r.report->model_file + "\", ...)";
  context.version = std::string("accsim ") + ACCSIM_VERSION;
  context.machine = print_hw(r.report->hw);
  if (r.network) context.timeline = sim::to_timeline_json(*r.network);
  return to_html(*r.report, context);
}

Row layer(const ReportObject& r, nb::handle key) {
  const auto& all = r.report->layers;
  if (nb::isinstance<nb::str>(key)) {
    const auto name = nb::cast<std::string>(key);
    for (const sim::LayerReport& l : all)
      if (l.name == name) return {r.report, &l};
    throw nb::key_error(("no layer '" + name + "'").c_str());
  }
  auto at = nb::cast<int64_t>(key);
  if (at < 0) at += std::ssize(all);
  if (at < 0 || at >= std::ssize(all)) throw nb::index_error("no such layer");
  return {r.report, &all[static_cast<size_t>(at)]};
}

bool equal(const ReportObject& a, nb::handle other) {
  if (!nb::isinstance<ReportObject>(other)) return false;
  return save_report(*a.report) == save_report(*nb::cast<const ReportObject&>(other).report);
}

ReportObject cost(nb::handle model, nb::handle machine, const nb::kwargs& options) {
  const sim::CostingOptions wanted = costing_options(options, sim::kCostKeywords);
  const hw::HwConfig hw = machine_of(machine);
  const Model read = model_of(model, wanted.elaborate);
  auto costed = compute([graph = read.graph, hw, wanted](const std::atomic<bool>&) {
    return cost_network(*graph, hw, wanted.map, wanted.elaborate.limits.programs);
  });
  const auto network = std::make_shared<const sim::CostedNetwork>(unwrap(std::move(costed)));
  if (const Status s = check_pins(*network, wanted.map); !s) throw RaisedErrors(s.errors());
  return {std::shared_ptr<const sim::Report>(network, &network->report), network, read.graph,
          nullptr};
}

constexpr const char* kCost =
    "Costs a network on a machine, as `accsim --hw machine model` does.\n\n"
    "model: a Model, the path of an ONNX file (its weights are never read), or its bytes.\n"
    "machine: a Machine, the name of a shipped or known one, the path of a YAML file, or a dict.\n"
    "bind: sizes of symbolic dimensions by name; input_shapes: shapes of graph inputs by name;\n"
    "assume: sizes that only a run decides, by node; value: elements of tensors by name; branch:\n"
    "\"then\" or \"else\" by If;\n"
    "allow_unsupported: operators without a rule cost their traffic.\n"
    "dataflow: weight_stationary (ws), input_stationary (is) or output_stationary (os); None: the\n"
    "best of the machine's. mapping: a pin \"[GLOB=]TOKENS\" or a list of them. objective:\n"
    "cycles, energy, edp or traffic. slack: with cycles, how much more of them a product may take\n"
    "for less energy, \"1%\". effort: search or rule. key_blocks: attention in blocks of so many\n"
    "keys, \"off\": never, \"auto\" or None: where that is better. max_nodes, max_graph_mib,\n"
    "max_rank, max_programs: what the file may ask for at most; None: as the command line's\n"
    "options have it.\n\n"
    "Raises accsim.Error with what the command line says: unsupported nodes, layers that no tile\n"
    "of the machine holds.";
void add_row(nb::module_& module) {
  nb::class_<Row>(module, "Row",
                  "A layer of a report, or its totals: an attribute and item a field, as in the\n"
                  "JSON. None where a field has no value.")
      .def(
          "__getattr__",
          [](const Row& r, const std::string& key) {
            nb::object value = field(r, key);
            if (!value.is_valid()) throw nb::attribute_error(("no field '" + key + "'").c_str());
            return value;
          },
          nb::sig("def __getattr__(self, name: str, /) -> typing.Any"))
      .def(
          "__getitem__",
          [](const Row& r, const std::string& key) {
            nb::object value = field(r, key);
            if (!value.is_valid()) throw nb::key_error(("no field '" + key + "'").c_str());
            return value;
          },
          nb::sig("def __getitem__(self, name: str, /) -> typing.Any"))
      .def("__dir__",
           [](const Row& r) {
             std::vector<std::string> out = {"to_dict"};
             for (const sim::ReportField& f : sim::report_fields())
               if (r.has(f)) out.push_back(f.key);
             return out;
           })
      .def("to_dict", to_dict, "Every field by name.",
           nb::sig("def to_dict(self) -> dict[str, typing.Any]"))
      .def("__repr__", repr);
}

void add_state(nb::class_<ReportObject>& type) {
  type.def("__eq__", equal, nb::sig("def __eq__(self, other: object, /) -> bool"))
      .def("__hash__",
           [](const ReportObject& r) {
             const std::string bytes = save_report(*r.report);
             return nb::hash(nb::bytes(bytes.data(), bytes.size()));
           })
      .def("__getstate__",
           [](const ReportObject& r) {
             const std::string bytes = save_report(*r.report);
             return nb::bytes(bytes.data(), bytes.size());
           })
      .def("__setstate__", [](ReportObject& r, const nb::bytes& state) {
        auto report = std::make_shared<const sim::Report>(
            unwrap(restore_report({state.c_str(), state.size()})));
        new (&r) ReportObject{std::move(report), nullptr, nullptr, nullptr};
      });
}

}  // namespace

void add_report(nb::module_& module) {
  add_row(module);
  nb::class_<ReportObject> type(
      module, "Report", "What a network costs on a machine: the report of the command line.");
  type.def_prop_ro(
          "total",
          [](const ReportObject& r) {
            return Row{r.report, nullptr};
          },
          "The whole network: report.total.cycles, ...")
      .def_prop_ro(
          "layers", [](const ReportObject& r) { return Table{layers(r)}; },
          "A row a graph node, in execution order.")
      .def("layer", layer, nb::arg("layer"), "One layer, by its name or its place.",
           nb::sig("def layer(self, layer: str | int) -> Row"))
      .def("__len__", [](const ReportObject& r) { return r.report->layers.size(); })
      .def_prop_ro(
          "model", [](const ReportObject& r) { return python_text(r.report->model_file); },
          "The model's file.", nb::sig("def model(self) -> str"))
      .def_prop_ro(
          "unsupported",
          [](const ReportObject& r) {
            nb::list out;
            for (const std::string& name : r.report->unsupported) out.append(python_text(name));
            return out;
          },
          "Nodes without a rule that cost their traffic.",
          nb::sig("def unsupported(self) -> list[str]"))
      .def(
          "to_json", [](const ReportObject& r) { return to_json(*r.report); },
          "The report as accsim --json writes it, byte for byte (accsim.report/1).")
      .def(
          "to_csv", [](const ReportObject& r) { return python_text(to_csv(*r.report)); },
          "The layers as accsim --csv writes them.", nb::sig("def to_csv(self) -> str"))
      .def("to_html", page, "The report as a page that needs no network: one HTML file.")
      .def("to_text", text, nb::arg("width") = 100, nb::arg("all_layers") = false,
           "The report for people; no line is wider than width, at least 60.")
      .def(
          "dump_programs",
          [](const ReportObject& r, const std::string& layers) {
            if (!r.network)
              throw RaisedErrors({{Errc::usage, "a pickled report has no programs", ""}});
            return unwrap(sim::dump_programs(*r.graph, *r.network, layers));
          },
          nb::arg("layers"), "The tile programs of the layers whose name matches a glob.")
      .def("__repr__", [](const ReportObject& r) { return text(r, 100, false); })
      .def("_repr_html_", notebook);
  add_state(type);
  module.def("cost", cost, nb::arg("model"), nb::arg("hw"), nb::arg("options"), kCost,
             nb::sig(("def cost(model: Model | str | os.PathLike[str] | bytes, "
                      "hw: Machine | str | os.PathLike[str] | dict[str, typing.Any], *, " +
                      keyword_signature(sim::kCostKeywords) + ") -> Report")
                         .c_str()));
}

}  // namespace accsim::python
