// A model's bytes as far as its reports: inspect's, and the main job's on a small machine.
#include <nlohmann/json.hpp>

#include "hw/config/load.h"
#include "sim/analyse/analysis.h"
#include "sim/cost/cost.h"
#include "sim/lower/lower_each.h"
#include "sim/report/csv.h"
#include "sim/report/inspect.h"
#include "sim/report/json.h"
#include "sim/report/shapes.h"
#include "sim/report/text.h"
#include "tests/fuzz/target.h"

namespace {

using namespace accsim;
using namespace accsim::sim;

const hw::HwConfig& machine() {
  static const hw::HwConfig hw = *hw::load_hw(ACCSIM_SOURCE_DIR "/configs/8x8.yaml");
  return hw;
}

void inspect(const std::string& file, ElaborateOptions options) {
  options.as_written = true;
  const auto graph = load_graph(file, options);
  if (!graph) return;
  const auto lowered = lower_each(*graph);
  if (!lowered) return;
  const auto analysis = analyse(*graph, *lowered, {.in_place = true, .reorder = true});
  if (!analysis) return;
  const Inspection inspection{*graph, *lowered, *analysis};
  check(nlohmann::json::accept(inspect_json(inspection)), "inspect's JSON is none");
  inspect_csv(inspection, LayerSort::macs);
  inspect_text(inspection, {.all_nodes = true, .arena = true});
}

void cost(const std::string& file, const ElaborateOptions& options) {
  const auto graph = load_graph(file, options);
  if (!graph) return;
  MapOptions map;
  map.effort = graph->nodes.size() <= 3 ? MapEffort::search : MapEffort::rule;
  const auto costed = cost_network(*graph, machine(), map, options.limits.programs);
  if (!costed) return;
  check(nlohmann::json::accept(to_json(costed->report)), "the report's JSON is none");
  to_csv(costed->report);
  to_text(costed->report, {});
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string& file = test::input_file("input.onnx", test::text_of(data, size));
  ElaborateOptions options;
  options.limits = test::small_limits();
  options.allow_unsupported = size % 2 == 1;
  if (size % 3 != 0) options.bindings.emplace(kAllOthers, 1);
  inspect(file, options);
  cost(file, options);
  return 0;
}
