// A machine's YAML: one that is accepted is printed as itself, and costs a small product.
#include "hw/area/area.h"
#include "hw/config/load.h"
#include "sim/cost/cost.h"
#include "sim/report/json.h"
#include "sim/rewrite/gemm_model.h"
#include "sim/sweep/field_setting.h"
#include "tests/fuzz/target.h"

namespace {

using namespace accsim;
using namespace accsim::sim;

const Graph& product() {
  static const Graph graph = [] {
    GemmModelOptions options;
    options.m = 20;
    options.k = 30;
    options.n = 40;
    options.bias = true;
    return *load_graph(test::input_file("product.onnx", *gemm_model(options)), {});
  }();
  return graph;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto machine = hw::parse_hw(test::text_of(data, size), "input.yaml");
  if (!machine) return 0;
  const auto again = hw::parse_hw(hw::print_hw(*machine), "again.yaml");
  check(again.ok(), "a machine is printed as none");
  check(machine_text(*machine) == machine_text(*again), "a machine is printed as another one");
  check(hw::area_mm2(*machine) > 0 && hw::sram_bytes(*machine) > 0, "a machine without area");
  MapOptions map;
  map.effort = MapEffort::rule;
  const auto costed = cost_network(product(), *machine, map);
  if (costed) to_json(costed->report);
  return 0;
}
