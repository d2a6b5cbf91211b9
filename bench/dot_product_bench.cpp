// Speed of hw/dot_product: the convolutions of ResNet-50 on nv_small, with the compiler's division
// of the buffer (searched where it has none), and with a search for each.
#include <benchmark/benchmark.h>

#include <optional>

#include "hw/dot_product/division.h"
#include "tests/hw/dot_product/measured.h"

namespace {

using namespace accsim::hw;

void resnet50_pinned(benchmark::State& state) {
  const std::vector<Convolution> network = resnet50();
  std::vector<BankDivision> banks;
  for (const Convolution& conv : network) {
    const accsim::Result<BankDivision> division = compiler_division(conv, kSmall);
    banks.push_back(division ? *division : search_division(conv, kSmall)->banks);
  }
  int64_t cycles = 0;
  for (auto _ : state) {
    cycles = 0;
    for (size_t i = 0; i < network.size(); ++i)
      cycles += divide(network[i], banks[i], kSmall)->cycles.count();
  }
  state.counters["cycles"] = static_cast<double>(cycles);
}
BENCHMARK(resnet50_pinned)->Unit(benchmark::kMillisecond);

void resnet50_searched(benchmark::State& state) {
  const std::vector<Convolution> network = resnet50();
  int64_t cycles = 0;
  for (auto _ : state) {
    cycles = 0;
    for (const Convolution& conv : network) cycles += search_division(conv, kSmall)->cycles.count();
  }
  state.counters["cycles"] = static_cast<double>(cycles);
}
BENCHMARK(resnet50_searched)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
