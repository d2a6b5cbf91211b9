#include "sim/app/diff_command.h"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>
#include <system_error>

#include "sim/app/cli.h"
#include "sim/app/console.h"
#include "sim/app/output.h"
#include "sim/base/parse_number.h"
#include "sim/run/diff.h"

namespace accsim::sim {
namespace {

/// What is wrong with a tolerance; "" for nothing.
std::string tolerance_problem(const std::string& text) {
  const auto value = parse_number<double>(text);
  if (value && std::isfinite(*value) && *value >= 0) return "";
  return "'" + text + "' is not a number of 0 or more";
}

}  // namespace

void DiffCommand::add_to(Command& program) {
  sub_ = &program.add_command("diff",
                              "Compare two folders of dumped tensors, layer by layer, or two files "
                              "of tensors");
  sub_->footer = "Exit codes: 0 all within the tolerance, 1 not, 2 input that can't be used.";
  sub_->add(
      {{.name = "a",
        .to = &a_,
        .about =
            "Folder with a manifest.json, as accsim run --dump writes it, or a file. Files are "
            ".npy, .pt or .pth of torch.save(), or by any other name raw elements, row-major and "
            "little-endian",
        .kind = ValueKind::read_path,
        .required = true},
       {.name = "b",
        .to = &b_,
        .about = "Folder or file to compare with it",
        .kind = ValueKind::read_path,
        .required = true},
       {.name = "--atol",
        .to = &atol_,
        .about = "Largest absolute difference that is allowed",
        .shows_default = true,
        .check = tolerance_problem},
       {.name = "--rtol",
        .to = &rtol_,
        .about = "Largest difference that is allowed, relative to A's element",
        .shows_default = true,
        .check = tolerance_problem},
       {.name = "--json",
        .to = &json_,
        .about = "Write the comparison as JSON (accsim.diff/1); - for stdout",
        .kind = ValueKind::written_file}});
  files_.add_to(*sub_);
}

Result<DiffReport> DiffCommand::compare_inputs() const {
  std::error_code error;
  for (const std::string& path : {a_, b_})
    if (!std::filesystem::exists(path, error))
      return Error{
          Errc::io,
          "can't be opened; name a folder made by accsim run --output DIR --dump all, or a "
          "file of tensors",
          path};
  const bool folder_a = std::filesystem::is_directory(a_, error);
  const bool folder_b = std::filesystem::is_directory(b_, error);
  if (folder_a != folder_b)
    return Error{Errc::usage,
                 fmt::format("'{}' is a folder, '{}' isn't; name two folders or two files",
                             folder_a ? a_ : b_, folder_a ? b_ : a_),
                 "diff"};
  const Tolerance tolerance = {atol_, rtol_};
  if (folder_a) {
    if (!files_.first_given().empty())
      return Error{Errc::usage, "is for files; folders say what they hold", files_.first_given()};
    return diff_dumps(a_, b_, tolerance);
  }
  const auto files = files_.read_files(a_, b_);
  if (!files) return files.errors();
  return diff_files((*files)[0], (*files)[1], tolerance);
}

int DiffCommand::run() const {
  const Result<DiffReport> report = compare_inputs();
  if (!report) return report_errors(report.errors());
  const int code = json_.empty() ? print_out(to_text(*report, Console::width()))
                                 : write_result(json_, to_json(*report));
  if (code != kExitOk) return code;
  return report->first < 0 ? kExitOk : kExitFailed;
}

}  // namespace accsim::sim
