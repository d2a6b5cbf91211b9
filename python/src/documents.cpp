#include "python/src/documents.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/src/compute.h"
#include "python/src/costing_keywords.h"
#include "python/src/errors.h"
#include "python/src/machine.h"
#include "python/src/model.h"
#include "python/src/report_class.h"
#include "python/src/values.h"
#include "sim/advise/advise_text.h"
#include "sim/compare/compare_text.h"
#include "sim/compare/read_report.h"
#include "sim/lower/lower_each.h"
#include "sim/report/inspect.h"
#include "sim/run/diff.h"

namespace nb = nanobind;

namespace accsim::python {
namespace {

constexpr int kWidth = 100;

using Document = std::pair<std::string, std::string>;  // JSON and text

/// The JSON and text of a network's analysis.
Result<Document> inspected(const sim::Graph& graph, const sim::AnalyseOptions& options) {
  const Result<sim::Lowered> lowered = sim::lower_each(graph);
  if (!lowered) return lowered.errors();
  const Result<sim::Analysis> analysis = sim::analyse(graph, *lowered, options);
  if (!analysis) return analysis.errors();
  const sim::Inspection inspection{graph, *lowered, *analysis};
  return Document(inspect_json(inspection), inspect_text(inspection, {.width = kWidth}));
}

Document inspect(const Model& model, const std::string& macs, const std::string& traffic,
                 bool in_place, bool reorder) {
  sim::AnalyseOptions options;
  Errors errors;
  if (macs == "bias" || macs == "all")
    options.macs = macs == "all" ? sim::MacConvention::all : sim::MacConvention::bias;
  else if (macs != "pure")
    errors.push_back({Errc::usage, macs + " not in {pure,bias,all}", "--macs"});
  if (traffic == "all")
    options.reads = sim::ReadConvention::all;
  else if (traffic != "activations")
    errors.push_back({Errc::usage, traffic + " not in {activations,all}", "--traffic"});
  if (!errors.empty()) throw RaisedErrors(std::move(errors));
  options.in_place = in_place;
  options.reorder = reorder;
  return unwrap(compute([graph = graph_as_written(model), options](const std::atomic<bool>&) {
    return inspected(*graph, options);
  }));
}

/// A Report, or the path of one that the command line wrote.
sim::RunSide side(nb::handle given) {
  if (nb::isinstance<ReportObject>(given))
    return run_side(*nb::cast<const ReportObject&>(given).report);
  if (!is_path(given)) throw nb::type_error("compare takes Reports, or paths of their JSON");
  return unwrap(sim::read_report(path_of(given)));
}

Document compare(nb::handle a, nb::handle b) {
  const sim::Comparison comparison = sim::compare_runs(side(a), side(b));
  return {to_json(std::vector<sim::Comparison>{comparison}),
          to_text(comparison, {.width = kWidth, .unicode = true})};
}

Document advise(nb::handle model, nb::handle machine, const nb::kwargs& options) {
  const sim::CostingOptions wanted =
      costing_options(options, sim::kLoadKeywords | sim::kMappingRows);
  const Model read = model_of(model, wanted.elaborate);
  const hw::HwConfig hw = machine_of(machine);
  return unwrap(compute([graph = read.graph, hw, map = wanted.map](const std::atomic<bool>&) {
    Result<sim::Workload> workload = sim::Workload::prepare(*graph);
    if (!workload) return Result<Document>(workload.errors());
    const Result<sim::Advice> advice = sim::advise(*workload, hw, map);
    if (!advice) return Result<Document>(advice.errors());
    return Result<Document>(
        Document(to_json(*advice), to_text(*advice, {.width = kWidth, .unicode = true})));
  }));
}

Document diff(nb::handle a, nb::handle b, double atol, double rtol) {
  const Result<sim::DiffReport> report =
      compute([a = path_of(a), b = path_of(b), atol, rtol](const std::atomic<bool>&) {
        return sim::diff_dumps(a, b, {atol, rtol});
      });
  const sim::DiffReport found = unwrap(report);
  return {to_json(found), to_text(found, kWidth)};
}

/// What a command line of the program has for the options of a costing.
std::vector<std::string> words_of(const nb::kwargs& options) {
  const sim::CostingOptions wanted = costing_options(options, sim::kCostKeywords);
  std::vector<std::string> out;
  for (const sim::CostingOption& option : sim::costing_options())
    for (const std::string& word : option_words(option, wanted)) {
      out.push_back(option.option);
      if (!option.is_flag()) out.push_back(word);
    }
  return out;
}

}  // namespace

void add_documents(nb::module_& module) {
  module.def("_inspect", inspect, nb::arg("model"), nb::arg("macs"), nb::arg("traffic"),
             nb::arg("in_place"), nb::arg("reorder"));
  module.def("_compare", compare, nb::arg("a"), nb::arg("b"),
             nb::sig("def _compare(a: object, b: object) -> tuple[str, str]"));
  module.def("_advise", advise, nb::arg("model"), nb::arg("hw"), nb::arg("options"),
             nb::sig("def _advise(model: object, hw: object, **options: typing.Any) -> "
                     "tuple[str, str]"));
  module.def("_option_words", words_of, nb::arg("options"),
             nb::sig("def _option_words(**options: typing.Any) -> list[str]"));
  module.def("_diff", diff, nb::arg("a"), nb::arg("b"), nb::arg("atol"), nb::arg("rtol"),
             nb::sig("def _diff(a: object, b: object, atol: float, rtol: float) -> "
                     "tuple[str, str]"));
}

}  // namespace accsim::python
