#include "sim/app/diff_command.h"

#include <charconv>
#include <cmath>
#include <system_error>

#include "sim/app/cli.h"
#include "sim/app/console.h"
#include "sim/app/output.h"
#include "sim/flow/run.h"

namespace accsim::sim {
namespace {

/// What is wrong with a tolerance; "" for nothing.
std::string tolerance(const std::string& text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, value);
  if (error == std::errc() && rest == end && std::isfinite(value) && value >= 0) return "";
  return "'" + text + "' is not a number of 0 or more";
}

}  // namespace

void DiffCommand::add_to(Command& program) {
  sub_ = &program.add_command("diff", "Compare two folders of dumped tensors, layer by layer");
  sub_->footer = "Exit codes: 0 all within the tolerance, 1 not, 2 input that can't be used.";
  sub_->add({{.name = "a",
              .to = &a_,
              .about = "Folder with a manifest.json, as accsim run --dump writes it",
              .kind = ValueKind::read_folder,
              .required = true},
             {.name = "b",
              .to = &b_,
              .about = "The folder to compare with it",
              .kind = ValueKind::read_folder,
              .required = true},
             {.name = "--atol",
              .to = &atol_,
              .about = "Absolute difference that is allowed",
              .shows_default = true,
              .check = tolerance},
             {.name = "--rtol",
              .to = &rtol_,
              .about = "Difference allowed relative to A's element",
              .shows_default = true,
              .check = tolerance},
             {.name = "--json",
              .to = &json_,
              .about = "Write the comparison as JSON (accsim.diff/1); - for stdout",
              .kind = ValueKind::written_file}});
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
