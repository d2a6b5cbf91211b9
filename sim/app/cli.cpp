#include "sim/app/cli.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <functional>
#include <optional>
#include <sstream>
#include <thread>

#include "hw/config/load.h"
#include "hw/cosim/verilated_core.h"
#include "sim/app/advise_command.h"
#include "sim/app/annotate_options.h"
#include "sim/app/compare_command.h"
#include "sim/app/console.h"
#include "sim/app/diff_command.h"
#include "sim/app/documents_command.h"
#include "sim/app/dram_command.h"
#include "sim/app/file_options.h"
#include "sim/app/gemm_command.h"
#include "sim/app/help.h"
#include "sim/app/inspect_command.h"
#include "sim/app/journal.h"
#include "sim/app/last_words.h"
#include "sim/app/options.h"
#include "sim/app/output.h"
#include "sim/app/run_command.h"
#include "sim/app/serve_command.h"
#include "sim/app/shell_line.h"
#include "sim/app/suggest.h"
#include "sim/app/sweep_command.h"
#include "sim/app/tile_command.h"
#include "sim/app/trace_options.h"
#include "sim/app/validate_command.h"
#include "sim/app/verify_command.h"
#include "sim/flow/cost.h"
#include "sim/flow/cost_model_version.h"
#include "sim/flow/timeline.h"
#include "sim/report/csv.h"
#include "sim/report/format.h"
#include "sim/report/html.h"
#include "sim/report/json.h"
#include "sim/report/roll_up.h"
#include "sim/report/shapes.h"
#include "sim/report/text.h"

namespace accsim::sim {

int report_errors(const Errors& errors) {
  for (const Error& e : errors) print_err(fmt::format("accsim: error: {}\n", e.text()));
  return kExitBadInput;
}

namespace {

// ---- accsim --hw H model.onnx -------------------------------------------------------------------

struct CostCommand {
  ModelOptions model;
  MappingOptions mapping;
  TraceOptions trace;
  AnnotateOptions annotate;
  std::string hw, json, csv, html, dump, by;
  std::string command, version;  ///< as the page quotes them
  bool all = false, quiet = false;

  void add_to(CLI::App& app) {
    app.add_option("--hw", hw,
                   "Machine: a description (YAML) or the name of a shipped one, e.g. 64x64")
        ->type_name(kMachine);
    model.add_to(app, false);
    model.add_cut_to(app);
    model.add_torch_to(app);
    model.add_attention_to(app);
    model.add_programs_to(app);
    app.option_defaults()->group("Output");
    app.add_option("--json", json, "Write the report as JSON (accsim.report/1); - for stdout")
        ->type_name(kWrittenFile);
    app.add_option("--csv", csv, "Write the layers as CSV; - for stdout")->type_name(kWrittenFile);
    app.add_option("--html", html,
                   "Write the report as a page that needs no network: one file; - for stdout")
        ->type_name(kWrittenFile);
    trace.add_to(app);
    annotate.add_to(app);
    app.add_option("--dump-program", dump,
                   "Print the tile programs of the layers whose name matches, and no report")
        ->type_name("GLOB");
    mapping.add_to(app);
    app.add_option("--by", by,
                   "Roll the layers up: by module, module:DEPTH (so many parts of its path), op or "
                   "fate; in the table, JSON (beside the layers) and CSV (instead of them)")
        ->type_name("GROUPING");
    app.add_flag("--all", all, "Show layers that cost nothing too");
    app.add_flag("-q,--quiet", quiet, "No table");
    app.option_defaults()->group("Options");
  }

  int run(const Console& console) const {
    Journal journal(console.verbose());
    Errors errors;
    const auto collect = [&](const auto& result) {
      if (!result) errors.insert(errors.end(), result.errors().begin(), result.errors().end());
    };
    if (hw.empty()) errors.push_back({Errc::usage, "name a machine, e.g. --hw 64x64", "--hw"});
    if (model.model().empty())
      errors.push_back({Errc::usage, "name an ONNX model file (see accsim --help)", "model"});
    const auto elaborate_options = model.elaborate();
    auto map_options = mapping.parse();
    collect(elaborate_options);
    collect(map_options);
    if (!dump.empty() && (!json.empty() || !csv.empty() || !html.empty() || trace.wanted() ||
                          annotate.wanted() || !by.empty() || all))
      errors.push_back({Errc::usage,
                        "prints programs and no report: ask for --json, --csv, --html, --trace, "
                        "--annotate, --by and --all in a run of their own",
                        "--dump-program"});
    const std::optional<Grouping> grouping = grouping_from(by);
    if (!by.empty() && !grouping)
      errors.push_back({Errc::usage,
                        fmt::format("'{}' is not module, module:DEPTH with a depth of 1 or more, "
                                    "op or fate",
                                    by),
                        "--by"});
    if (!errors.empty()) return report_errors(errors);

    journal.reads("machine", hw);
    journal.reads("model", model.model());
    const Result<hw::HwConfig> machine = hw::load_hw(hw);
    journal.step("machine read and checked");
    const Result<Graph> graph = model.load(*elaborate_options);
    journal.step("model read, its shapes inferred");
    collect(machine);
    collect(graph);
    if (!errors.empty()) return report_errors(errors);
    map_options->threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
    Result<CostedNetwork> costed =
        cost_network(*graph, *machine, *map_options, elaborate_options->limits.programs);
    if (!costed) return report_errors(costed.errors());
    if (Status s = check_pins(*costed, *map_options); !s) return report_errors(s.errors());
    journal.step("lowered, mapped and timed");
    if (grouping) roll_up(*grouping, costed->report);
    note_mapping(costed->report, journal);
    const int code = print(*costed, console);
    journal.step("printed");
    return code;
  }

