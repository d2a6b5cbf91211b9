#include "sim/app/hw_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "hw/config/load.h"
#include "hw/cosim/verilated_core.h"
#include "sim/app/cli.h"
#include "sim/app/console.h"
#include "sim/app/output.h"
#include "sim/app/paths.h"

namespace accsim::sim {

void HwCommand::add_to(Command& program) {
  sub_ = &program.add_command("hw", "Check, print and document machine descriptions");
  sub_->needs_command = true;
  check_ = &sub_->add_command("check", "Report all errors of a file");
  print_ = &sub_->add_command("print", "Print the effective machine as commented YAML");
  schema_ = &sub_->add_command("schema", "Print a JSON Schema for editors");
  fields_ = &sub_->add_command("fields", "Print the table of all fields as Markdown");
  rtl_ = &sub_->add_command(
      "rtl", "Print the parameters of rtl/accsim_core.sv for a machine, one line per array");
  for (Command* command : {check_, print_, rtl_})
    command->add({{.name = "file",
                   .to = &file_,
                   .about = "Machine description (YAML) or a name, e.g. 64x64 or tpu-v4",
                   .kind = ValueKind::machine,
                   .required = true}});
  dram_.add_to(*sub_);
}

int HwCommand::run() const {
  if (check_->is_chosen()) return check_machine();
  if (print_->is_chosen()) return print_machine();
  if (schema_->is_chosen()) return print_out(hw::hw_schema());
  if (fields_->is_chosen()) return print_out(hw::fields_markdown());
  if (rtl_->is_chosen()) return print_rtl();
  return dram_.run();
}

int HwCommand::check_machine() const {
  const auto machine = load_machine(file_);
  if (!machine) return report_errors(machine.errors());
  return print_wrapped(fmt::format("{}: good ({}, {}x{})\n", file_, machine->name,
                                   machine->array.rows, machine->array.cols));
}

int HwCommand::print_machine() const {
  const auto machine = load_machine(file_);
  return machine ? print_out(hw::print_hw(*machine)) : report_errors(machine.errors());
}

int HwCommand::print_rtl() const {
  const auto machine = load_machine(file_);
  if (!machine) return report_errors(machine.errors());
  std::string text;
  for (const hw::Dataflow d : {hw::Dataflow::weight_stationary, hw::Dataflow::output_stationary}) {
    const auto parameters = hw::rtl_parameters(*machine, d);
    if (!parameters) return report_errors(parameters.errors());
    text += fmt::format("{}\n", fmt::join(*parameters, " "));
  }
  return print_out(text);
}

}  // namespace accsim::sim
