#include "sim/app/build_progress.h"

#include <fmt/format.h>

#include "sim/app/output.h"

namespace accsim::sim {
namespace {

std::string step_text(const hw::BuildStep& step) {
  using Kind = hw::BuildStep::Kind;
  switch (step.kind) {
    case Kind::waits:
      return "waiting for the Verilated core";
    case Kind::verilates:
      return "Verilated core: translating rtl/";
    case Kind::compiles:
      return fmt::format("Verilated core: {} of {} parts compiled", step.done, step.of);
    case Kind::links:
      return "Verilated core: linking";
    case Kind::ended:
      break;
  }
  return "";
}

}  // namespace

void BuildProgress::operator()(const hw::BuildStep& step) {
  if (step.kind == Kind::ended) return progress_.reset();
  const bool waits = step.kind == Kind::waits;
  if (!progress_ || waits_ != waits) {
    progress_.reset();  // takes its line away
    print_err(waits ? "accsim: another accsim builds the Verilated core of this machine; waiting\n"
                    : "accsim: building the Verilated core of this machine, once\n");
    progress_.emplace();
    waits_ = waits;
  }
  (*progress_)(fmt::format("{}, {:.0f} s", step_text(step), progress_->elapsed_seconds()));
}

}  // namespace accsim::sim