  static void note_mapping(const Report& report, const Journal& journal) {
    int64_t programs = 0;
    for (const LayerReport& layer : report.layers) programs += layer.costs.alone_cycles > 0 ? 1 : 0;
    journal.note(
        fmt::format("{} layers take time; {} distinct programs were searched, equal layers "
                    "share one",
                    format_count(programs), format_count(report.distinct_ops)));
    journal.note(fmt::format("{} tilings bounded, {} timed", format_count(report.candidates),
                             format_count(report.evaluated)));
  }

  int print(const CostedNetwork& costed, const Console& console) const {
    if (!dump.empty()) {
      const Result<std::string> text = dump_programs(costed, dump);
      return text ? print_wrapped(*text) : report_errors(text.errors());
    }
    if (const int code = annotate.write(model, costed.report, command); code != kExitOk)
      return code;
    if (!json.empty())
      if (const int code = write_result(json, to_json(costed.report)); code != kExitOk) return code;
    if (!csv.empty())
      if (const int code = write_result(csv, to_csv(costed.report)); code != kExitOk) return code;
    if (!html.empty())
      if (const int code = write_result(html, page(costed)); code != kExitOk) return code;
    if (const int code = trace.write(costed); code != kExitOk) return code;
    if (quiet || json == "-" || csv == "-" || html == "-") return kExitOk;
    if (trace.to_stdout() || annotate.to_stdout()) return kExitOk;
    return print_out(to_text(costed.report, {.width = static_cast<int>(Console::width()),
                                             .colour = console.colour(),
                                             .all_layers = all || console.verbose(),
                                             .unicode = Console::unicode()}));
  }

  std::string page(const CostedNetwork& costed) const {
    const Report& report = costed.report;
    HtmlContext context;
    context.timeline = to_timeline_json(costed);
    context.command = command;
    context.version = version;
    context.machine = print_hw(report.hw);
    if (const Status core = hw::has_core(report.hw); !core)
      context.core_reason = core.errors().front().message;
    return to_html(report, context);
  }
};

// ---- accsim hw ... ------------------------------------------------------------------------------

struct HwCommand {
  std::string file;
  std::function<int()> chosen;
  HwDramCommand dram;

  void add_to(CLI::App& app) {
    CLI::App* hw = app.add_subcommand("hw", "Check, print and document machine descriptions");
    hw->require_subcommand(1);
    CLI::App* check = hw->add_subcommand("check", "Report everything that is wrong with a file");
    CLI::App* print = hw->add_subcommand("print", "Print the effective machine as commented YAML");
    CLI::App* schema = hw->add_subcommand("schema", "Print a JSON Schema for editors");
    CLI::App* fields = hw->add_subcommand("fields", "Print the table of all fields as Markdown");
    CLI::App* rtl = hw->add_subcommand(
        "rtl", "Print the parameters of rtl/accsim_core.sv for a machine, a line for each array");
    for (CLI::App* sub : {check, print, rtl})
      sub->add_option("file", file, "Machine description (YAML) or the name of a shipped machine")
          ->type_name(kMachine)
          ->required();
    check->callback([this] {
      chosen = [this] {
        const auto machine = hw::load_hw(file);
        if (!machine) return report_errors(machine.errors());
        return print_wrapped(fmt::format("{}: good ({}, {}x{})\n", file, machine->name,
                                         machine->array.rows, machine->array.cols));
      };
    });
    print->callback([this] {
      chosen = [this] {
        const auto machine = hw::load_hw(file);
        return machine ? print_out(hw::print_hw(*machine)) : report_errors(machine.errors());
      };
    });
    rtl->callback([this] { chosen = [this] { return print_rtl(); }; });
    dram.add_to(*hw, chosen);
    schema->callback([this] { chosen = [] { return print_out(hw::hw_schema()); }; });
    fields->callback([this] { chosen = [] { return print_out(hw::fields_markdown()); }; });
  }

  /// Weight and input stationary are one core, output stationary is another.
  int print_rtl() const {
    const auto machine = hw::load_hw(file);
    if (!machine) return report_errors(machine.errors());
    std::string text;
    for (const hw::Dataflow d :
         {hw::Dataflow::weight_stationary, hw::Dataflow::output_stationary}) {
      const auto parameters = hw::rtl_parameters(*machine, d);
      if (!parameters) return report_errors(parameters.errors());
      text += fmt::format("{}\n", fmt::join(*parameters, " "));
    }
    return print_out(text);
  }
};

// ---- accsim shapes ------------------------------------------------------------------------------

struct ShapesCommand {
  ModelOptions model;
  std::string json;
  CLI::App* sub = nullptr;

