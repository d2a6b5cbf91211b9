#include "sim/app/cost_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <thread>

#include "hw/config/load.h"
#include "sim/app/cli.h"
#include "sim/app/journal.h"
#include "sim/app/output.h"
#include "sim/app/paths.h"
#include "sim/cost/timeline.h"
#include "sim/report/csv.h"
#include "sim/report/format.h"
#include "sim/report/html.h"
#include "sim/report/json.h"
#include "sim/report/roll_up.h"
#include "sim/report/text.h"

namespace accsim::sim {
namespace {

void note_mapping(const Report& report, const Journal& journal) {
  int64_t programs = 0;
  for (const LayerReport& layer : report.layers) programs += layer.costs.alone_cycles > 0 ? 1 : 0;
  journal.note_text(fmt::format(
      "{} layers take time; {} distinct programs were searched, and equal layers share one",
      format_count(programs), format_count(report.distinct_ops)));
  journal.note_text(fmt::format("{} tilings bounded, {} timed", format_count(report.candidates),
                                format_count(report.evaluated)));
}

}  // namespace

void CostCommand::add_to(Command& program) {
  program.add({{.name = "--hw",
                .to = &hw_,
                .about = "Machine: a description (YAML) or a name, e.g. 64x64 or tpu-v4",
                .kind = ValueKind::machine}});
  model_.add_to(program, false);
  model_.add_cut_to(program);
  model_.add_torch_to(program);
  model_.add_attention_to(program);
  model_.add_programs_to(program);
  add_output_to(program);
  mapping_.add_to(program);
  add_table_to(program);
}

void CostCommand::add_output_to(Command& program) {
  program.add(
      "Output",
      {{.name = "--json",
        .to = &json_,
        .about = "Write the report as JSON (accsim.report/1); - for stdout",
        .kind = ValueKind::written_file},
       {.name = "--csv",
        .to = &csv_,
        .about = "Write the layers as CSV; - for stdout",
        .kind = ValueKind::written_file},
       {.name = "--html",
        .to = &html_,
        .about = "Write the report as a page in one file, which needs no network; - for stdout",
        .kind = ValueKind::written_file}});
  trace_.add_to(program);
  annotate_.add_to(program);
  program.add(
      "Output",
      {{.name = "--dump-program",
        .to = &dump_,
        .about = "Print the tile programs of layers whose name matches, instead of a report",
        .metavar = "GLOB"}});
}

void CostCommand::add_table_to(Command& program) {
  program.add(
      {{.name = "--by",
        .to = &by_,
        .about =
            "Sum the layers up by module, module:DEPTH (the first DEPTH parts of its path), op or "
            "fate. The table and the CSV then have groups instead of layers, the JSON has both",
        .metavar = "GROUPING",
        .offers = {"module", "op", "fate"}},
       {.name = "--all", .to = &all_, .about = "Show layers that cost nothing, too"},
       {.name = "-q,--quiet", .to = &quiet_, .about = "No table"}});
}

void CostCommand::check_options(Errors& errors) const {
  if (hw_.empty()) errors.push_back({Errc::usage, "name a machine, e.g. --hw 64x64", "--hw"});
  if (model_.model_path().empty())
    errors.push_back({Errc::usage, "name an ONNX model file (see accsim --help)", "model"});
  if (!dump_.empty() && (!json_.empty() || !csv_.empty() || !html_.empty() || trace_.is_wanted() ||
                         annotate_.is_wanted() || !by_.empty() || all_))
    errors.push_back({Errc::usage,
                      "prints programs and no report: ask for --json, --csv, --html, --trace, "
                      "--annotate, --by and --all in a run of their own",
                      "--dump-program"});
  if (!by_.empty() && !grouping_from(by_))
    errors.push_back({Errc::usage,
                      fmt::format("'{}' is not module, module:DEPTH with a depth of 1 or more, op "
                                  "or fate",
                                  by_),
                      "--by"});
}

int CostCommand::run(const Console& console, const std::string& command,
                     const std::string& version) const {
  Journal journal(console.is_verbose());
  Errors errors;
  check_options(errors);
  const auto elaborate_options = model_.to_elaborate_options();
  auto map_options = mapping_.to_map_options();
  collect_errors(elaborate_options, errors);
  collect_errors(map_options, errors);
  if (!errors.empty()) return report_errors(errors);

  journal.note_read("machine", hw_);
  journal.note_read("model", model_.model_path());
  const Result<hw::HwConfig> machine = load_machine(hw_);
  journal.note_step("machine read and checked");
  const Result<Graph> graph = model_.load_model(*elaborate_options);
  journal.note_step("model read, its shapes inferred");
  collect_errors(machine, errors);
  collect_errors(graph, errors);
  if (!errors.empty()) return report_errors(errors);
  map_options->threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  Result<CostedNetwork> costed =
      cost_network(*graph, *machine, *map_options, elaborate_options->limits.programs);
  if (!costed) return report_errors(costed.errors());
  if (Status s = check_pins(*costed, *map_options); !s) return report_errors(s.errors());
  journal.note_step("lowered, mapped and timed");
  if (const std::optional<Grouping> grouping = grouping_from(by_))
    roll_up(*grouping, costed->report);
  note_mapping(costed->report, journal);
  const int code = print_outputs(*graph, *costed, console, {command, version});
  journal.note_step("printed");
  return code;
}

int CostCommand::print_outputs(const Graph& graph, const CostedNetwork& costed,
                               const Console& console, const Quoted& quoted) const {
  if (!dump_.empty()) {
    const Result<std::string> text = dump_programs(graph, costed, dump_);
    return text ? print_wrapped(*text) : report_errors(text.errors());
  }
  if (const int code = annotate_.write_annotated(model_, costed.report, quoted.command);
      code != kExitOk)
    return code;
  if (!json_.empty())
    if (const int code = write_result(json_, to_json(costed.report)); code != kExitOk) return code;
  if (!csv_.empty())
    if (const int code = write_result(csv_, to_csv(costed.report)); code != kExitOk) return code;
  if (!html_.empty())
    if (const int code = write_result(html_, report_page(costed, quoted)); code != kExitOk)
      return code;
  if (const int code = trace_.write_timeline(costed); code != kExitOk) return code;
  if (quiet_ || json_ == "-" || csv_ == "-" || html_ == "-") return kExitOk;
  if (trace_.to_stdout() || annotate_.to_stdout()) return kExitOk;
  return print_out(to_text(costed.report, {.width = static_cast<int>(Console::width()),
                                           .colour = console.colour(),
                                           .all_layers = all_ || console.is_verbose(),
                                           .unicode = Console::unicode()}));
}

std::string CostCommand::report_page(const CostedNetwork& costed, const Quoted& quoted) const {
  const Report& report = costed.report;
  HtmlContext context;
  context.timeline = to_timeline_json(costed);
  context.command = quoted.command;
  context.version = quoted.version;
  context.machine = print_hw(report.hw);
  return to_html(report, context);
}

}  // namespace accsim::sim
