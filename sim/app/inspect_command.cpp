#include "sim/app/inspect_command.h"

#include <fmt/format.h>

#include "sim/app/cli.h"
#include "sim/app/journal.h"
#include "sim/app/output.h"
#include "sim/cost/cost.h"
#include "sim/lower/lower_each.h"
#include "sim/report/inspect.h"

namespace accsim::sim {

void InspectCommand::add_to(Command& program) {
  sub_ = &program.add_command("inspect",
                              "Parameters, MACs, operators, bandwidth and activation memory of a "
                              "network, before a machine is known");
  sub_->footer =
      "Sizes are in bytes of the file's element types. Forward pass: the outputs of all nodes that "
      "run, once each. And backward: twice the outputs of nodes with parameters, as torchinfo has "
      "it, which takes leaf modules with parameters, and a value and a gradient for each output.";
  model_.add_to(*sub_, true);
  model_.add_cut_to(*sub_);
  model_.add_torch_to(*sub_);
  sub_->add(
      {{.name = "--json",
        .to = &json_,
        .about = "Write everything as JSON (accsim.inspect/1); - for stdout",
        .kind = ValueKind::written_file},
       {.name = "--csv",
        .to = &csv_,
        .about = "Write the layers, or what --by makes of them, as CSV; - for stdout",
        .kind = ValueKind::written_file},
       {.name = "--macs",
        .to = &macs_,
        .about =
            "pure: multiply-accumulates of Conv, Gemm, MatMul and other products; bias: and 1 "
            "per output where there is a bias; all: and 2 per element of normalisations, 1 per "
            "input element of poolings, 1 per element of activations and elementwise nodes",
        .choices = {"pure", "bias", "all"},
        .shows_default = true},
       {.name = "--traffic",
        .to = &traffic_,
        .about = "What reads are: activations, or all, weights and other constants too",
        .choices = {"activations", "all"},
        .shows_default = true},
       {.name = "--sort",
        .to = &sort_,
        .about = "Layers in the table and the CSV by: order, bandwidth, macs or params (the "
                 "largest first)",
        .choices = {"order", "bandwidth", "macs", "params"},
        .shows_default = true},
       {.name = "--by",
        .to = &by_,
        .about = "Roll the nodes up: by module, module:DEPTH (so many parts of its path) or op; "
                 "parameters, MACs and bytes of activations in the table and the CSV instead of "
                 "the layers, in the JSON beside them",
        .metavar = "GROUPING"},
       {.name = "--in-place",
        .to = &in_place_,
        .about = "Elementwise nodes overwrite inputs that nobody else reads; views always share "
                 "their input's memory"},
       {.name = "--reorder",
        .to = &reorder_,
        .about = "Also look for an order of the nodes that needs less activation memory"},
       {.name = "--arena",
        .to = &arena_,
        .about = "Print the arena plan: offset and life of every tensor"},
       {.name = "--all", .to = &all_, .about = "Show nodes that are computed off line too"},
       {.name = "-q,--quiet", .to = &quiet_, .about = "No text"}});
}

int InspectCommand::run(const Console& console) const {
  Journal journal(console.is_verbose());
  auto options = model_.to_elaborate_options();
  const std::optional<Grouping> by = grouping_from(by_);
  Errors errors = options ? Errors{} : options.errors();
  if (!by_.empty() && (!by || by->by == Grouping::By::fate))
    errors.push_back(
        {Errc::usage,
         fmt::format("'{}' is not module, module:DEPTH with a depth of 1 or more, or op", by_),
         "--by"});
  if (!errors.empty()) return report_errors(errors);
  options->as_written = true;
  journal.note_read("model", model_.model_path());
  const Result<Graph> graph = model_.load_model(*options);
  if (!graph) return report_errors(graph.errors());
  journal.note_step("model read, its shapes inferred");
  const Result<Lowered> lowered = lower_each(*graph);
  if (!lowered) return report_errors(lowered.errors());
  AnalyseOptions wanted;
  wanted.macs = macs_ == "all"    ? MacConvention::all
                : macs_ == "bias" ? MacConvention::bias
                                  : MacConvention::pure;
  wanted.reads = traffic_ == "all" ? ReadConvention::all : ReadConvention::activations;
  wanted.in_place = in_place_;
  wanted.reorder = reorder_;
  const Result<Analysis> analysis = analyse(*graph, *lowered, wanted);
  if (!analysis) return report_errors(analysis.errors());
  journal.note_step("analysed");

  const Inspection inspection{*graph, *lowered, *analysis, by};
  const LayerSort sort = sort_ == "bandwidth" ? LayerSort::bandwidth
                         : sort_ == "macs"    ? LayerSort::macs
                         : sort_ == "params"  ? LayerSort::params
                                              : LayerSort::order;
  if (!json_.empty())
    if (const int code = write_result(json_, inspect_json(inspection)); code != kExitOk)
      return code;
  if (!csv_.empty())
    if (const int code = write_result(csv_, inspect_csv(inspection, sort)); code != kExitOk)
      return code;
  if (quiet_ || json_ == "-" || csv_ == "-") return kExitOk;
  return print_out(inspect_text(inspection, {.width = static_cast<int>(Console::width()),
                                             .sort = sort,
                                             .all_nodes = all_ || console.is_verbose(),
                                             .arena = arena_}));
}

}  // namespace accsim::sim
