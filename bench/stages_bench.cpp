// The stages of the main job one by one: import, lowering, mapping, and both timing modes.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "hw/config/load.h"
#include "hw/timing/timing.h"
#include "sim/flow/cost.h"
#include "sim/lower/lower.h"
#include "sim/onnx/reader.h"
#include "sim/ops/elaborate.h"

namespace accsim {
namespace {

const std::string kSource = ACCSIM_SOURCE_DIR;
const std::vector<std::string> kNetworks = {"resnet50_op17", "mobilenet_v2_op13", "bert_base_op17",
                                            "gpt2_small_op17", "llama3_8b_layer_decode1024_op17"};

std::string model_path(const std::string& network) {
  return kSource + "/models/" + network + ".onnx";
}

HwConfig machine() { return *load_hw(kSource + "/configs/64x64.yaml"); }

void read(benchmark::State& state, const std::string& network) {
  for (auto _ : state) benchmark::DoNotOptimize(read_model(model_path(network)));
}

void import_model(benchmark::State& state, const std::string& network) {
  for (auto _ : state) benchmark::DoNotOptimize(load_graph(model_path(network), {}));
}

void lower_graph(benchmark::State& state, const std::string& network) {
  const Result<Graph> graph = load_graph(model_path(network), {});
  for (auto _ : state) benchmark::DoNotOptimize(lower(*graph));
}

/// Lowering, residency, the mapping search with its timing, and the report.
void cost(benchmark::State& state, const std::string& network) {
  const Result<Graph> graph = load_graph(model_path(network), {});
  const HwConfig hw = machine();
  for (auto _ : state) benchmark::DoNotOptimize(cost_network(*graph, hw, {}));
}

/// Times every program of a network, each layer's own.
void time_programs(benchmark::State& state, const std::string& network, TimingMode mode) {
  const Result<Graph> graph = load_graph(model_path(network), {});
  const HwConfig hw = machine();
  const Result<CostedNetwork> costed = cost_network(*graph, hw, {});
  int64_t programs = 0;
  for (auto _ : state)
    for (const auto& layer : costed->mappings)
      for (const auto& mapping : layer) {
        benchmark::DoNotOptimize(simulate(mapping->program, hw, mode));
        ++programs;
      }
  state.SetItemsProcessed(programs);
}

void load_machine(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(machine());
}

void register_all() {
  benchmark::RegisterBenchmark("load_hw/64x64", load_machine)->Unit(benchmark::kMicrosecond);
  for (const std::string& network : kNetworks) {
    const auto add = [&](const std::string& stage, auto&& function) {
      benchmark::RegisterBenchmark((stage + "/" + network).c_str(), function)
          ->Unit(benchmark::kMicrosecond);
    };
    add("read_model", [=](benchmark::State& s) { read(s, network); });
    add("import", [=](benchmark::State& s) { import_model(s, network); });
    add("lower", [=](benchmark::State& s) { lower_graph(s, network); });
    add("cost", [=](benchmark::State& s) { cost(s, network); });
    add("timing_step", [=](benchmark::State& s) { time_programs(s, network, TimingMode::step); });
    add("timing_periodic",
        [=](benchmark::State& s) { time_programs(s, network, TimingMode::periodic); });
  }
}

}  // namespace
}  // namespace accsim

int main(int argc, char** argv) {
  accsim::register_all();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
