#include <fmt/format.h>

#include <utility>

#include "hw/golden/machine.h"
#include "sim/abi/boundary.h"
#include "sim/abi/cases.h"
#include "sim/abi/machine.h"
#include "sim/program/product_words.h"

namespace accsim::abi {
namespace {

/// The latest number of a random case: those before it are drawn to get to it.
constexpr int64_t kLastRandom = 10'000'000;

int32_t give_run(Result<std::unique_ptr<accsim_run>> made, accsim_run** run) {
  if (!made) return say_message(made.errors());
  *run = made->release();
  return ACCSIM_OK;
}

int32_t open_product(const accsim_machine& machine, const Result<sim::GemmOp>& op,
                     const std::string& name, uint64_t seed, accsim_run** run) {
  if (!op) return say_message(op.errors(), ACCSIM_ARGUMENT);
  return give_run(product_run(*op, name, machine.hw, seed), run);
}

}  // namespace
}  // namespace accsim::abi

using namespace accsim;
using namespace accsim::abi;

int32_t accsim_open_product(const accsim_machine* machine, int64_t m, int64_t k, int64_t n,
                            uint64_t seed, accsim_run** run) {
  if (run) *run = nullptr;
  return call_guarded({{"machine", machine}, {"run", run}}, [&] {
    const std::string sizes = fmt::format("{}x{}x{}", m, k, n);
    return open_product(*machine, sim::parse_gemm(sizes, "m, k, n"), "gemm " + sizes, seed, run);
  });
}

int32_t accsim_open_conv(const accsim_machine* machine, const char* numbers, uint64_t seed,
                         accsim_run** run) {
  if (run) *run = nullptr;
  return call_guarded({{"machine", machine}, {"numbers", numbers}, {"run", run}}, [&] {
    const std::string sizes = numbers;
    return open_product(*machine, sim::parse_conv(sizes, "numbers"), "conv " + sizes, seed, run);
  });
}

int32_t accsim_open_random(const accsim_machine* machine, uint64_t seed, int64_t index,
                           accsim_run** run) {
  if (run) *run = nullptr;
  return call_guarded({{"machine", machine}, {"run", run}}, [&] {
    if (index < 0 || index > kLastRandom) return say_range("index", index, 0, kLastRandom);
    // No program is drawn for a machine that golden doesn't know.
    if (Status s = hw::can_run({}, machine->hw, {}); !s) return say_message(s.errors());
    return give_run(random_run(machine->hw, seed, index), run);
  });
}

int32_t accsim_open_model(const accsim_machine* machine, const char* file, const char* layer,
                          uint64_t seed, accsim_run** run) {
  if (run) *run = nullptr;
  return call_guarded({{"machine", machine}, {"file", file}, {"run", run}}, [&] {
    if (Status s = hw::can_run({}, machine->hw, {}); !s) return say_message(s.errors());
    return give_run(model_run(file, layer ? layer : "", machine->hw, seed), run);
  });
}

void accsim_close(accsim_run* run) { delete run; }

int32_t accsim_commands(const accsim_run* run, int64_t* commands) {
  return call_guarded({{"run", run}, {"commands", commands}}, [&] {
    *commands = run->command_times().command_count();
    return int32_t{ACCSIM_OK};
  });
}

int32_t accsim_cycles(const accsim_run* run, int64_t* cycles) {
  return call_guarded({{"run", run}, {"cycles", cycles}}, [&] {
    *cycles = run->command_times().total_cycles();
    return int32_t{ACCSIM_OK};
  });
}
