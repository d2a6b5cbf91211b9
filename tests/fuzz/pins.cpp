// Words of a command line, one a line: how a model is to be read and mapped, a condition of
// --where, a product's size. What they say is done to a small network with symbols and a branch.
#include <cmath>
#include <sstream>

#include "hw/config/load.h"
#include "sim/app/options.h"
#include "sim/app/parser.h"
#include "sim/cost/cost.h"
#include "sim/report/roll_up.h"
#include "sim/sweep/expression.h"
#include "tests/fuzz/target.h"

namespace {

using namespace accsim;
using namespace accsim::sim;

const hw::HwConfig& machine() {
  static const hw::HwConfig hw = *hw::load_hw(ACCSIM_SOURCE_DIR "/configs/8x8.yaml");
  return hw;
}

struct Words {
  ModelOptions model;
  MappingOptions mapping, side_b;
  std::string where, by, product, seed;

  bool parse(const std::vector<std::string>& words) {
    Command program("pins", "");
    model.add_to(program, false);
    model.add_cut_to(program);
    model.add_programs_to(program);
    model.add_run_limits_to(program);
    mapping.add_to(program);
    side_b.add_to_side_b(program);
    program.add({{.name = "--where", .to = &where},
                 {.name = "--by", .to = &by},
                 {.name = "--product", .to = &product},
                 {.name = "--seed", .to = &seed}});
    const auto as_given = [](const std::string& text) { return text; };
    return parse_command_line(program, words, as_given).is_good();
  }
};

void evaluate(const std::string& text) {
  const std::vector<std::string> names = {"cycles", "dram.rate", "x"};
  const auto resolve = [&](std::string_view name) -> std::optional<size_t> {
    const auto at = std::find(names.begin(), names.end(), name);
    if (at == names.end()) return std::nullopt;
    return static_cast<size_t>(at - names.begin());
  };
  const auto expression = Expression::parse(text, resolve, names);
  if (!expression) return;
  for (const size_t v : expression->variables()) check(v < names.size(), "an unknown variable");
  for (const double x : {0.0, 1.0, -2.5, 1e300, std::nan("")}) {
    const std::array<double, 3> values = {x, 1, -x};
    expression->holds(values);
    expression->value(values);
  }
}

void cost(const Words& words) {
  auto options = words.model.to_elaborate_options();
  const auto map = words.mapping.to_map_options();
  static_cast<void>(words.side_b.merged_over(words.mapping).to_map_options().ok());
  if (!options || !map) return;
  const Limits most = test::small_limits();
  Limits& limits = options->limits;
  limits.nodes = std::min(limits.nodes, most.nodes);
  limits.graph_bytes = std::min(limits.graph_bytes, most.graph_bytes);
  limits.rank = std::min(limits.rank, most.rank);
  limits.programs = std::min(limits.programs, most.programs);
  options->bindings.emplace(kAllOthers, 4);
  const auto graph = load_graph(ACCSIM_SOURCE_DIR "/tests/fuzz/files/net.onnx", *options);
  if (!graph) return;
  auto costed = cost_network(*graph, machine(), *map, limits.programs);
  const auto grouping = grouping_from(words.by);
  if (costed && grouping) roll_up(*grouping, costed->report);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::vector<std::string> given;
  std::istringstream lines{std::string(test::text_of(data, size))};
  for (std::string line; std::getline(lines, line) && given.size() < 30;) given.push_back(line);
  Words words;
  if (!words.parse(given)) return 0;
  evaluate(words.where);
  static_cast<void>(parse_product(words.product, "--product").ok());
  random_seed(words.seed);
  cost(words);
  return 0;
}
