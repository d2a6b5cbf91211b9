#include "sim/app/documents_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "hw/config/values.h"
#include "sim/app/cli.h"
#include "sim/app/completion.h"
#include "sim/app/file_options.h"
#include "sim/app/manual.h"
#include "sim/app/options_table.h"
#include "sim/app/output.h"
#include "sim/report/operators.h"
#include "sim/report/schema.h"

namespace accsim::sim {
namespace {

/// Writes the pages of a command and of all below it. Exit code.
int write_pages(const CLI::App& app, const std::string& version, const std::string& folder) {
  const std::string file = (std::filesystem::path(folder) / manual_file(app)).string();
  int code = write_result(file, manual_page(app, version));
  for (const CLI::App* sub : commands_of(app))
    if (code == kExitOk) code = write_pages(*sub, version, folder);
  return code;
}

}  // namespace

void DocumentsCommand::add_to(CLI::App& app) {
  ops_ = app.add_subcommand("ops", "Print the table of operators as Markdown");
  options_ = app.add_subcommand("options", "Print the commands and their options as Markdown");
  schema_ = app.add_subcommand("schema", "Print the JSON Schema of the report that --json writes");
  completion_ = app.add_subcommand(
      "completion",
      "Print a script with which a shell completes accsim's commands, options and files\n\n"
      "  source <(accsim completion bash)                         in ~/.bashrc\n"
      "  source <(accsim completion zsh)                          in ~/.zshrc, after compinit\n"
      "  accsim completion fish > ~/.config/fish/completions/accsim.fish\n\n"
      "An installed accsim has brought them along: cmake --install puts them where the shells "
      "look.");
  completion_->add_option("shell", shell_, "The shell: bash, zsh or fish")
      ->check(CLI::IsMember(completion_shells()))
      ->required();
  manual_ = app.add_subcommand(
      "manual",
      "Print the manual page of a command (roff), e.g. accsim manual sweep show | man -l -");
  manual_->add_option("command", command_, "The command's words; none: accsim itself");
  manual_->add_option("--folder", folder_, "Write the pages of all commands into this folder")
      ->type_name(kWrittenFolder);
}

bool DocumentsCommand::chosen() const {
  return ops_->parsed() || options_->parsed() || schema_->parsed() || completion_->parsed() ||
         manual_->parsed();
}

int DocumentsCommand::run(const CLI::App& app, const std::string& version) const {
  if (ops_->parsed()) return print_out(operators_markdown());
  if (options_->parsed()) return print_out(options_markdown(app));
  if (schema_->parsed()) return print_out(report_schema());
  if (completion_->parsed()) return print_out(completion_script(app, shell_));
  return run_manual(app, version);
}

int DocumentsCommand::run_manual(const CLI::App& app, const std::string& version) const {
  if (!folder_.empty()) {
    std::error_code error;
    std::filesystem::create_directories(folder_, error);
    return write_pages(app, version, folder_);
  }
  const CLI::App* page = &app;
  for (const std::string& word : command_) {
    const auto commands = commands_of(*page);
    const auto found = std::find_if(commands.begin(), commands.end(),
                                    [&](const CLI::App* sub) { return sub->get_name() == word; });
    if (found == commands.end()) {
      std::vector<std::string> names;
      for (const CLI::App* sub : commands) names.push_back(sub->get_name());
      const auto close = hw::nearest(word, names);
      return report_errors({{Errc::usage,
                             fmt::format("{} has no command '{}'{}", command_path(*page), word,
                                         close ? "; did you mean " + *close + "?" : ""),
                             "manual"}});
    }
    page = *found;
  }
  return print_out(manual_page(*page, version));
}

}  // namespace accsim::sim
