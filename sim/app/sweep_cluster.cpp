#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <filesystem>

#include "sim/app/cli.h"
#include "sim/app/file_options.h"
#include "sim/app/output.h"
#include "sim/app/sweep_command.h"
#include "sim/base/shell_word.h"
#include "sim/report/format.h"
#include "sim/report/write_file.h"
#include "sim/sweep/evaluate.h"
#include "sim/sweep/merge.h"
#include "sim/sweep/space.h"
#include "sim/sweep/submit.h"

namespace accsim::sim {
namespace {

namespace fs = std::filesystem;

/// Runs a shell command; its output without the last line feed.
Result<std::string> run_shell(const std::string& command) {
  std::FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return Error{Errc::io, "can't be started", command};
  std::string out;
  std::array<char, 4096> buffer{};
  while (const size_t n = std::fread(buffer.data(), 1, buffer.size(), pipe))
    out.append(buffer.data(), n);
  if (pclose(pipe) != 0)
    return Error{Errc::io,
                 "failed, see above; the scripts are written and can be submitted by hand",
                 command};
  while (!out.empty() && out.back() == '\n') out.pop_back();
  return out;
}

/// "123" of sbatch --parsable's "123;cluster".
Result<std::string> submit_job(const std::string& folder, const std::string& arguments) {
  const auto out =
      run_shell(fmt::format("cd {} && sbatch --parsable {}", shell_word(folder), arguments));
  if (!out) return out.errors();
  return out->substr(0, out->find(';'));
}

}  // namespace

void SweepCommand::add_merge() {
  merge_ = &sub_->add_command("merge", "Put the stores of all shards into one");
  merge_->add({{.name = "out",
                .to = &out_,
                .about = "The store to make or to complete",
                .kind = ValueKind::written_store,
                .required = true},
               {.name = "shards",
                .to = &shards_,
                .about = "Stores of all shards",
                .kind = ValueKind::read_file,
                .required = true}});
}

void SweepCommand::add_submit() {
  submit_ = &sub_->add_command("submit", "Run a sweep as a Slurm job array, followed by a merge");
  submit_->add(
      {{.name = "spec",
        .to = &spec_,
        .about = "The space (YAML)",
        .kind = ValueKind::read_file,
        .required = true},
       {.name = "--nodes",
        .to = &nodes_,
        .about = "Number of shards, one per task of the array",
        .range = OptionRange{1, 100'000},
        .required = true},
       {.name = "--store",
        .to = &store_,
        .about = "The merged store; default: SPEC's name with .sqlite",
        .kind = ValueKind::written_store},
       {.name = "--folder",
        .to = &folder_,
        .about =
            "Folder for scripts, logs and shards, which all nodes must see; default: SPEC's name "
            "with .slurm",
        .kind = ValueKind::written_folder},
       {.name = "--threads",
        .to = &threads_,
        .about = "Cores per task; default: Slurm's",
        .range = OptionRange{1, 1024}},
       {.name = "--partition", .to = &partition_, .about = "Slurm partition", .metavar = "NAME"},
       {.name = "--time",
        .to = &time_,
        .about = "Time limit of a task, as sbatch takes it",
        .metavar = "TIME"},
       {.name = "--dry-run",
        .to = &dry_run_,
        .about = "Print the scripts; write and submit nothing"}});
}

int SweepCommand::run_merge() const {
  const auto merged = merge_stores(out_, shards_);
  if (!merged) return report_errors(merged.errors());
  return print_wrapped(fmt::format("{}: {} points, {} of them new\n", out_,
                                   format_count(merged->points), format_count(merged->added)));
}

int SweepCommand::run_submit() const {
  const auto spec = load_sweep(spec_);
  if (!spec) return report_errors(spec.errors());
  if (spec->strategy == Strategy::pareto)
    return report_errors(
        {{Errc::usage, "a pareto sweep can't be cut into shards; use \"strategy: grid\" or random",
          spec_}});
  if (const auto points = count_points(*spec); !points) return report_errors(points.errors());
  if (const auto networks = Evaluator::create(*spec); !networks)
    return report_errors(networks.errors());
  const std::string stem = fs::path(spec_).stem().string();
  std::error_code ec;
  SubmitOptions options;
  options.accsim = fs::read_symlink("/proc/self/exe", ec).string();
  options.spec = fs::absolute(spec_, ec).string();
  options.out = fs::absolute(store_.empty() ? stem + ".sqlite" : store_, ec).string();
  options.folder = fs::absolute(folder_.empty() ? stem + ".slurm" : folder_, ec).string();
  options.nodes = nodes_;
  options.threads = threads_;
  options.partition = partition_;
  options.time = time_;
  const SubmitScripts scripts = submit_scripts(options);
  const std::string array = options.folder + "/array.sbatch",
                    merge = options.folder + "/merge.sbatch";
  if (const Status good =
          check_sweep_written({{"--store", store_.empty() ? options.out : store_, true},
                               {"--folder", array},
                               {"--folder", merge}},
                              *spec);
      !good)
    return report_errors(good.errors());
  if (dry_run_)
    return print_out(fmt::format("# {}\n{}\n# {}, after all tasks of the array\n{}", array,
                                 scripts.array, merge, scripts.merge));
  fs::create_directories(options.folder, ec);
  for (const auto& [path, text] :
       {std::pair(array, scripts.array), std::pair(merge, scripts.merge)})
    if (const Status written = write_file_atomically(path, text); !written)
      return report_errors(written.errors());
  const auto job = submit_job(options.folder, "array.sbatch");
  if (!job) return report_errors(job.errors());
  const auto after =
      submit_job(options.folder, fmt::format("--dependency=afterok:{} merge.sbatch", *job));
  if (!after) {
    Errors errors = after.errors();
    errors.push_back(
        {Errc::io, "array " + *job + " is submitted, its merge isn't", options.folder});
    return report_errors(errors);
  }
  return print_wrapped(
      fmt::format("submitted array {} of {} shards and merge {}; logs in {}; result in {}\n", *job,
                  nodes_, *after, options.folder, options.out));
}

}  // namespace accsim::sim
