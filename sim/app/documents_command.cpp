#include "sim/app/documents_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "hw/config/values.h"
#include "hw/vectors/vectors.h"
#include "sim/app/cli.h"
#include "sim/app/completion.h"
#include "sim/app/manual.h"
#include "sim/app/options_page.h"
#include "sim/app/output.h"
#include "sim/report/operators.h"
#include "sim/report/schema.h"
#include "sim/validate/validation_text.h"

namespace accsim::sim {
namespace {

/// Writes the pages of a command and of all below it. Exit code.
int write_pages(const Command& command, const std::string& version, const std::string& folder) {
  const std::string file = (std::filesystem::path(folder) / manual_file(command)).string();
  int code = write_result(file, manual_page(command, version));
  for (const Command* sub : command.commands())
    if (code == kExitOk) code = write_pages(*sub, version, folder);
  return code;
}

}  // namespace

void DocumentsCommand::add_to(Command& program) {
  ops_ = &program.add_command("ops", "Print the table of operators as Markdown");
  options_ = &program.add_command("options", "Print the commands and their options as Markdown");
  schema_ =
      &program.add_command("schema", "Print the JSON Schema of the report that --json writes");
  schema_->add(
      {{.name = "of",
        .to = &schema_of_,
        .about = "report; validation: what accsim validate writes; or vectors: manifest and "
                 "lists that accsim vectors writes",
        .choices = {"report", "validation", "vectors"}}});
  completion_ = &program.add_command(
      "completion",
      "Print a script that lets a shell complete accsim's commands, options and files\n\n"
      "  source <(accsim completion bash)                         in ~/.bashrc\n"
      "  source <(accsim completion zsh)                          in ~/.zshrc, after compinit\n"
      "  accsim completion fish > ~/.config/fish/completions/accsim.fish\n\n"
      "cmake --install puts these scripts where the shells look for them.");
  completion_->add({{.name = "shell",
                     .to = &shell_,
                     .about = "Shell: bash, zsh or fish",
                     .choices = completion_shells(),
                     .required = true}});
  manual_ = &program.add_command(
      "manual",
      "Print the manual page of a command (roff), e.g. accsim manual sweep show | man -l -");
  manual_->add({{.name = "command",
                 .to = &command_,
                 .about = "Words of the command; default: accsim itself",
                 .kind = ValueKind::command},
                {.name = "--folder",
                 .to = &folder_,
                 .about = "Write the pages of all commands into this folder",
                 .kind = ValueKind::written_folder}});
}

bool DocumentsCommand::is_chosen() const {
  return ops_->is_chosen() || options_->is_chosen() || schema_->is_chosen() ||
         completion_->is_chosen() || manual_->is_chosen();
}

int DocumentsCommand::run(const Command& program, const std::string& version) const {
  if (ops_->is_chosen()) return print_out(operators_markdown());
  if (options_->is_chosen()) return print_out(options_markdown(program));
  if (schema_->is_chosen()) return print_schema();
  if (completion_->is_chosen()) return print_out(completion_script(program, shell_));
  return run_manual(program, version);
}

int DocumentsCommand::print_schema() const {
  if (schema_of_ == "vectors") return print_out(hw::vectors_schema());
  return print_out(schema_of_ == "validation" ? validation_schema() : report_schema());
}

int DocumentsCommand::run_manual(const Command& program, const std::string& version) const {
  if (!folder_.empty()) {
    std::error_code error;
    std::filesystem::create_directories(folder_, error);
    return write_pages(program, version, folder_);
  }
  const Command* page = &program;
  for (const std::string& word : command_) {
    const auto commands = page->commands();
    const auto found = std::find_if(commands.begin(), commands.end(),
                                    [&](const Command* sub) { return sub->name() == word; });
    if (found == commands.end()) {
      std::vector<std::string> names;
      for (const Command* sub : commands) names.push_back(sub->name());
      const auto close = hw::nearest_word(word, names);
      return report_errors({{Errc::usage,
                             fmt::format("{} has no command '{}'{}", page->path(), word,
                                         close ? "; did you mean " + *close + "?" : ""),
                             "manual"}});
    }
    page = *found;
  }
  return print_out(manual_page(*page, version));
}

}  // namespace accsim::sim
