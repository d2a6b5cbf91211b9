// The stages of the main job one by one: import, lowering, mapping, and timing both ways.
#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <string>
#include <vector>

#include "hw/config/load.h"
#include "hw/golden/golden.h"
#include "hw/timing/timing.h"
#include "sim/cost/cost.h"
#include "sim/cost/workload.h"
#include "sim/elaborate/elaborate.h"
#include "sim/lower/lower.h"
#include "sim/map/product/heuristic_tiling.h"
#include "sim/onnx/reader.h"

namespace accsim::sim {
namespace {

const std::string kSource = ACCSIM_SOURCE_DIR;
const std::vector<std::string> kNetworks = {"resnet50_op17", "mobilenet_v2_op13", "bert_base_op17",
                                            "gpt2_small_op17", "llama3_8b_layer_decode1024_op17"};

std::string model_path(const std::string& network) {
  return kSource + "/models/" + network + ".onnx";
}

hw::HwConfig machine() { return *hw::load_hw(kSource + "/configs/64x64.yaml"); }

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
  const hw::HwConfig hw = machine();
  for (auto _ : state) benchmark::DoNotOptimize(cost_network(*graph, hw, {}));
}

/// The mapping of a network's distinct ops, each time on a machine that hasn't been seen yet.
void map_distinct(benchmark::State& state, const std::string& network, MapEffort effort) {
  hw::HwConfig hw = machine();
  MapOptions options;
  options.effort = effort;
  Workload workload = Workload::prepare(*load_graph(model_path(network), {})).value();
  benchmark::DoNotOptimize(workload.cost(hw, options));  // finds the distinct ops
  for (auto _ : state) {
    hw.dram.latency = 50 + (hw.dram.latency - 49) % 100'000;
    benchmark::DoNotOptimize(workload.cost(hw, options));
  }
}

/// What was mapped to the array.
std::vector<GemmSource> mapped_products(const CostedNetwork& costed) {
  std::vector<GemmSource> out;
  for (const auto& layer : costed.mappings)
    for (const auto& mapping : layer)
      if (const auto* product = mapping->source_as<GemmSource>()) out.push_back(*product);
  return out;
}

/// Exact timing of mapped products from their tilings, and of the same from their programs step by
/// step.
void time_tilings(benchmark::State& state, const std::vector<GemmSource>& products) {
  const hw::HwConfig hw = machine();
  CostEvaluator coster(hw);
  for (auto _ : state)
    for (const GemmSource& p : products) benchmark::DoNotOptimize(coster.cost(p.problem, p.tiling));
  state.counters["us_each"] = benchmark::Counter(
      static_cast<double>(products.size()) * 1e-6,
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void step_programs(benchmark::State& state, const std::vector<GemmSource>& products) {
  const hw::HwConfig hw = machine();
  std::vector<hw::Program> programs;
  for (const GemmSource& p : products) programs.push_back(emit(p.problem, hw, p.tiling));
  for (auto _ : state)
    for (const hw::Program& p : programs)
      benchmark::DoNotOptimize(hw::simulate(p, hw, hw::TimingMode::step));
}

/// 4096 x 4096 x 11008, a layer of a 7-billion-parameter language model.
GemmSource large_product() {
  const hw::HwConfig hw = machine();
  GemmOp op;
  op.in = op.out = {1, 1, 4096};
  op.channels = 4096;
  op.outputs = 11008;
  OpRequest request;
  request.item = op;
  request.inputs = {{{"a", hw::MemoryId::dram, false}, 1}, {{"b", hw::MemoryId::dram, true}, 1}};
  request.outputs = {{{"y", hw::MemoryId::dram, false}, 1}};
  return *(*Mapper(hw, {}).map(request, "large"))->source_as<GemmSource>();
}

/// The bit-exact machine on a product of 256 x 256 x 256, operands random; MACs a second.
void golden_product(benchmark::State& state) {
  const hw::HwConfig hw = machine();
  GemmOp op;
  op.in = op.out = {1, 1, 256};
  op.channels = op.outputs = 256;
  GemmProblem p = make_problem(op, hw);
  p.b.constant = true;
  p.has_parameters = true;
  const hw::Program program =
      emit(p, hw, *heuristic_tiling(p, hw, hw::Dataflow::weight_stationary));
  hw::MemoryImage image;
  for (const hw::ProgramTensor& t : program.tensors) {
    image.emplace_back(static_cast<size_t>(t.bytes));
    for (size_t i = 0; i < image.back().size(); ++i)
      image.back()[i] = static_cast<uint8_t>(i * 37);  // shifts of the post unit: below 63
  }
  for (size_t i = 8; i < image.back().size(); i += 12) image.back()[i] = 20;
  for (size_t i = 9; i < image.back().size(); ++i)
    if (i % 12 >= 9) image.back()[i] = 0;
  for (auto _ : state) benchmark::DoNotOptimize(hw::run_golden(program, hw, image));
  state.SetItemsProcessed(state.iterations() * op.macs());
}

void load_machine(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(machine());
}

void register_all() {
  benchmark::RegisterBenchmark("load_hw/64x64", load_machine)->Unit(benchmark::kMicrosecond);
  for (const std::string& network : kNetworks) {
    const auto add = [&](const std::string& stage, auto&& function) {
      benchmark::RegisterBenchmark(fmt::format("{}/{}", stage, network).c_str(), function)
          ->Unit(benchmark::kMicrosecond);
    };
    add("read_model", [=](benchmark::State& s) { read(s, network); });
    add("import", [=](benchmark::State& s) { import_model(s, network); });
    add("lower", [=](benchmark::State& s) { lower_graph(s, network); });
    add("cost", [=](benchmark::State& s) { cost(s, network); });
    add("map_search", [=](benchmark::State& s) { map_distinct(s, network, MapEffort::search); });
    add("map_rule", [=](benchmark::State& s) { map_distinct(s, network, MapEffort::rule); });
    const auto products =
        mapped_products(*cost_network(*load_graph(model_path(network), {}), machine(), {}));
    add("timing_exact", [=](benchmark::State& s) { time_tilings(s, products); });
    add("timing_step", [=](benchmark::State& s) { step_programs(s, products); });
  }
  benchmark::RegisterBenchmark("golden/256x256x256", golden_product)->Unit(benchmark::kMicrosecond);
  const std::vector<GemmSource> large = {large_product()};
  for (const bool step : {false, true})
    benchmark::RegisterBenchmark(
        step ? "timing_step/4096x4096x11008" : "timing_exact/4096x4096x11008",
        [=](benchmark::State& s) { step ? step_programs(s, large) : time_tilings(s, large); })
        ->Unit(benchmark::kMicrosecond);
}

}  // namespace
}  // namespace accsim::sim

int main(int argc, char** argv) {
  accsim::sim::register_all();
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
