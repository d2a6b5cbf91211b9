#include "sim/app/sweep_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "sim/app/cli.h"
#include "sim/app/file_options.h"
#include "sim/app/interrupt.h"
#include "sim/app/journal.h"
#include "sim/app/output.h"
#include "sim/app/progress.h"
#include "sim/base/parse_number.h"
#include "sim/report/format.h"
#include "sim/sweep/run.h"
#include "sim/sweep/show.h"
#include "sim/sweep/show_data.h"
#include "sim/sweep/store_columns.h"

namespace accsim::sim {
namespace {

/// `first`: how many points were done when the run began; -1 before the first call.
void show_progress(const SweepProgress& p, int64_t& first, Progress& line) {
  const double seconds = line.elapsed_seconds();
  if (first < 0) first = p.done - p.evaluated;
  const double rate = seconds > 0 ? static_cast<double>(p.evaluated) / seconds : 0;
  line(p.done, p.total,
       fmt::format("points, {:.0f} costed/s, {}", rate,
                   format_left(seconds, p.done - first, p.total - first)));
}

Result<Shard> parse_shard(const std::string& text) {
  const auto parts = parse_numbers(text, '/', 1);
  if (parts && parts->size() == 2 && parts->front() <= parts->back() && parts->back() <= 100'000)
    return Shard{.index = parts->front(), .of = parts->back()};
  return Error{Errc::usage, "'" + text + "' is not i/n with 1 <= i <= n, e.g. 3/8", "--shard"};
}

/// "edge.yaml" -> "edge.sqlite", or "edge.3-of-8.sqlite", in the working directory.
std::string default_store(const std::string& spec, const Shard& shard) {
  const std::string stem = std::filesystem::path(spec).stem().string();
  return shard.of == 1 ? stem + ".sqlite"
                       : fmt::format("{}.{}-of-{}.sqlite", stem, shard.index, shard.of);
}

Result<std::vector<Metric>> parse_metrics(const std::string& text) {
  std::vector<Metric> out;
  if (text.empty()) return out;
  for (const std::string_view word : split_text(text, ',')) {
    const auto m = metric_from(word);
    if (!m)
      return Error{
          Errc::usage,
          fmt::format("'{}' is no objective; valid: {}", word, fmt::join(metric_names(), ", ")),
          "--pareto"};
    if (std::find(out.begin(), out.end(), *m) != out.end())
      return Error{Errc::usage, fmt::format("{} is named twice", metric_info(*m).name), "--pareto"};
    out.push_back(*m);
  }
  return out;
}

/// Columns that every store has; axes are the store's own.
std::vector<std::string> number_columns() {
  std::vector<std::string> out;
  for (const std::string_view column : kPointColumns)
    if (is_number_column(column)) out.emplace_back(column);
  return out;
}

}  // namespace

void SweepCommand::add_to(Command& program) {
  sub_ = &program.add_command("sweep", "Cost networks on every machine of a design space");
  sub_->footer =
      "Exit codes: 0 done, 1 interrupted, 2 input that can't be used, 3 too little memory or disk "
      "space, or a store that went away. The same command goes on where it was stopped.";
  sub_->add({{.name = "spec",
              .to = &spec_,
              .about = "Design space (YAML), e.g. configs/sweeps/edge.yaml",
              .kind = ValueKind::read_file},
             {.name = "--store",
              .to = &store_,
              .about = "SQLite file of the results; default: SPEC's name with .sqlite",
              .kind = ValueKind::written_store},
             {.name = "--threads",
              .to = &threads_,
              .about = "Threads; default: all cores",
              .range = OptionRange{1, 1024}},
             {.name = "--shard",
              .to = &shard_,
              .about = "Cost only the i-th of n parts, into a store of its own",
              .metavar = "i/n"}});
  add_show();
  add_merge();
  add_submit();
}

void SweepCommand::add_show() {
  show_ = &sub_->add_command("show", "Print Pareto front, sensitivity and best points of a store");
  show_->add(
      {{.name = "store",
        .to = &shown_,
        .about = "SQLite file of a sweep",
        .kind = ValueKind::read_file,
        .required = true},
       {.name = "--pareto",
        .to = &pareto_,
        .about = "Objectives of the front, e.g. cycles,energy",
        .metavar = "LIST",
        .offers = metric_names(),
        .is_list = true},
       {.name = "--where",
        .to = &where_,
        .about = "Take only points for which this holds, e.g. \"dram_gbps<=32\"",
        .metavar = "EXPRESSION"},
       {.name = "--csv",
        .to = &csv_,
        .about = "Write the front as CSV; - for stdout",
        .kind = ValueKind::written_file},
       {.name = "--json",
        .to = &json_,
        .about = "Write all points and the front as JSON (accsim.sweep/1); - for stdout",
        .kind = ValueKind::written_file},
       {.name = "--html",
        .to = &html_,
        .about = "Write the points as a page in one file, which needs no network; - for stdout",
        .kind = ValueKind::written_file},
       {.name = "--columns",
        .to = &columns_,
        .about = "Columns of --csv and --json, e.g. dram_gbps,cycles,area_mm2; default: all",
        .metavar = "LIST",
        .offers = number_columns(),
        .is_list = true},
       {.name = "--dump", .to = &dump_, .about = "Print all that is stored, in order"}});
}

int SweepCommand::run_show() const {
  const auto metrics = parse_metrics(pareto_);
  if (!metrics) return report_errors(metrics.errors());
  auto store = SweepStore::open_for_reading(shown_);
  if (!store) return report_errors(store.errors());
  if (dump_ && !(csv_.empty() && json_.empty() && html_.empty()))
    return report_errors({{Errc::usage,
                           "prints everything and writes no file: ask for --csv, --json and --html "
                           "in a run of their own",
                           "--dump"}});
  if (dump_ && !(where_.empty() && pareto_.empty()))
    return report_errors({{Errc::usage,
                           "prints everything that is stored: ask for --where and --pareto in a "
                           "run of their own",
                           "--dump"}});
  if (!columns_.empty() && csv_.empty() && json_.empty())
    return report_errors(
        {{Errc::usage, "chooses what --csv and --json write: name one of them", "--columns"}});
  if (dump_) {
    const auto text = dump_store(**store);
    return text ? print_out(printable(*text, "\n\t")) : report_errors(text.errors());
  }
  ShowOptions options;
  options.pareto = *metrics;
  options.where = where_;
  options.width = Console::width();
  const auto view = TableView::read_store(**store, where_);
  if (!view) return report_errors(view.errors());
  const StoreMeta& meta = (*store)->meta();
  if (const int code = write_shown(*view, meta, options); code != kExitOk) return code;
  if (csv_ == "-" || json_ == "-" || html_ == "-") return kExitOk;
  return print_out(show_text(*view, meta, options));
}

int SweepCommand::write_shown(const TableView& view, const StoreMeta& meta,
                              const ShowOptions& options) const {
  const auto columns = parse_columns(columns_, view);
  if (!columns) return report_errors(columns.errors());
  const auto& metrics = options.pareto.empty() ? meta.objectives : options.pareto;
  if (!csv_.empty())
    if (const int code = write_result(csv_, show_csv(view, metrics, *columns)); code != kExitOk)
      return code;
  if (!json_.empty())
    if (const int code = write_result(json_, show_json(view, meta, options, *columns));
        code != kExitOk)
      return code;
  if (html_.empty()) return kExitOk;
  // Without the spec, or with another one by now, the page can't say what a point's machine is.
  const auto spec = load_sweep(meta.spec_file);
  const bool known = spec && spec->hash == meta.spec;
  return write_result(html_, show_html(view, meta, options, known ? space_json(*spec) : ""));
}

int SweepCommand::run_spec(const std::string& version, const Console& console) const {
  Journal journal(console.is_verbose());
  if (spec_.empty())
    return report_errors({{Errc::usage, "name a sweep, e.g. configs/sweeps/edge.yaml", "sweep"}});
  SweepRun run;
  if (sub_->is_given("--shard")) {
    const auto shard = parse_shard(shard_);
    if (!shard) return report_errors(shard.errors());
    run.shard = *shard;
  }
  journal.note_read("sweep", spec_);
  const auto spec = load_sweep(spec_);
  if (!spec) return report_errors(spec.errors());
  run.store = store_.empty() ? default_store(spec_, run.shard) : store_;
  if (const Status good = check_sweep_written({{"--store", run.store, true}}, *spec); !good)
    return report_errors(good.errors());
  run.version = version;
  run.threads =
      threads_ > 0 ? threads_ : std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
  run.stop = &InterruptGuard::requested();
  Result<SweepOutcome> outcome = SweepOutcome{};
  {
    const InterruptGuard guard;
    Progress line;
    int64_t first = -1;
    run.progress = [&](const SweepProgress& p) { show_progress(p, first, line); };
    outcome = run_sweep(*spec, run);
  }
  if (!outcome) return report_errors(outcome.errors());
  if (outcome->lost) {
    report_errors({{Errc::io,
                    "was deleted, moved or replaced while the sweep ran: what it costed isn't in a "
                    "store of that name; run the same command again",
                    run.store}});
    return kExitResources;
  }
  journal.note_step(fmt::format("{} points costed, {} were stored already", outcome->evaluated,
                                outcome->stored - outcome->evaluated));
  const SweepOutcome& o = *outcome;
  std::string text =
      fmt::format("{}: {} of {} points stored, {} can be costed; {} costed now{}\n", run.store,
                  format_count(o.stored), format_count(o.total), format_count(o.feasible),
                  format_count(o.evaluated),
                  o.bounds > 0 ? fmt::format(", and {} bounds", format_count(o.bounds)) : "");
  for (const SweepModel& m : spec->models)
    for (const std::string& symbol : m.graph.defaulted)
      text += fmt::format("{} of {} is 1, as no bind gives it\n", symbol, m.name);
  if (spec->strategy == Strategy::pareto && !o.interrupted)
    text +=
        "bounds exclude every other point, apart from differences of chains (docs/sweep-spec.md); "
        "the strategy grid misses none\n";
  if (o.interrupted) text += "stopped; the same command goes on\n";
  if (o.elsewhere > 0)
    text +=
        fmt::format("{} points are being costed by another process\n", format_count(o.elsewhere));
  text += fmt::format("accsim sweep show {}\n", run.store);
  const int code = print_wrapped(text);
  return code == kExitOk && o.interrupted ? kExitFailed : code;
}

int SweepCommand::run(const std::string& version, const Console& console) const {
  if (show_->is_chosen()) return run_show();
  if (merge_->is_chosen()) return run_merge();
  if (submit_->is_chosen()) return run_submit();
  return run_spec(version, console);
}

}  // namespace accsim::sim
