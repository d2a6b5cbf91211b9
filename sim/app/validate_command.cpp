#include "sim/app/validate_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <thread>

#include "sim/app/cli.h"
#include "sim/app/file_options.h"
#include "sim/app/journal.h"
#include "sim/app/output.h"
#include "sim/app/paths.h"
#include "sim/app/progress.h"
#include "sim/report/format.h"
#include "sim/validate/program_search.h"
#include "sim/validate/validation_text.h"

namespace accsim::sim {
namespace {

constexpr const char* kShippedFolder = "validation";

/// Where published figures are shipped: in the tree, or what was installed.
Result<std::string> shipped_folder() {
  const auto folder = data_folder();
  if (!folder) return folder.errors();
  return (*folder / kShippedFolder).lexically_normal().string();
}

/// The files that the sources name.
std::vector<NamedFile> named_files(const std::vector<ValidationSource>& sources) {
  std::vector<NamedFile> out;
  for (const ValidationSource& s : sources) {
    out.push_back({"a source", s.file});
    for (const std::string& table : s.tables) out.push_back({"a source's table", table});
    for (const ValidationPoint& p : s.points) {
      if (!p.machine_file.empty()) out.push_back({"a source's machine", p.machine_file});
      if (!p.model_file.empty()) out.push_back({"a source's model", p.model_file});
    }
  }
  return out;
}

Status search(Validation& v, int threads) {
  Progress line;
  return search_programs(v, threads, [&](int64_t done, int64_t all) {
    line(done, all, fmt::format("layers, {}", format_left(line.elapsed_seconds(), done, all)));
  });
}

}  // namespace

void ValidateCommand::add_to(Command& program) {
  sub_ = &program.add_command(
      "validate", "Compare published figures of machines that exist with predictions for them");
  sub_->footer = "Exit codes: 0 done, 2 input that can't be used.";
  sub_->add(
      {{.name = "source",
        .to = &source_,
        .about = "Published figures: a file (YAML) or a folder of such files; default: all shipped "
                 "figures",
        .kind = ValueKind::read_file}});
  mapping_.add_to(*sub_);
  sub_->add({{.name = "--table",
              .to = &table_,
              .about = "Judge the same machine on another table (CSV), with the columns of the "
                       "source's own, in place of its figures",
              .kind = ValueKind::read_file},
             {.name = "--json",
              .to = &json_,
              .about = "Write the comparison as JSON (accsim.validation/1); - for stdout",
              .kind = ValueKind::written_file},
             {.name = "--csv",
              .to = &csv_,
              .about = "Write one line per figure as CSV; - for stdout",
              .kind = ValueKind::written_file},
             {.name = "--html",
              .to = &html_,
              .about = "Write the comparison as a page without scripts; - for stdout",
              .kind = ValueKind::written_file},
             {.name = "--markdown",
              .to = &markdown_,
              .about = "Write the comparison as Markdown, as in docs/validation.md; - for stdout",
              .kind = ValueKind::written_file},
             {.name = "--no-interval",
              .to = &no_interval_,
              .about = "Leave out the interval, which varies all assumed fields. This is faster"},
             {.name = "--search",
              .to = &search_,
              .about = "Look for the best program of each tiled layer on its row's machine, too"},
             {.name = "-q,--quiet", .to = &quiet_, .about = "No table"}});
}

int ValidateCommand::run(const Console& console, const std::string& version) const {
  Errors errors;
  const auto options = mapping_.to_map_options();
  if (!options) errors = options.errors();
  const Result<std::string> place = source_.empty() ? shipped_folder() : Result(source_);
  if (!place) errors.insert(errors.end(), place.errors().begin(), place.errors().end());
  if (!errors.empty()) return report_errors(errors);
  const auto files = validation_files(*place);
  if (!files) return report_errors(files.errors());
  if (!table_.empty() && files->size() != 1)
    return report_errors({{Errc::usage, "needs one source, whose columns it has", "--table"}});
  const std::optional<std::string> table = table_.empty() ? std::nullopt : std::optional(table_);
  Journal journal(console.is_verbose());
  std::vector<ValidationSource> sources;
  for (const std::string& file : *files) {
    journal.note_read("figures", file);
    auto source = load_validation(file, table);
    if (source)
      for (const std::string& read : source->tables) journal.note_read("table", read);
    if (source)
      sources.push_back(std::move(*source));
    else
      errors.insert(errors.end(), source.errors().begin(), source.errors().end());
  }
  if (!errors.empty()) return report_errors(errors);
  const std::vector<NamedFile> written = {
      {"--json", json_}, {"--csv", csv_}, {"--html", html_}, {"--markdown", markdown_}};
  if (const Status good = check_written(written, named_files(sources)); !good)
    return report_errors(good.errors());
  journal.note_step("figures, machines and networks read");
  const int threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  auto done = validate_sources(std::move(sources), *options, !no_interval_, threads);
  if (!done) return report_errors(done.errors());
  journal.note_step("predicted");
  if (search_)
    if (const Status found = search(*done, threads); !found) return report_errors(found.errors());
  const std::string root =
      std::filesystem::path(files->front()).parent_path().parent_path().string();
  const auto write = [](const std::string& path, const auto& make) {
    return path.empty() ? static_cast<int>(kExitOk) : write_result(path, make());
  };
  for (const int code :
       {write(json_, [&] { return to_json(*done); }), write(csv_, [&] { return to_csv(*done); }),
        write(html_, [&] { return to_html(*done, version); }),
        write(markdown_, [&] { return to_markdown(*done, root); })})
    if (code != kExitOk) return code;
  if (quiet_ || json_ == "-" || csv_ == "-" || html_ == "-" || markdown_ == "-") return kExitOk;
  const TextOptions text{.width = static_cast<int>(Console::width()), .colour = console.colour()};
  return print_out(to_text(*done, text) + search_text(*done, text));
}

}  // namespace accsim::sim
