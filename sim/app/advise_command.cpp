#include "sim/app/advise_command.h"

#include <fmt/format.h>

#include "hw/config/load.h"
#include "sim/advise/advise_text.h"
#include "sim/app/cli.h"
#include "sim/app/file_options.h"
#include "sim/app/journal.h"
#include "sim/app/output.h"
#include "sim/flow/cost.h"

namespace accsim::sim {

void AdviseCommand::add_to(CLI::App& app) {
  sub_ = app.add_subcommand(
      "advise", "What 10 % and a doubling of each field of a machine would bring, by costing it");
  sub_->add_option("--hw", hw_,
                   "Machine: a description (YAML) or the name of a shipped one, e.g. 64x64")
      ->type_name(kMachine)
      ->required();
  model_.add_to(*sub_, true);
  model_.add_torch_to(*sub_);
  mapping_.add_to(*sub_);
  sub_->add_option("--json", json_, "Write the advice as JSON (accsim.advise/1); - for stdout")
      ->type_name(kWrittenFile);
}

int AdviseCommand::run(const Console& console) const {
  const auto elaborate_options = model_.elaborate();
  const auto options = mapping_.parse();
  Errors errors;
  if (!elaborate_options) errors = elaborate_options.errors();
  if (!options) errors.insert(errors.end(), options.errors().begin(), options.errors().end());
  if (!errors.empty()) return report_errors(errors);
  Journal journal(console.verbose());
  journal.reads("machine", hw_);
  journal.reads("model", model_.model());
  const Result<hw::HwConfig> machine = hw::load_hw(hw_);
  Result<Graph> graph = model_.load(*elaborate_options);
  if (!machine) errors = machine.errors();
  if (!graph) errors.insert(errors.end(), graph.errors().begin(), graph.errors().end());
  if (!errors.empty()) return report_errors(errors);
  journal.step("machine and model read");
  Result<Workload> workload = Workload::prepare(std::move(*graph));
  if (!workload) return report_errors(workload.errors());
  const Result<Advice> advice = advise(*workload, *machine, *options);
  if (!advice) return report_errors(advice.errors());
  journal.step(fmt::format("{} fields moved, the network costed each time", advice->fields.size()));
  if (!json_.empty())
    if (const int code = write_result(json_, to_json(*advice)); code != kExitOk || json_ == "-")
      return code;
  return print_out(
      to_text(*advice, {.width = static_cast<int>(Console::width()), .colour = console.colour()}));
}

}  // namespace accsim::sim
