#include "sim/app/cli.h"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <optional>

#include "sim/app/advise_command.h"
#include "sim/app/compare_command.h"
#include "sim/app/console.h"
#include "sim/app/cost_command.h"
#include "sim/app/cut_command.h"
#include "sim/app/diff_command.h"
#include "sim/app/documents_command.h"
#include "sim/app/file_options.h"
#include "sim/app/gemm_command.h"
#include "sim/app/help.h"
#include "sim/app/hw_command.h"
#include "sim/app/inspect_command.h"
#include "sim/app/last_words.h"
#include "sim/app/output.h"
#include "sim/app/parser.h"
#include "sim/app/paths.h"
#include "sim/app/program_command.h"
#include "sim/app/run_command.h"
#include "sim/app/serve_command.h"
#include "sim/app/shapes_command.h"
#include "sim/app/shell_line.h"
#include "sim/app/suggest.h"
#include "sim/app/sweep_command.h"
#include "sim/app/tile_command.h"
#include "sim/app/validate_command.h"
#include "sim/app/vectors_command.h"
#include "sim/app/verify_command.h"
#include "sim/cost/cost_model_version.h"

namespace accsim::sim {

int report_errors(const Errors& errors) {
  for (const Error& e : errors) print_err(fmt::format("accsim: error: {}\n", e.text()));
  return kExitBadInput;
}

namespace {

/// Every command with its options.
struct Commands {
  std::string command, version;  ///< as pages quote them
  CostCommand cost;
  HwCommand hw;
  ShapesCommand shapes;
  VerifyCommand verify;
  ProgramCommand programs;
  VectorsCommand vectors;
  RunCommand run;
  DiffCommand diff;
  InspectCommand inspect;
  TileCommand tile;
  CutCommand cut;
  GemmModelCommand gemm;
  SweepCommand sweep;
  CompareCommand compare;
  AdviseCommand advise;
  ValidateCommand validate;
  ServeCommand serve;
  DocumentsCommand documents;
  Console console;

  void add_to(Command& program) {
    cost.add_to(program);
    hw.add_to(program);
    shapes.add_to(program);
    verify.add_to(program);
    programs.add_to(program);
    vectors.add_to(program);
    run.add_to(program);
    diff.add_to(program);
    inspect.add_to(program);
    tile.add_to(program);
    cut.add_to(program);
    gemm.add_to(program);
    sweep.add_to(program);
    compare.add_to(program);
    advise.add_to(program);
    validate.add_to(program);
    serve.add_to(program);
    documents.add_to(program);
    console.add_to(program);
  }

  /// Runs the one that was chosen; nothing when none was.
  std::optional<int> run_chosen(const Command& program) const {
    if (hw.is_chosen()) return hw.run();
    if (documents.is_chosen()) return documents.run(program, version);
    if (shapes.is_chosen()) return shapes.run(console);
    if (verify.is_chosen()) return verify.run(console);
    if (programs.is_chosen()) return programs.run(console);
    if (vectors.is_chosen()) return vectors.run(console, version);
    if (run.is_chosen()) return run.run(console);
    if (diff.is_chosen()) return diff.run();
    if (inspect.is_chosen()) return inspect.run(console);
    if (tile.is_chosen()) return tile.run();
    if (cut.is_chosen()) return cut.run();
    if (gemm.is_chosen()) return gemm.run();
    if (sweep.is_chosen()) return sweep.run(version, console);
    if (compare.is_chosen()) return compare.run(console, command, version);
    if (advise.is_chosen()) return advise.run(console);
    if (validate.is_chosen()) return validate.run(console, version);
    if (serve.is_chosen()) return serve.run(version);
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
  hold_standard_streams();
  leave_last_words();
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error like a full disk
  std::signal(SIGCHLD, SIG_DFL);  // who ignores it doesn't learn how its children ended
  Commands commands;
  commands.command = shell_line(argc, argv);
  commands.version = fmt::format("accsim {} (cost model {})", ACCSIM_VERSION, kCostModelVersion);
  Command program("accsim", kAbout);
  program.version =
      fmt::format("{}\nbuilt by {} with {}", commands.version, ACCSIM_COMPILER, ACCSIM_LIBRARIES);
  program.add(
      {{.name = "--version", .to = {}, .about = "Display program version information and exit"}});
  program.footer =
      "Exit codes: 0 done, 1 a difference or an interruption, 2 input that can't be used, 3 too "
      "little memory, too few threads or no tools, 70 a bug. Reasons are on stderr.";
  commands.add_to(program);
  const ParseOutcome parsed =
      parse_command_line(program, {argv + std::min(argc, 1), argv + argc},
                         [](const std::string& given) { return find_machine(given); });
  if (parsed.wants_help) return print_out(help_text(program.innermost_command()));
  if (parsed.wants_version) return print_out(program.version + "\n");
  if (!parsed.is_good()) return report_errors({usage_error(program, parsed)});
  if (const Status good = check_misspelt_files(program); !good) return report_errors(good.errors());
  if (const Status good = check_file_options(program); !good) return report_errors(good.errors());
  if (const std::optional<int> code = commands.run_chosen(program)) return *code;
  if (argc <= 1)
    return print_wrapped(std::string(kAbout) + "\naccsim --help says more.\n"), kExitBadInput;
  return commands.cost.run(commands.console, commands.command, commands.version);
}

}  // namespace accsim::sim
