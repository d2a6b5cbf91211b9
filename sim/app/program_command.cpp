#include "sim/app/program_command.h"

#include <fmt/format.h>

#include <memory>
#include <random>

#include "hw/program/core_runs.h"
#include "hw/program/read_program.h"
#include "hw/random/program_contents.h"
#include "sim/app/cli.h"
#include "sim/app/interrupt.h"
#include "sim/app/output.h"
#include "sim/app/paths.h"
#include "sim/app/progress.h"
#include "sim/app/verified_cores.h"
#include "sim/report/format.h"
#include "sim/verify/verify.h"

namespace accsim::sim {
namespace {

/// The programs with operands, for verify_cases(); all that is wrong with one.
Result<std::vector<VerifyCase>> cases_of(std::vector<hw::Program> programs, const hw::HwConfig& hw,
                                         uint64_t seed) {
  std::vector<VerifyCase> out;
  int64_t most = hw::kMostDrawnBytes;
  for (hw::Program& p : programs) {
    std::seed_seq sequence{seed & 0xffffffff, seed >> 32, uint64_t{out.size()}};
    std::mt19937 random(sequence);
    auto image = hw::random_contents(p, random, most);
    if (!image) return image.errors();
    for (const std::vector<uint8_t>& bytes : *image) most -= std::ssize(bytes);
    VerifyCase& one = out.emplace_back();
    one.name = p.name;
    one.shape = fmt::format("{} tensors", p.tensors.size());
    one.hw = hw;
    one.mixed = std::make_shared<const hw::ProgramWithImage>(
        hw::ProgramWithImage{std::move(p), std::move(*image)});
  }
  return out;
}

}  // namespace

void ProgramCommand::add_to(Command& program) {
  sub_ = &program.add_command(
      "program", "Time tile programs of a file, as --dump-program writes them, and run them");
  sub_->footer =
      "docs/program-file.md says what is in such a file.\n"
      "Exit codes: 0 done, 1 a difference (--verify), 2 input that can't be used, 3 no core could "
      "be built.";
  sub_->add({{.name = "file",
              .to = &file_,
              .about = "Program file: one program or several",
              .kind = ValueKind::read_file,
              .required = true},
             {.name = "--hw",
              .to = &hw_,
              .about = "Machine: a description (YAML) or a name, e.g. 64x64",
              .kind = ValueKind::machine,
              .required = true},
             {.name = "--verify",
              .to = &verify_,
              .about = "Run the programs on Verilated RTL, golden and timing model with random "
                       "operands, and compare values and cycles"},
             {.name = "--seed",
              .to = &seed_,
              .about = "Seed of the random operands",
              .shows_default = true,
              .needs = "--verify"},
             {.name = "--jobs",
              .to = &jobs_,
              .about = "Programs to run side by side",
              .range = OptionRange{1, 256},
              .shows_default = true,
              .needs = "--verify"},
             {.name = "--cache",
              .to = &cache_,
              .about = std::string(kCacheAbout),
              .kind = ValueKind::written_folder,
              .needs = "--verify"}});
  sub_->add("Output", {{.name = "--json",
                        .to = &json_,
                        .about = "Write the result as JSON (accsim.program/1, with --verify "
                                 "accsim.verify/1); - for stdout",
                        .kind = ValueKind::written_file}});
  trace_.add_to(*sub_);
}

int ProgramCommand::write_outputs(const ProgramReport& report,
                                  const std::vector<hw::Program>& programs) const {
  if (!json_.empty() && !verify_)
    if (const int code = write_result(json_, to_json(report)); code != kExitOk) return code;
  const auto write = [&](int64_t limit, const TextSink& sink) {
    return write_trace(report, programs, limit, sink);
  };
  if (const int code = trace_.write_pieces_of(write); code != kExitOk) return code;
  if (json_ == "-" || trace_.to_stdout()) return kExitOk;
  return print_out(to_text(report, Console::width()));
}

int ProgramCommand::run_programs(std::vector<hw::Program> programs, const hw::HwConfig& hw) const {
  if (const Status good = hw::core_runs(hw); !good) return report_errors(good.errors());
  auto cases = cases_of(std::move(programs), hw, seed_);
  if (!cases) return report_errors(cases.errors());
  const auto variant = core_variant("", cache_);
  if (!variant) return report_errors(variant.errors());
  VerifyOptions options;
  options.variant = *variant;
  options.seed = seed_;
  options.jobs = jobs_;
  options.stop = &InterruptGuard::requested();
  const InterruptGuard guard;
  Progress progress;
  options.progress = [&](int64_t, int64_t cycles, int64_t of) {
    progress(cycles, of, "cycles, " + format_left(progress.elapsed_seconds(), cycles, of));
  };
  VerifyReport report;
  report.rows = verify_cases(std::move(*cases), options);
  report.hw = hw_;
  report.model = file_;
  report.interrupted = InterruptGuard::requested();
  if (!json_.empty())
    if (const int code = write_result(json_, to_json(report)); code != kExitOk) return code;
  if (json_ != "-" && !trace_.to_stdout()) {
    const std::string text = "\n" + to_text(report, {.width = Console::width()});
    if (const int code = print_out(text); code != kExitOk) return code;
  }
  return exit_code_of(report);
}

int ProgramCommand::run(const Console&) const {
  const Result<hw::HwConfig> hw = load_machine(hw_);
  if (!hw) return report_errors(hw.errors());
  Result<std::vector<hw::Program>> programs = hw::read_programs(file_);
  if (!programs) return report_errors(programs.errors());
  const Result<ProgramReport> report = time_programs(*programs, *hw, file_);
  if (!report) return report_errors(report.errors());
  if (const int code = write_outputs(*report, *programs); code != kExitOk) return code;
  return verify_ ? run_programs(std::move(*programs), *hw) : kExitOk;
}

}  // namespace accsim::sim
