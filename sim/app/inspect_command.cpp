#include "sim/app/inspect_command.h"

#include <fmt/format.h>

#include "sim/app/cli.h"
#include "sim/app/journal.h"
#include "sim/app/output.h"
#include "sim/cost/cost.h"
#include "sim/lower/lower_each.h"
#include "sim/report/inspect.h"

namespace accsim::sim {

namespace {

constexpr const char* kInspectFooter =
    "Sizes are in bytes of the file's element types. The forward pass counts each output of each "
    "node that runs once. Forward and backward count the outputs of nodes with parameters twice, "
    "for value and gradient. torchinfo counts its leaf modules with parameters so.";

}  // namespace

void InspectCommand::add_to(Command& program) {
  sub_ = &program.add_command(
      "inspect",
      "Print a network's parameters, MACs, operators, bandwidth and activation memory, without a "
      "machine");
  sub_->footer = kInspectFooter;
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
            "pure: count multiply-accumulates of Conv, Gemm, MatMul and other products. bias: also "
            "count 1 per output with a bias. all: also count 2 per element of a normalisation, 1 "
            "per input element of a pooling, and 1 per element of activations and elementwise "
            "nodes",
        .choices = {"pure", "bias", "all"},
        .shows_default = true},
       {.name = "--traffic",
        .to = &traffic_,
        .about =
            "Tensors that count as read: activations, or all, with weights and other constants",
        .choices = {"activations", "all"},
        .shows_default = true},
       {.name = "--sort",
        .to = &sort_,
        .about =
            "Order of layers in the table and the CSV: order (as in the file), or bandwidth, macs "
            "or params, the largest first",
        .choices = {"order", "bandwidth", "macs", "params"},
        .shows_default = true},
       {.name = "--by",
        .to = &by_,
        .about =
            "Sum parameters, MACs and bytes of activations up by module, module:DEPTH (the first "
            "DEPTH parts of its path) or op. The table and the CSV then have groups instead of "
            "layers, the JSON has both",
        .metavar = "GROUPING"},
       {.name = "--in-place",
        .to = &in_place_,
        .about =
            "Let elementwise nodes overwrite inputs that no other node reads. Views always share "
            "the memory of their input"},
       {.name = "--reorder",
        .to = &reorder_,
        .about = "Also search for an order of the nodes that needs less activation memory"},
       {.name = "--arena",
        .to = &arena_,
        .about = "Print the arena plan: offset and lifetime of every tensor"},
       {.name = "--all", .to = &all_, .about = "Show nodes that are computed off line, too"},
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
