// Speed of hw/engines: a thousand programs of VTA's measured rows, made of their layers and timed.
#include <benchmark/benchmark.h>

#include "tests/hw/engines/measured.h"

namespace {

using namespace accsim;

constexpr size_t kPrograms = 1000;

void thousand_programs(benchmark::State& state) {
  std::vector<hw::TiledLayer> layers;
  std::vector<hw::EngineMachine> machines;
  for (const MeasuredRow& row : measured_rows("vta_rtl.csv")) {
    layers.push_back(hw::measured_layer(row));
    machines.push_back(hw::measured_machine(row));
  }
  int64_t cycles = 0;
  for (auto _ : state) {
    cycles = 0;
    for (size_t i = 0; i < kPrograms; ++i) {
      const size_t row = i % layers.size();
      const auto program = hw::make_tiled_program(layers[row], machines[row]);
      cycles += hw::time_engine_program(program->commands, machines[row])->count();
    }
  }
  state.counters["cycles"] = static_cast<double>(cycles);
}
BENCHMARK(thousand_programs)->Unit(benchmark::kMillisecond);

}  // namespace
