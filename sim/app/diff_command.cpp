#include "sim/app/diff_command.h"

#include <cmath>

#include "sim/app/cli.h"
#include "sim/app/console.h"
#include "sim/app/file_options.h"
#include "sim/app/output.h"
#include "sim/flow/run.h"

namespace accsim::sim {
namespace {

/// What is wrong with a tolerance; "" for nothing.
std::string tolerance(const std::string& text) {
  double value = 0;
  if (CLI::detail::lexical_cast(text, value) && std::isfinite(value) && value >= 0) return "";
  return "'" + text + "' is not a number of 0 or more";
}

}  // namespace

void DiffCommand::add_to(CLI::App& app) {
  sub_ = app.add_subcommand("diff", "Compare two folders of dumped tensors, layer by layer");
  sub_->footer("Exit codes: 0 all within the tolerance, 1 not, 2 input that can't be used.");
  sub_->add_option("a", a_, "Folder with a manifest.json, as accsim run --dump writes it")
      ->type_name(kReadFolder)
      ->required();
  sub_->add_option("b", b_, "The folder to compare with it")->type_name(kReadFolder)->required();
  sub_->add_option("--atol", atol_, "Absolute difference that is allowed")
      ->check(tolerance)
      ->capture_default_str();
  sub_->add_option("--rtol", rtol_, "Difference allowed relative to A's element")
      ->check(tolerance)
      ->capture_default_str();
  sub_->add_option("--json", json_, "Write the comparison as JSON (accsim.diff/1); - for stdout")
      ->type_name(kWrittenFile);
}

int DiffCommand::run() const {
  const Result<DiffReport> report = diff_dumps(a_, b_, atol_, rtol_);
  if (!report) return report_errors(report.errors());
  const int code = json_.empty() ? print_out(to_text(*report, Console::width()))
                                 : write_result(json_, to_json(*report));
  if (code != kExitOk) return code;
  return report->first < 0 ? kExitOk : kExitFailed;
}

}  // namespace accsim::sim
