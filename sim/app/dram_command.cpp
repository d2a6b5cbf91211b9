#include "sim/app/dram_command.h"

#include <fmt/format.h>

#include <cmath>
#include <optional>
#include <utility>

#include "hw/dram/closed_form.h"
#include "hw/dram/cost.h"
#include "hw/dram/stepped.h"
#include "sim/app/cli.h"
#include "sim/app/console.h"
#include "sim/app/output.h"
#include "sim/app/paths.h"
#include "sim/base/parse_number.h"
#include "sim/report/table.h"

namespace accsim::sim {
namespace {

constexpr int64_t kLongestRun = int64_t{1} << 40;
constexpr std::string_view kGrammar =
    "a pattern is sequential, random:RUN or strided:RUN:STRIDE, in bytes, with an optional @SHARE "
    "of writes from 0 to 1, e.g. random:256@0.33";

/// "random:256@0.33"; empty when it isn't a pattern.
std::optional<hw::DramPattern> parse_pattern(std::string_view text) {
  hw::DramPattern out;
  if (const size_t at = text.find('@'); at != std::string_view::npos) {
    const auto writes = parse_number<double>(text.substr(at + 1));
    if (!writes || !(*writes >= 0 && *writes <= 1)) return std::nullopt;
    out.write_share = *writes;
    text = text.substr(0, at);
  }
  const std::vector<std::string_view> parts = split_text(text, ':');
  const auto number = [&](size_t i) {
    const auto value = parse_number<int64_t>(parts[i]);
    return value && *value >= 1 && *value <= kLongestRun ? value : std::nullopt;
  };
  if (parts[0] == "sequential" && parts.size() == 1) return out;
  const bool random = parts[0] == "random" && parts.size() == 2;
  const bool strided = parts[0] == "strided" && parts.size() == 3;
  if ((!random && !strided) || !number(1) || (strided && !number(2))) return std::nullopt;
  out.walk = random ? hw::DramWalk::random : hw::DramWalk::strided;
  out.run = *number(1);
  if (strided) out.stride = *number(2);
  return out;
}

/// Percent with a sign, but for what is rounded to 0.
std::string percent_text(double percent) {
  std::string text = fmt::format("{:+.1f}", percent);
  if (text == "-0.0" || text == "+0.0") text.erase(0, 1);
  return text;
}

std::vector<std::string> default_patterns(int64_t burst_bytes) {
  std::vector<std::string> out = {"sequential", "sequential@1", "sequential@0.333"};
  for (int64_t run = burst_bytes; run <= burst_bytes * 1024; run *= 4) {
    out.push_back(fmt::format("random:{}", run));
    out.push_back(fmt::format("random:{}@1", run));
  }
  return out;
}

std::string dram_heading(const hw::HwConfig& hw, const hw::DramSystem& system) {
  const hw::DramDevice& d = system.device;
  return fmt::format(
      "DRAM          {} ({}), {} channel{} of {} ({})\n"
      "              peak {:.1f} GB/s; bursts of {} bytes, {} banks in {} group{}, rows of {} "
      "bytes\n"
      "              {}, refresh every {} clocks of {:.3f} ns\n\n",
      d.name, d.standard, system.channels, system.channels == 1 ? "" : "s", d.part, hw.file,
      d.peak_mb_per_s() * static_cast<double>(system.channels) / 1000, d.burst_bytes(),
      d.all_banks(), d.bank_groups, d.bank_groups == 1 ? "" : "s", d.row_bytes, name(system.map),
      d.t.refi, 1000 / d.clock_mhz);
}

}  // namespace

void HwDramCommand::add_to(Command& hw) {
  sub_ = &hw.add_command("dram",
                         "Step access patterns through the machine's DRAM and print their rates");
  sub_->add({{.name = "file",
              .to = &file_,
              .about = "Machine with dram.model: banked, e.g. 64x64-ddr4",
              .kind = ValueKind::machine,
              .required = true},
             {.name = "--pattern",
              .to = &patterns_,
              .about = "An access pattern: " + std::string(kGrammar),
              .metavar = "PATTERN",
              .offers = {"sequential"}},
             {.name = "--bursts",
              .to = &bursts_,
              .about = "Bursts to step per pattern",
              .range = OptionRange{1, 100'000'000},
              .shows_default = true}});
}

int HwDramCommand::run() const {
  const auto machine = load_machine(file_);
  if (!machine) return report_errors(machine.errors());
  if (machine->dram_model != hw::DramModel::banked) {
    return report_errors({{Errc::invalid,
                           "this machine's DRAM is ideal: it has no banks; give one with "
                           "dram.model: banked, e.g. configs/64x64-ddr4.yaml",
                           file_}});
  }
  const hw::DramSystem system = hw::dram_system(*machine);
  const double peak = system.device.peak_mb_per_s() * static_cast<double>(system.channels) / 1000;
  TextTable table({{"pattern", "", true},
                   {"stepped", "%"},
                   {"", "GB/s"},
                   {"closed form", "%"},
                   {"", "GB/s"},
                   {"differ", "%"},
                   {"activates", "/burst"}});
  Errors errors;
  for (const std::string& text :
       patterns_.empty() ? default_patterns(system.device.burst_bytes()) : patterns_) {
    const auto pattern = parse_pattern(text);
    if (!pattern) {
      errors.push_back(
          {Errc::usage, fmt::format("\"{}\" isn't one: {}", text, kGrammar), "--pattern"});
      continue;
    }
    const hw::DramRun stepped = hw::run_stepped(system, *pattern, bursts_);
    const double closed = hw::estimate_dram(system, *pattern).efficiency;
    table.add({{text, fmt::format("{:.1f}", stepped.efficiency * 100),
                fmt::format("{:.1f}", stepped.efficiency * peak),
                fmt::format("{:.1f}", closed * 100), fmt::format("{:.1f}", closed * peak),
                percent_text((closed / stepped.efficiency - 1) * 100),
                fmt::format("{:.3f}", static_cast<double>(stepped.counts.activates) /
                                          static_cast<double>(stepped.bursts))}});
  }
  if (!errors.empty()) return report_errors(errors);
  std::string out =
      wrap_lines(printable(dram_heading(*machine, system), "\n"), Console::width(), 14);
  for (const std::string& line : table.folded_lines(Console::width(), false)) out += line + "\n";
  return print_out(out);
}

}  // namespace accsim::sim
