#include "sim/app/advise_command.h"

#include <fmt/format.h>

#include "sim/advise/advise_text.h"
#include "sim/app/cli.h"
#include "sim/app/journal.h"
#include "sim/app/output.h"
#include "sim/app/paths.h"
#include "sim/cost/cost.h"

namespace accsim::sim {

void AdviseCommand::add_to(Command& program) {
  sub_ = &program.add_command(
      "advise",
      "Cost a network with each field of the machine moved by 10 % and by a factor of two");
  sub_->add({{.name = "--hw",
              .to = &hw_,
              .about = "Machine: a description (YAML) or a name, e.g. 64x64 or tpu-v4",
              .kind = ValueKind::machine,
              .required = true}});
  model_.add_to(*sub_, true);
  model_.add_torch_to(*sub_);
  model_.add_programs_to(*sub_);
  mapping_.add_to(*sub_);
  sub_->add({{.name = "--json",
              .to = &json_,
              .about = "Write the advice as JSON (accsim.advise/1); - for stdout",
              .kind = ValueKind::written_file}});
}

int AdviseCommand::run(const Console& console) const {
  const auto elaborate_options = model_.to_elaborate_options();
  const auto options = mapping_.to_map_options();
  Errors errors;
  collect_errors(elaborate_options, errors);
  collect_errors(options, errors);
  if (!errors.empty()) return report_errors(errors);
  Journal journal(console.is_verbose());
  journal.note_read("machine", hw_);
  journal.note_read("model", model_.model_path());
  const Result<hw::HwConfig> machine = load_machine(hw_);
  Result<Graph> graph = model_.load_model(*elaborate_options);
  collect_errors(machine, errors);
  collect_errors(graph, errors);
  if (!errors.empty()) return report_errors(errors);
  journal.note_step("machine and model read");
  // What is too much for one machine isn't costed on a hundred.
  const auto once = cost_network(*graph, *machine, *options, elaborate_options->limits.programs);
  if (!once) return report_errors(once.errors());
  Result<Workload> workload = Workload::prepare(std::move(*graph));
  if (!workload) return report_errors(workload.errors());
  const Result<Advice> advice = advise(*workload, *machine, *options);
  if (!advice) return report_errors(advice.errors());
  journal.note_step(
      fmt::format("{} fields moved; the network is costed each time", advice->fields.size()));
  if (!json_.empty())
    if (const int code = write_result(json_, to_json(*advice)); code != kExitOk || json_ == "-")
      return code;
  return print_out(
      to_text(*advice, {.width = static_cast<int>(Console::width()), .colour = console.colour()}));
}

}  // namespace accsim::sim