  void add_to(CLI::App& app) {
    sub = app.add_subcommand("shapes", "Print element type and shape of every node output");
    model.add_to(*sub, true);
    model.add_cut_to(*sub);
    model.add_torch_to(*sub);
    sub->add_option("--json", json, "Write them as JSON {tensor: [dtype, dims]}; - for stdout")
        ->type_name(kWrittenFile);
  }

  int run(const Console& console) const {
    Journal journal(console.verbose());
    auto options = model.elaborate();
    if (!options) return report_errors(options.errors());
    options->as_written = true;
    journal.reads("model", model.model());
    const Result<Graph> graph = model.load(*options);
    if (!graph) return report_errors(graph.errors());
    if (!json.empty()) return write_result(json, shapes_json(*graph));
    journal.step("model read, its shapes inferred");
    return print_out(shapes_text(*graph, Console::width()));
  }
};

/// Every command with its options.
struct Commands {
  CostCommand cost;
  HwCommand hw;
  ShapesCommand shapes;
  VerifyCommand verify;
  RunCommand run;
  DiffCommand diff;
  InspectCommand inspect;
  TileCommand tile;
  GemmModelCommand gemm;
  SweepCommand sweep;
  CompareCommand compare;
  AdviseCommand advise;
  ValidateCommand validate;
  ServeCommand serve;
  DocumentsCommand documents;
  Console console;

  void add_to(CLI::App& app) {
    cost.add_to(app);
    hw.add_to(app);
    shapes.add_to(app);
    verify.add_to(app);
    run.add_to(app);
    diff.add_to(app);
    inspect.add_to(app);
    tile.add_to(app);
    gemm.add_to(app);
    sweep.add_to(app);
    compare.add_to(app);
    advise.add_to(app);
    validate.add_to(app);
    serve.add_to(app);
    documents.add_to(app);
    console.add_to(app);
  }

  /// Runs the one that was chosen; nothing when none was.
  std::optional<int> run_chosen(const CLI::App& app) const {
    if (hw.chosen) return hw.chosen();
    if (documents.chosen()) return documents.run(app, cost.version);
    if (shapes.sub->parsed()) return shapes.run(console);
    if (verify.chosen()) return verify.run(console);
    if (run.chosen()) return run.run(console);
    if (diff.chosen()) return diff.run();
    if (inspect.chosen()) return inspect.run(console);
    if (tile.chosen()) return tile.run();
    if (gemm.chosen()) return gemm.run();
    if (sweep.chosen()) return sweep.run(cost.version, console);
    if (compare.chosen()) return compare.run(console, cost.command, cost.version);
    if (advise.chosen()) return advise.run(console);
    if (validate.chosen()) return validate.run(console, cost.version);
    if (serve.chosen()) return serve.run(cost.version);
    return std::nullopt;
  }
};

/// What `accsim` without a word says, and the head of its help.
constexpr const char* kAbout =
    "accsim: what a neural network costs on a systolic-array accelerator.\n\n"
    "  accsim --hw 64x64 model.onnx           cycles, bytes and energy by layer\n"
    "  accsim inspect model.onnx              parameters, MACs and memory\n"
    "  accsim sweep configs/sweeps/edge.yaml  a whole design space\n";

}  // namespace

int run_cli(int argc, char** argv) {
  leave_last_words();
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error like a full disk
  std::signal(SIGCHLD, SIG_DFL);  // who ignores it doesn't learn how its children ended
  CLI::App app{kAbout};
  app.formatter(std::make_shared<HelpFormatter>());
  app.name("accsim");
  const std::string version =
      fmt::format("accsim {} (cost model {})", ACCSIM_VERSION, kCostModelVersion);
  app.set_version_flag("--version", fmt::format("{}\nbuilt by {} with {}", version, ACCSIM_COMPILER,
                                                ACCSIM_LIBRARIES));
  app.require_subcommand(0, 1);
  app.footer(
      "Exit codes: 0 done, 1 a difference or an interruption, 2 input that can't be used, 3 too "
      "little memory, too few threads or no tools, 70 a bug (reasons on stderr).");
  Commands commands;
  commands.cost.command = shell_line(argc, argv);
  commands.cost.version = version;
  commands.add_to(app);
  accept_machine_names(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) {  // --help and --version
      std::ostringstream text;
      app.exit(e, text, text);
      return print_out(text.str());
    }
    return report_errors({usage_error(app, e)});
  }
  if (const Status good = check_misspelt_files(app); !good) return report_errors(good.errors());
  if (const Status good = check_file_options(app); !good) return report_errors(good.errors());
  if (const std::optional<int> code = commands.run_chosen(app)) return *code;
  if (argc <= 1)
    return print_wrapped(std::string(kAbout) + "\naccsim --help says more.\n"), kExitBadInput;
  return commands.cost.run(commands.console);
}

}  // namespace accsim::sim
