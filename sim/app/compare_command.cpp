#include "sim/app/compare_command.h"

#include <fmt/format.h>

#include "sim/app/cli.h"
#include "sim/app/journal.h"
#include "sim/app/output.h"
#include "sim/app/paths.h"
#include "sim/compare/compare_text.h"
#include "sim/compare/read_report.h"
#include "sim/cost/cost.h"
#include "sim/report/format.h"

namespace accsim::sim {
namespace {

/// What each cause means, as the end of the command's help.
std::string causes_text() {
  std::string out =
      "Every cycle of a layer has one cause, so differences add up exactly. Causes:\n";
  for (const CauseInfo& cause : cause_table()) {
    bool first = true;
    for (const std::string& line : wrap_words(cause.definition, 56)) {
      out += fmt::format("  {:<20}{}\n", first ? cause.label : "", line);
      first = false;
    }
  }
  return out + "Exit codes: 0 compared, 2 input that can't be used.";
}

/// Networks and machines that were read, costed as sides.
struct Costing {
  std::vector<hw::HwConfig> machines;
  std::vector<Graph> graphs;
  Limits limits;

  Result<RunSide> cost_side(size_t machine, size_t graph, const MapOptions& options) const {
    const auto costed = cost_network(graphs[graph], machines[machine], options, limits.programs);
    if (!costed) return costed.errors();
    if (Status s = check_pins(*costed, options); !s) return s.errors();
    return run_side(costed->report);
  }
};

}  // namespace

void CompareCommand::add_to(Command& program) {
  sub_ = &program.add_command("compare", "Compare the cycles of two runs, by cause and by layer");
  sub_->footer = causes_text();
  sub_->add(
      {{.name = "input",
        .to = &inputs_,
        .about =
            "Reports that accsim --json wrote; each is compared with the first. With --hw: ONNX "
            "models",
        .kind = ValueKind::read_file,
        .required = true},
       {.name = "--hw",
        .to = &machines_,
        .about =
            "Machine: a description (YAML) or a name, e.g. tpu-v4. With several, each is compared "
            "with the first, model by model. With one, each model is compared with the first",
        .kind = ValueKind::machine}});
  graph_.add_graph_options_to(*sub_);
  graph_.add_attention_to(*sub_);
  graph_.add_programs_to(*sub_);
  mapping_.add_to(*sub_);
  mapping_b_.add_to_side_b(*sub_);
  sub_->add(
      {{.name = "--json",
        .to = &json_,
        .about = "Write the comparisons as JSON (accsim.compare/1); - for stdout",
        .kind = ValueKind::written_file},
       {.name = "--html",
        .to = &html_,
        .about =
            "Write the comparisons as a page in one file, which needs no network; - for stdout",
        .kind = ValueKind::written_file},
       {.name = "--all",
        .to = &all_,
        .about = "Show every layer that differs, not only the ten largest differences"},
       {.name = "-q,--quiet", .to = &quiet_, .about = "No text"}});
}

Result<std::vector<Comparison>> CompareCommand::of_reports() const {
  std::string option = graph_.first_given();
  if (option.empty()) option = mapping_.first_given();
  if (option.empty()) option = mapping_b_.first_given();
  if (!option.empty())
    return Error{Errc::usage,
                 "reports say what was costed and how; options of models and mappings go with "
                 "models and machines, --hw",
                 option};
  if (inputs_.size() < 2)
    return Error{Errc::usage, "name two reports, or a model and machines with --hw", "input"};
  Errors errors;
  std::vector<RunSide> sides;
  for (const std::string& path : inputs_) {
    if (path.ends_with(".onnx")) {
      errors.push_back({Errc::usage, "is a model: name the machine that it runs on, --hw", path});
      continue;
    }
    Result<RunSide> side = read_report(path);
    collect_errors(side, errors);
    if (side) sides.push_back(std::move(*side));
  }
  if (!errors.empty()) return errors;
  std::vector<Comparison> out;
  for (size_t i = 1; i < sides.size(); ++i) out.push_back(compare_runs(sides[0], sides[i]));
  return out;
}

Result<std::vector<Comparison>> CompareCommand::of_machines() const {
  Errors errors;
  const auto elaborate_options = graph_.to_elaborate_options();
  const auto options_a = mapping_.to_map_options(),
             options_b = mapping_b_.merged_over(mapping_).to_map_options();
  collect_errors(elaborate_options, errors);
  collect_errors(options_a, errors);
  if (options_a) collect_errors(options_b, errors);
  const bool same_run = machines_.size() == 1 && inputs_.size() == 1;
  if (same_run && mapping_b_.first_given().empty())
    errors.push_back({Errc::usage,
                      "one model on one machine is one run: name a second --hw, a second model, or "
                      "how B is mapped, e.g. --b-objective energy",
                      "--hw"});
  if (!errors.empty()) return errors;
  Costing costing{{}, {}, elaborate_options->limits};
  for (const std::string& path : machines_) {
    auto machine = load_machine(path);
    collect_errors(machine, errors);
    if (machine) costing.machines.push_back(std::move(*machine));
  }
  auto graphs = load_graphs(inputs_, *elaborate_options);
  collect_errors(graphs, errors);
  if (graphs) costing.graphs = std::move(*graphs);
  if (!errors.empty()) return errors;

  std::vector<Comparison> out;
  const auto compare = [&](const Result<RunSide>& a, size_t machine, size_t graph) {
    const auto b = costing.cost_side(machine, graph, *options_b);
    collect_errors(b ? b : Result<RunSide>(mapping_b_.about_b(b.errors())), errors);
    if (a && b) out.push_back(compare_runs(*a, *b));
  };
  const bool by_model = machines_.size() == 1 && inputs_.size() > 1;  // models with the first
  for (size_t g = 0; g < (by_model ? 1 : inputs_.size()); ++g) {
    const auto a = costing.cost_side(0, g, *options_a);
    collect_errors(a, errors);
    if (same_run) compare(a, 0, g);
    for (size_t m = 1; m < machines_.size(); ++m) compare(a, m, g);
    for (size_t other = 1; by_model && other < inputs_.size(); ++other) compare(a, 0, other);
  }
  if (!errors.empty()) return errors;
  return out;
}

int CompareCommand::print_comparisons(const std::vector<Comparison>& comparisons,
                                      const Console& console, const std::string& page) const {
  if (!json_.empty())
    if (const int code = write_result(json_, to_json(comparisons)); code != kExitOk) return code;
  if (!html_.empty())
    if (const int code = write_result(html_, page); code != kExitOk) return code;
  if (quiet_ || json_ == "-" || html_ == "-") return kExitOk;
  const TextOptions options{.width = static_cast<int>(Console::width()),
                            .colour = console.colour(),
                            .all_layers = all_ || console.is_verbose()};
  std::string text;
  for (const Comparison& c : comparisons)
    text += (text.empty() ? "" : "\n\n") + to_text(c, options);
  return print_out(text);
}

int CompareCommand::run(const Console& console, const std::string& command,
                        const std::string& version) const {
  Journal journal(console.is_verbose());
  for (const std::string& path : machines_) journal.note_read("machine", path);
  for (const std::string& path : inputs_)
    journal.note_read(machines_.empty() ? "report" : "model", path);
  const auto comparisons = machines_.empty() ? of_reports() : of_machines();
  if (!comparisons) return report_errors(comparisons.errors());
  journal.note_step("read, costed and compared");
  return print_comparisons(*comparisons, console,
                           html_.empty() ? "" : to_html(*comparisons, command, version));
}

}  // namespace accsim::sim
