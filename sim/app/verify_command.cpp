#include "sim/app/verify_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <thread>

#include "hw/cosim/replaced_files.h"
#include "hw/program/core_runs.h"
#include "sim/app/cli.h"
#include "sim/app/costed_model.h"
#include "sim/app/interrupt.h"
#include "sim/app/journal.h"
#include "sim/app/output.h"
#include "sim/app/paths.h"
#include "sim/app/progress.h"
#include "sim/app/verified_cores.h"
#include "sim/quantise/quantised_case.h"
#include "sim/report/format.h"
#include "sim/report/signal_list.h"

namespace accsim::sim {
namespace {

/// What is wrong with the name of a list of signals.
std::string list_format(const std::string& file) {
  const std::string end = std::filesystem::path(file).extension().string();
  if (end == ".gtkw" || end == ".sucl") return "";
  return "'" + file + "' ends neither in .gtkw (for GTKWave) nor in .sucl (for Surfer)";
}

/// More random programs than these are counted, and listed only when they differ.
constexpr int64_t kMostListed = 20;

}  // namespace

void VerifyCommand::add_to(Command& program) {
  sub_ = &program.add_command("verify",
                              "Run tile programs on Verilated RTL and compare values and cycles");
  sub_->footer =
      "Exit codes: 0 all equal, 1 a difference, 2 input that can't be used, 3 no core could be "
      "built.";
  sub_->add({{.name = "--hw",
              .to = &hw_,
              .about = "Machine: a description (YAML) or a name, e.g. 64x64",
              .kind = ValueKind::machine,
              .required = true}});
  model_.add_to(*sub_, false);
  model_.add_torch_to(*sub_);
  model_.add_attention_to(*sub_);
  model_.add_programs_to(*sub_);
  add_case_options();
  add_part_options();
  add_core_options();
  mapping_.add_to(*sub_);
}

void VerifyCommand::add_case_options() {
  sub_->add(
      {{.name = "--gemm",
        .to = &gemms_,
        .about = "Verify one product, e.g. 100x200x300",
        .metavar = "MxKxN"},
       {.name = "--conv",
        .to = &convs_,
        .about = "Verify one convolution: N,C,H,W,K,R,S,stride,pad,dilation,groups",
        .metavar = "LIST"},
       {.name = "--layers",
        .to = &layers_,
        .about = "Verify a model's products one by one, not the whole model as one program"},
       {.name = "--random",
        .to = &random_,
        .about = "Verify that many random products and convolutions, with random memory rates",
        .metavar = "COUNT",
        .range = OptionRange{1, 10'000'000}},
       {.name = "--seed",
        .to = &seed_,
        .about = "Seed of the random operands and cases",
        .shows_default = true},
       {.name = "--random-numbers",
        .to = &random_numbers_,
        .about =
            "Draw weights and scales at random. Default: weights of the file if it has them, and "
            "scales from a float run of random inputs"},
       {.name = "--max-cycles",
        .to = &max_cycles_,
        .about =
            "Most cycles of a product. A longer product is cut to fewer outputs, and the report "
            "says so",
        .metavar = "CYCLES",
        .range = OptionRange{1, int64_t{1} << 60}},
       {.name = "--jobs",
        .to = &jobs_,
        .about = "Programs to run side by side",
        .range = OptionRange{1, 256},
        .shows_default = true},
       {.name = "--json",
        .to = &json_,
        .about = "Write the results as JSON (accsim.verify/1); - for stdout",
        .kind = ValueKind::written_file}});
}

void VerifyCommand::add_part_options() {
  sub_->add(
      {{.name = "--resume-at",
        .to = &layer_words_.from,
        .about =
            "Run RTL from this layer of a network on, by name or by place in the report, from 0. "
            "Golden alone runs the layers before it. RTL begins in reset, with golden's memory. "
            "The rest counts its cycles as a program of its own",
        .metavar = "LAYER"},
       {.name = "--until",
        .to = &layer_words_.until,
        .about = "Run RTL to the end of this layer only",
        .metavar = "LAYER"},
       {.name = "--trace",
        .to = &trace_,
        .about = "Write waveforms (FST) of one program. For a network add --trace-layer, and "
                 "--resume-at to get there sooner",
        .kind = ValueKind::written_file},
       {.name = "--trace-signals",
        .to = &signals_,
        .about =
            "Write a list of the signals to look at first: queues, tokens, array, memory. .gtkw is "
            "for GTKWave, .sucl for Surfer",
        .kind = ValueKind::written_file},
       {.name = "--trace-layer",
        .to = &layer_words_.traced,
        .about =
            "Write waveforms of one layer of a network only, from the start of its first command "
            "until its last one has retired",
        .metavar = "LAYER"},
       {.name = "--trace-limit",
        .to = &trace_limit_,
        .about = "Largest file of waveforms. Then no more are written, and the report says so",
        .unit = "MiB",
        .range = OptionRange{1, int64_t{1} << 40},
        .shows_default = true}});
}

void VerifyCommand::add_core_options() {
  sub_->add(
      {{.name = "--assertions",
        .to = &assertions_,
        .about =
            "Check the assertions in rtl/, with registers that begin with random values. This is "
            "slower"},
       {.name = "--pe-modules",
        .to = &pe_modules_,
        .about = "Take the array whose PEs are modules, as for synthesis. This is slower"},
       {.name = "--cycles",
        .to = &cycles_,
        .about =
            "equal: other cycles than the timing model's are a difference. report: only values "
            "must be equal, and cycles are reported. That is for RTL of another pace",
        .choices = {"equal", "report"},
        .shows_default = true},
       {.name = "--cache",
        .to = &cache_,
        .about = std::string(kCacheAbout),
        .kind = ValueKind::written_folder},
       {.name = "--source",
        .to = &source_,
        .about = "Tree whose rtl/ and hw/cosim/ the core is built from; default: accsim's own",
        .kind = ValueKind::read_folder},
       {.name = "--replace",
        .to = &replaced_,
        .about =
            "A module of your own, or its assertions. The file takes the place of the file in rtl/ "
            "with its name",
        .kind = ValueKind::read_file}});
}

Result<std::vector<VerifyCase>> VerifyCommand::given_cases(const hw::HwConfig& hw) const {
  const auto options = mapping_.to_map_options();
  if (!options) return options.errors();
  return named_products(gemms_, convs_, hw, *options);
}

Status VerifyCommand::check_arguments() const {
  const bool given = !gemms_.empty() || !convs_.empty() || random_ > 0;
  if (given == !model_.model_path().empty())
    return Error{Errc::usage, "name a model, or --gemm, --conv or --random (and not both)",
                 "verify"};
  if (layers_ && given) return Error{Errc::usage, "there is no model to take apart", "--layers"};
  if (random_numbers_ && !is_whole_network())
    return Error{Errc::usage, "is for a model as one program", "--random-numbers"};
  if (max_cycles_ > 0 && is_whole_network())
    return Error{Errc::usage, "a network isn't cut; add --layers", "--max-cycles"};
  for (const auto& [word, option] :
       {std::pair(&layer_words_.from, "--resume-at"), std::pair(&layer_words_.until, "--until"),
        std::pair(&layer_words_.traced, "--trace-layer")})
    if (!word->empty() && !is_whole_network())
      return Error{Errc::usage, "is for a model as one program", option};
  if (!layer_words_.traced.empty() && trace_.empty())
    return Error{Errc::usage, "needs --trace, the file", "--trace-layer"};
  if (!signals_.empty() && trace_.empty())
    return Error{Errc::usage, "needs --trace FILE, the waveforms", "--trace-signals"};
  if (const std::string wrong = signals_.empty() ? "" : list_format(signals_); !wrong.empty())
    return Error{Errc::usage, wrong, "--trace-signals"};
  return ok();
}

Result<std::vector<VerifyCase>> VerifyCommand::make_cases(const hw::HwConfig& hw) const {
  if (model_.model_path().empty()) return given_cases(hw);
  const Result<CostedModel> c = cost_model(model_, mapping_, hw);
  if (!c) return c.errors();
  auto out = network_cases(c->graph, c->network, hw);
  if (out.empty())
    return Error{Errc::usage, "no layer of it runs on the array", model_.model_path()};
  return out;
}

Result<VerifyOptions> VerifyCommand::verify_options() const {
  const Result<hw::VerilatedCoreOptions> variant = core_variant(source_, cache_);
  if (!variant) return variant.errors();
  VerifyOptions options;
  options.variant = *variant;
  options.variant.replaced.assign(replaced_.begin(), replaced_.end());
  options.variant.trace = !trace_.empty();
  options.variant.assertions = assertions_;
  options.variant.pe_modules = pe_modules_;
  options.variant.any_cycles = options.any_cycles = cycles_ == "report";
  if (Status s = hw::check_replaced(options.variant); !s) return s.errors();
  options.trace = trace_;
  options.trace_bytes = trace_limit_ << 20;
  options.signals = !signals_.empty();
  options.max_cycles = max_cycles_;
  options.seed = seed_;
  options.jobs = jobs_;
  options.stop = &InterruptGuard::requested();
  return options;
}

namespace {

/// Random programs that are made, with their memories, before they are run.
constexpr int64_t kAtOnce = 100;

}  // namespace

Result<VerifyReport> VerifyCommand::verify_layers(const hw::HwConfig& hw, VerifyOptions options,
                                                  Journal& journal) const {
  auto all = make_cases(hw);
  const auto mapping = mapping_.to_map_options();
  if (!all) return all.errors();
  if (!mapping) return mapping.errors();
  const int64_t count = static_cast<int64_t>(all->size()) + random_;
  journal.note_step(fmt::format("{} programs made, {} to come", all->size(), random_));
  if (!trace_.empty() && count != 1)
    return Error{Errc::usage, fmt::format("waveforms are of one program; there are {}", count),
                 "--trace"};
  const InterruptGuard guard;
  Progress progress;
  std::vector<VerifyRow> rows;
  options.progress = [&](int64_t done, int64_t cycles, int64_t of) {
    const auto all_done = static_cast<int64_t>(rows.size()) + done;
    const double seconds = progress.elapsed_seconds();
    const std::string left =
        random_ > 0 ? format_left(seconds, all_done, count) : format_left(seconds, cycles, of);
    progress(all_done, count, "programs, " + left);
  };
  const auto run = [&](std::vector<VerifyCase> some) {
    options.first = rows.size();
    std::ranges::move(verify_cases(std::move(some), options), std::back_inserter(rows));
  };
  if (!all->empty()) run(std::move(*all));
  RandomSeries series{seed_};
  while (static_cast<int64_t>(rows.size()) < count && !InterruptGuard::requested())
    run(random_cases(std::min(kAtOnce, count - static_cast<int64_t>(rows.size())), series, hw,
                     *mapping));
  VerifyReport report;
  report.unmade = count - static_cast<int64_t>(rows.size());
  report.rows = std::move(rows);
  return report;
}

Result<VerifyReport> VerifyCommand::verify_whole(const hw::HwConfig& hw, VerifyOptions options,
                                                 Journal& journal) const {
  const Result<CostedModel> costed = cost_model(model_, mapping_, hw);
  if (!costed) return costed.errors();
  const Result<NetworkCase> made =
      random_numbers_ ? network_case(costed->graph, costed->network, hw, seed_)
                      : quantised_network_case(costed->graph, costed->network, hw, seed_, jobs_);
  if (!made) return made.errors();
  journal.note_step(fmt::format("one program of {} made", made->network.parts.size()));
  const Result<VerifiedLayers> layers = find_layers(layer_words_, costed->network, made->network);
  if (!layers) return layers.errors();
  options.layers = *layers;
  const InterruptGuard guard;
  Progress progress;
  options.progress = [&](int64_t, int64_t cycles, int64_t of) {
    progress(cycles, of, "cycles, " + format_left(progress.elapsed_seconds(), cycles, of));
  };
  return verify_network(*made, costed->network, options);
}

int VerifyCommand::print_report(const VerifyReport& report, const Console& console) const {
  if (!json_.empty())
    if (const int code = write_result(json_, to_json(report)); code != kExitOk) return code;
  if (json_ == "-") return kExitOk;
  return print_out(to_text(
      report,
      {.width = Console::width(), .only_failed = random_ > kMostListed && !console.is_verbose()}));
}

int VerifyCommand::write_signals(const VerifyReport& report) const {
  if (signals_.empty()) return kExitOk;
  // Of the one program that has waveforms; where none were written its row says so.
  for (const VerifyRow& row : report.rows) {
    if (row.signals.empty()) continue;
    const std::string waveforms = std::filesystem::absolute(trace_).string();
    return write_result(signals_, signals_.ends_with(".gtkw") ? gtkwave_list(row.signals, waveforms)
                                                              : surfer_list(row.signals));
  }
  return kExitOk;
}

int VerifyCommand::run(const Console& console) const {
  Journal journal(console.is_verbose());
  journal.note_read("machine", hw_);
  if (!model_.model_path().empty()) journal.note_read("model", model_.model_path());
  const Result<hw::HwConfig> hw = load_machine(hw_);
  if (!hw) return report_errors(hw.errors());
  if (const Status good = check_arguments(); !good) return report_errors(good.errors());
  if (const Status good = hw::core_runs(*hw); !good) return report_errors(good.errors());
  const Result<VerifyOptions> options = verify_options();
  if (!options) return report_errors(options.errors());
  Result<VerifyReport> report = is_whole_network() ? verify_whole(*hw, *options, journal)
                                                   : verify_layers(*hw, *options, journal);
  if (!report) return report_errors(report.errors());
  report->hw = hw_;
  report->any_cycles = options->any_cycles;
  report->model = model_.model_path();
  report->interrupted = InterruptGuard::requested();
  journal.note_step("run on RTL, golden and timing model; Verilated cores are kept in " +
                    options->variant.cache_dir.string());
  if (const int code = write_signals(*report); code != kExitOk) return code;
  if (const int code = print_report(*report, console); code != kExitOk) return code;
  return exit_code_of(*report);
}

}  // namespace accsim::sim
