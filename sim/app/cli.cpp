#include "sim/app/cli.h"

#include <fmt/format.h>
#include <unistd.h>

#include <functional>

#include "hw/config/load.h"
#include "hw/cosim/verilated_core.h"
#include "sim/app/diff_command.h"
#include "sim/app/dram_command.h"
#include "sim/app/file_options.h"
#include "sim/app/gemm_command.h"
#include "sim/app/inspect_command.h"
#include "sim/app/options.h"
#include "sim/app/options_table.h"
#include "sim/app/output.h"
#include "sim/app/run_command.h"
#include "sim/app/sweep_command.h"
#include "sim/app/tile_command.h"
#include "sim/app/verify_command.h"
#include "sim/flow/cost.h"
#include "sim/flow/cost_model_version.h"
#include "sim/report/csv.h"
#include "sim/report/json.h"
#include "sim/report/operators.h"
#include "sim/report/shapes.h"
#include "sim/report/text.h"

namespace accsim::sim {

int report_errors(const Errors& errors) {
  for (const Error& e : errors) fmt::print(stderr, "accsim: error: {}\n", e.text());
  return kExitBadInput;
}

namespace {

// ---- accsim --hw H model.onnx -------------------------------------------------------------------

struct CostCommand {
  ModelOptions model;
  MappingOptions mapping;
  std::string hw, json, csv, dump, color = "auto";
  bool all = false, quiet = false;

  void add_to(CLI::App& app) {
    app.add_option("--hw", hw, "Machine description (YAML), e.g. configs/64x64.yaml")
        ->type_name(kReadFile);
    model.add_to(app, false);
    app.add_option("--json", json, "Write the report as JSON (accsim.report/1); - for stdout")
        ->type_name(kWrittenFile);
    app.add_option("--csv", csv, "Write the layers as CSV; - for stdout")->type_name(kWrittenFile);
    app.add_option("--dump-program", dump,
                   "Print the tile programs of the layers whose name matches, and no report")
        ->type_name("GLOB");
    mapping.add_to(app);
    app.add_flag("--all", all, "Show layers that cost nothing too");
    app.add_flag("-q,--quiet", quiet, "No table");
    app.add_option("--color", color, "Colours in the table: auto, always, never")
        ->check(CLI::IsMember({"auto", "always", "never"}));
  }

  int run() const {
    Errors errors;
    const auto collect = [&](const auto& result) {
      if (!result) errors.insert(errors.end(), result.errors().begin(), result.errors().end());
    };
    if (hw.empty())
      errors.push_back({Errc::usage, "name a machine, e.g. --hw configs/64x64.yaml", "--hw"});
    if (model.model().empty())
      errors.push_back({Errc::usage, "name an ONNX model file (see accsim --help)", "model"});
    const auto elaborate_options = model.elaborate();
    const auto map_options = mapping.parse();
    collect(elaborate_options);
    collect(map_options);
    if (!errors.empty()) return report_errors(errors);

    const Result<hw::HwConfig> machine = hw::load_hw(hw);
    const Result<Graph> graph = load_graph(model.model(), *elaborate_options);
    collect(machine);
    collect(graph);
    if (!errors.empty()) return report_errors(errors);
    const Result<CostedNetwork> costed = cost_network(*graph, *machine, *map_options);
    if (!costed) return report_errors(costed.errors());
    return print(*costed);
  }

  int print(const CostedNetwork& costed) const {
    if (!dump.empty()) {
      const Result<std::string> text = dump_programs(costed, dump);
      return text ? print_out(*text) : report_errors(text.errors());
    }
    if (!json.empty())
      if (const int code = write_result(json, to_json(costed.report)); code != kExitOk) return code;
    if (!csv.empty())
      if (const int code = write_result(csv, to_csv(costed.report)); code != kExitOk) return code;
    if (quiet || json == "-" || csv == "-") return kExitOk;
    const bool colour = color == "always" || (color == "auto" && isatty(STDOUT_FILENO));
    return print_out(
        to_text(costed.report, {.width = terminal_width(), .colour = colour, .all_layers = all}));
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
      sub->add_option("file", file, "Machine description (YAML)")->type_name(kReadFile)->required();
    check->callback([this] {
      chosen = [this] {
        const auto machine = hw::load_hw(file);
        if (!machine) return report_errors(machine.errors());
        return print_out(fmt::format("{}: good ({}, {}x{})\n", file, machine->name,
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
      const auto parameters = hw::core_parameters(*machine, d);
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
    sub->add_option("--json", json, "Write them as JSON {tensor: [dtype, dims]}; - for stdout")
        ->type_name(kWrittenFile);
  }

  int run() const {
    const auto options = model.elaborate();
    if (!options) return report_errors(options.errors());
    const Result<Graph> graph = load_graph(model.model(), *options);
    if (!graph) return report_errors(graph.errors());
    if (!json.empty()) return write_result(json, shapes_json(*graph));
    return print_out(shapes_text(*graph));
  }
};

}  // namespace

int run_cli(int argc, char** argv) {
  CLI::App app{
      "accsim: what a neural network costs on a systolic-array accelerator.\n\n"
      "  accsim --hw configs/64x64.yaml model.onnx\n"};
  app.name("accsim");
  const std::string version =
      fmt::format("accsim {} (cost model {})", ACCSIM_VERSION, kCostModelVersion);
  app.set_version_flag("--version", version);
  app.require_subcommand(0, 1);
  app.footer(
      "Exit codes: 0 done, 1 a difference or an interruption, 2 input that can't be used, 3 too "
      "little memory or too few threads (reasons on stderr).");
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
  cost.add_to(app);
  CLI::App* ops = app.add_subcommand("ops", "Print the table of operators as Markdown");
  CLI::App* options =
      app.add_subcommand("options", "Print the commands and their options as Markdown");
  hw.add_to(app);
  shapes.add_to(app);
  verify.add_to(app);
  run.add_to(app);
  diff.add_to(app);
  inspect.add_to(app);
  tile.add_to(app);
  gemm.add_to(app);
  sweep.add_to(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return app.exit(e);  // --help and --version
    return report_errors({{Errc::usage, std::string(e.what()) + " (see --help)", ""}});
  }
  if (const Status good = check_file_options(app); !good) return report_errors(good.errors());
  if (hw.chosen) return hw.chosen();
  if (ops->parsed()) return print_out(operators_markdown());
  if (options->parsed()) return print_out(options_markdown(app));
  if (shapes.sub->parsed()) return shapes.run();
  if (verify.chosen()) return verify.run();
  if (run.chosen()) return run.run();
  if (diff.chosen()) return diff.run();
  if (inspect.chosen()) return inspect.run();
  if (tile.chosen()) return tile.run();
  if (gemm.chosen()) return gemm.run();
  if (sweep.chosen()) return sweep.run(version);
  if (argc <= 1) return print_out(app.help()), kExitBadInput;
  return cost.run();
}

}  // namespace accsim::sim
