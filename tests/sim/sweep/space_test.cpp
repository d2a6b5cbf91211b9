#include "sim/sweep/space.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>

#include "hw/config/load.h"
#include "sim/sweep/box_bounds.h"
#include "sim/sweep/evaluate.h"
#include "tests/sim/onnx/wire_writer.h"
#include "tests/support/costing_samples.h"
#include "tests/support/source.h"
#include "tests/support/temp_path.h"

namespace accsim::sim {
namespace {

Result<SweepSpec> load_spec(const std::string& axes_and_more, const std::string& models = "") {
  const std::string path = test::temp_path("spec.yaml");
  std::ofstream(path) << "base: " << kSource << "/configs/64x64.yaml\n"
                      << (models.empty()
                              ? "models: [{file: " + kSource + "/models/squeezenet1_1_op13.onnx}]\n"
                              : models)
                      << axes_and_more;
  return load_sweep(path);
}

constexpr const char* kAxes = R"(
axes:
  act: {field: buffers.activation.kib, powers_of_two: [64, 256]}
  gbps:
    range: {from: 10, to: 11, step: 0.5}
    fields: {dram.read_bytes_per_cycle: gbps * 2, dram.write_bytes_per_cycle: gbps}
  size: {fields: {array.rows: [16, 32], array.cols: [8, 64]}}
  flow: {field: array.dataflows, values: [[weight_stationary],[weight_stationary,input_stationary]]}
)";

TEST(Spec, IsAnUnknownOperatorOnlyCostedWhenAllowed) {
  std::string bytes = test::model_of(test::relu_graph()).bytes();
  bytes.replace(bytes.find("Relu"), 4, "Reln");
  const std::string file = test::write_temp("unknown_operator.onnx", bytes);
  const auto models = [&](const std::string& more) {
    return "models: [{file: " + file + ", bind: {n: 1}" + more + "}]\n";
  };
  const auto refused = load_spec(kAxes, models(""));
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.errors().front().message.find("allow_unsupported: true"), std::string::npos);
  EXPECT_NE(refused.errors().back().text().find("Reln"), std::string::npos);
  const auto spec = load_spec(kAxes, models(", allow_unsupported: true"));
  ASSERT_TRUE(spec.ok()) << spec.errors().front().text();
  auto evaluator = Evaluator::create(*spec);
  ASSERT_TRUE(evaluator.ok());
  const PointRow row = evaluator->evaluate_point(0);
  // Two elements in and two out, a byte each on this machine.
  EXPECT_EQ(row.totals.dram_read_bytes, 2);
  EXPECT_EQ(row.totals.dram_write_bytes, 2);
  EXPECT_FALSE(load_spec(kAxes, models(", allow_unsupported: 1")).ok());
}

TEST(Spec, SaysWhatAModelMayAskFor) {
  const std::string file = kSource + "/models/squeezenet1_1_op13.onnx";  // images: four dims
  const auto with = [&](const std::string& limit) {
    return load_spec(kAxes, "models: [{file: " + file + ", " + limit + "}]\n");
  };
  const auto refused = with("max_rank: 3");
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.errors().front().message.find("max_rank"), std::string::npos);
  EXPECT_NE(refused.errors().back().text().find("at most 3"), std::string::npos);
  const auto spec = with("max_rank: 4, max_nodes: 0, max_graph_mib: 2");
  ASSERT_TRUE(spec.ok()) << spec.errors().front().text();
  const Limits& limits = spec->models[0].options.elaborate.limits;
  EXPECT_EQ(limits.rank, 4);
  EXPECT_EQ(limits.nodes, 0);
  EXPECT_EQ(limits.graph_bytes, 2 << 20);
  EXPECT_FALSE(with("max_rank: 0").ok());
  EXPECT_FALSE(with("max_graph_mib: 1.5").ok());
}

/// A spec with a key of an option, of the spec or of its model.
Result<SweepSpec> load_option(const CostingOption& row, const std::string& word) {
  const std::string key = row.key() + ": " + word;
  if ((row.uses & kSpecKeys) != 0) return load_spec(kAxes + key + "\n");
  return load_spec(
      kAxes, "models: [{file: " + kSource + "/models/squeezenet1_1_op13.onnx, " + key + "}]\n");
}

TEST(Spec, TakesAndRefusesOptionsAsACommandLineDoes) {
  for (const CostingOption* row : options_for(kSpecKeys | kModelKeys)) {
    if (row->is_assignment()) continue;  // NAME=N is NAME: N here
    const test::Samples samples = test::samples_of(*row);
    const auto spec = load_option(*row, samples.good.front());
    ASSERT_TRUE(spec.ok()) << spec.errors().front().text();
    EXPECT_EQ(option_words(*row, {spec->models[0].options.elaborate, spec->mapping}), samples.good);
    for (const std::string& word : samples.bad) {
      CostingOptions options;
      const Errors refused = take_option(*row, {word}, options);
      const auto none = load_option(*row, word);
      ASSERT_FALSE(none.ok()) << row->key() << ": " << word;
      EXPECT_EQ(none.errors().front().message, row->key() + ": " + refused.front().message);
    }
  }
}

TEST(Spec, BoundsTheNodesOfAllModelsTogether) {
  const std::string file = "{file: " + kSource + "/models/squeezenet1_1_op13.onnx}";
  const int64_t nodes =
      std::ssize(load_spec(kAxes, "models: [" + file + "]\n")->models[0].graph.nodes);
  const auto with = [&](int64_t most, int models) {
    std::string list = file;
    for (int i = 1; i < models; ++i) list += ", " + file;
    return load_spec(kAxes, fmt::format("models: [{}]\nmax_total_nodes: {}\n", list, most));
  };
  EXPECT_TRUE(with(3 * nodes, 3).ok());
  EXPECT_TRUE(with(1, 1).ok());
  const auto refused = with(3 * nodes - 1, 5);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.errors().size(), 1U);
  EXPECT_NE(
      refused.errors()[0].message.find(fmt::format("the first 3 models have {} nodes", 3 * nodes)),
      std::string::npos)
      << refused.errors()[0].message;
  EXPECT_NE(refused.errors()[0].message.find("max_total_nodes: N"), std::string::npos);
}

TEST(Space, PointsSetExactlyTheAxesFields) {
  const auto spec = load_spec(kAxes);
  ASSERT_TRUE(spec.ok()) << spec.errors().front().text();
  const Space space(*spec);
  ASSERT_EQ(space.size(), 3 * 3 * 2 * 2);
  const hw::HwConfig base = *hw::load_hw(kSource + "/configs/64x64.yaml");
  std::set<std::string> configs;
  for (int64_t p = 0; p < space.size(); ++p) {
    const AxisSteps s = space.steps_of_point(p);
    EXPECT_EQ(space.point_of_steps(s), p);
    hw::HwConfig expected = base;
    expected.buffers[0].kib = 64 << s[0];
    expected.dram.write.milli = 10'000 + 500 * s[1];
    expected.dram.read.milli = 2 * expected.dram.write.milli;
    expected.array.rows = s[2] == 0 ? 16 : 32;
    expected.array.cols = s[2] == 0 ? 8 : 64;
    expected.array.dataflows = {hw::Dataflow::weight_stationary};
    if (s[3] == 1) expected.array.dataflows.push_back(hw::Dataflow::input_stationary);
    EXPECT_EQ(machine_text(space.machine_at(s)), machine_text(expected)) << p;
    configs.insert(config_hash(space.machine_at(s)));
  }
  EXPECT_EQ(configs.size(), static_cast<size_t>(space.size())) << "two machines have one name";
}

TEST(Space, RandomPointsAreDistinctLegalAndRepeatable) {
  const auto draw = [&](int seed, int count) {
    const auto spec =
        load_spec(std::string(kAxes) + "strategy: random\nseed: " + std::to_string(seed) +
                  "\ncount: " + std::to_string(count) +
                  "\nconstraints: [act <= 128, array.rows * gbps < 330]\n");
    EXPECT_TRUE(spec.ok()) << spec.errors().front().text();
    PointSource source(*spec);
    Space space(*spec);
    std::vector<int64_t> out;
    for (int64_t p = source.next_point(); p >= 0; p = source.next_point()) {
      const hw::HwConfig hw = space.machine_at(space.steps_of_point(p));
      EXPECT_LE(hw.buffers[0].kib, 128);
      EXPECT_LT(static_cast<double>(hw.array.rows) * hw.dram.write.value(), 330);
      out.push_back(p);
    }
    EXPECT_EQ(std::set<int64_t>(out.begin(), out.end()).size(), out.size());
    return out;
  };
  const auto ten = draw(1, 10);
  EXPECT_EQ(ten.size(), 10u);
  EXPECT_EQ(ten, draw(1, 10));
  EXPECT_NE(ten, draw(2, 10));
  // By hand: 2 act x 2 flow x (3 gbps with 16 rows + 1 with 32).
  EXPECT_EQ(draw(1, 36).size(), 16u);
}

TEST(Spec, SaysWhatIsWrongWithFileAndLine) {
  const std::string axis = "axes: {a: {field: buffers.activation.kib, ";
  const std::pair<std::string, const char*> cases[] = {
      {"axes: {a: {field: buffers.activaton.kib, values: [1]}}",
       "did you mean \"buffers.activation.kib\""},
      {axis + "values: []}}", "has no values"},
      {axis + "range: {from: 9, to: 1, step: 1}}}", "range is empty"},
      {axis + "powers_of_two: [3, 8]}}", "both powers of two"},
      {axis + "values: [64, 64]}}", "make the same machine"},
      {axis + "values: [-1]}}", "out of range"},
      {axis + "values: [1.5]}}", "whole number"},
      {axis + "value: [64]}}", "did you mean \"values\""},
      {axis + "values: [64]}}\nconstraints: [a + b < 3]", "\"b\" is no known name"},
      {axis + "values: [64]}}\nobjectives: [speed]", "no objective"},
      {axis + "values: [64]}}\nobjectives: [cycle]", "did you mean \"cycles\""},
      {axis + "values: [64]}}\nobjectives: cycles", "what mappings are chosen by is objective"},
      {axis + "values: [64]}}\nobjective: [edp]", "what points are compared by is objectives"},
      {axis + "values: [64]}}\nobjective: area",
       "objective: area not in {cycles,energy,edp,traffic}"},
      {axis + "values: [64]}}\nmapping: edp", "no key \"mapping\"; it is called \"objective\" now"},
      {"axes: {a: {fields: {array.rows: [1, 2], array.rows: [1, 2]}}}", "set twice"},
      {"axes: {a: {field: dram.channels, values: [1, 2]}}",
       "only of machines with dram.model banked"},
      {"axes: {a: {field: dram.bus, values: [separate, shared]}}", "sweep two machines"},
      {"axes: {a: {field: buffers.shared.weights, values: [read, kept]}}", "sweep two machines"},
      {axis + "values: [64]}}\nconstraints: [dram.channels > 1]", "no known name"},
      {axis + "values: [64]}}\nstrategy: random", "needs count"},
      {axis + "values: [64]}}\nseed: 3", "of strategy random"},
      {axis + "values: [64]}}\ncolour: red", "no key \"colour\""},
      {axis + "values: [64]}, b: {field: buffers.activation.kib, values: [64]}}", "link them"},
      {"axes: {cycles: {field: clock_mhz, values: [1]}}", "can't name an axis"},
      {"axes: {a: {fields: {array.rows: [1, 2], array.cols: [1]}}}", "of one length"},
      {"axes: {}", "at least one axis"},
      {"strategy: grid", "missing key \"axes\""},
  };
  for (const auto& [text, message] : cases) {
    const auto spec = load_spec(text + "\n");
    ASSERT_FALSE(spec.ok()) << text;
    const std::string said = spec.errors().front().text();
    EXPECT_NE(said.find(message), std::string::npos) << said;
    EXPECT_NE(said.find("spec.yaml:"), std::string::npos) << said;
  }
}

TEST(Spec, StepsOfALinkedAxisAreToldApart) {
  const auto labels = [](const std::string& rows, const std::string& cols) {
    const auto spec =
        load_spec("axes: {a: {fields: {array.rows: " + rows + ", array.cols: " + cols + "}}}\n");
    EXPECT_TRUE(spec.ok()) << spec.errors().front().text();
    std::vector<std::string> out;
    for (const AxisStep& step : spec->axes[0].steps) out.push_back(step.label);
    return out;
  };
  using Labels = std::vector<std::string>;
  EXPECT_EQ(labels("[16, 32]", "[16, 64]"), (Labels{"16", "32"}));
  EXPECT_EQ(labels("[32, 32]", "[16, 64]"), (Labels{"32x16", "32x64"}));
  EXPECT_EQ(labels("[16, 32, 32]", "[64, 16, 64]"), (Labels{"16x64", "32x16", "32x64"}));
}

TEST(Spec, AValueThatIsNoNumberIsOneError) {
  const auto spec = load_spec("axes: {a: {field: buffers.activation.kib, values: [64, many]}}\n");
  ASSERT_FALSE(spec.ok());
  EXPECT_EQ(spec.errors().size(), 1u);
  EXPECT_NE(spec.errors().front().text().find("must be a number"), std::string::npos);
}

TEST(Spec, AMillionMillionPointsAreCountedAndRefused) {
  std::string axes = "axes:\n";
  for (const std::string field : {"dram.latency", "buffers.shared.latency", "clock_mhz"})
    axes += "  a" + std::to_string(axes.size()) + ": {field: " + field +
            ", range: {from: 1, to: 10000, step: 1}}\n";
  const auto spec = load_spec(axes);
  ASSERT_FALSE(spec.ok());
  EXPECT_NE(spec.errors().front().text().find("1e+12 points"), std::string::npos)
      << spec.errors().front().text();
  EXPECT_NE(spec.errors().front().text().find("strategy: random"), std::string::npos);
  EXPECT_TRUE(load_spec(axes + "strategy: random\ncount: 5\n").ok());
}

TEST(Spec, ContradictoryConstraintsAreAnErrorBeforehand) {
  const auto spec = load_spec(std::string(kAxes) + "constraints: [act < 100, act > 200]\n");
  ASSERT_TRUE(spec.ok());
  const auto count = count_points(*spec);
  ASSERT_FALSE(count.ok());
  EXPECT_NE(count.errors().front().text().find("no point"), std::string::npos);
}

TEST(Spec, ObjectiveIsWhatMappingsAreChosenBy) {
  EXPECT_EQ(load_spec(kAxes)->mapping.objective, Objective::cycles);
  for (const Objective o :
       {Objective::cycles, Objective::energy, Objective::edp, Objective::traffic}) {
    const auto spec = load_spec(std::string(kAxes) + "objective: " + std::string(name(o)) + "\n");
    ASSERT_TRUE(spec.ok()) << spec.errors().front().text();
    EXPECT_EQ(spec->mapping.objective, o);
  }
}

TEST(Spec, SlackIsAPercentage) {
  EXPECT_EQ(load_spec(kAxes)->mapping.slack, kDefaultSlack);
  EXPECT_EQ(load_spec(std::string(kAxes) + "slack: 0\n")->mapping.slack, 0);
  EXPECT_DOUBLE_EQ(load_spec(std::string(kAxes) + "slack: 1.5%\n")->mapping.slack, 0.015);
  EXPECT_FALSE(load_spec(std::string(kAxes) + "slack: 1.5\n").ok());
  EXPECT_FALSE(load_spec(std::string(kAxes) + "slack: [1%]\n").ok());
  EXPECT_FALSE(load_spec(std::string(kAxes) + "slack: 1%\nstrategy: pareto\n").ok());
  EXPECT_TRUE(load_spec(std::string(kAxes) + "slack: 0\nstrategy: pareto\n").ok());
  EXPECT_EQ(load_spec(std::string(kAxes) + "strategy: pareto\n")->mapping.slack, 0);
}

TEST(Spec, HashTellsWhatResultsDependOn) {
  const std::string one = load_spec(kAxes)->hash;
  EXPECT_EQ(load_spec(kAxes)->hash, one);
  EXPECT_NE(load_spec(std::string(kAxes) + "effort: rule\n")->hash, one);
  EXPECT_EQ(load_spec(std::string(kAxes) + "slack: 1%\n")->hash, one);
  EXPECT_NE(load_spec(std::string(kAxes) + "slack: 0\n")->hash, one);
  EXPECT_NE(load_spec(std::string(kAxes) + "objective: edp\n")->hash, one);
  EXPECT_EQ(load_spec(std::string(kAxes) + "objective: cycles\n")->hash, one) << "the default";
  EXPECT_NE(load_spec(kAxes, "models: [{file: " + kSource + "/models/resnet18_op13.onnx}]\n")->hash,
            one);
  EXPECT_NE(load_spec(kAxes, "models: [{file: " + kSource +
                                 "/models/squeezenet1_1_op13.onnx, weight: 2}]\n")
                ->hash,
            one);
  EXPECT_NE(load_spec(std::string(kAxes) + "constraints: [act > 0]\n")->hash, one);
}

/// What regions' bounds rest on, tried on every point of small spaces.
TEST(BoxBounds, AreNeverAboveAnyOfTheRegionsPoints) {
  for (const char* effort : {"search", "rule"}) {
    const auto spec = load_spec(std::string(R"(
axes:
  act:
    values: [16, 64, 256]
    fields: {buffers.activation.kib: act, energy.activation_pj_per_byte: act ^ 0.5}
  out: {field: buffers.output.kib, values: [16, 32]}
  shared: {field: buffers.shared.kib, values: [0, 256, 1024]}
  gbps: {field: dram.read_bytes_per_cycle, values: [7, 30, 90]}
  late: {field: dram.latency, values: [300, 50]}
  size: {fields: {array.rows: [16, 64], array.cols: [64, 16]}}
slack: 0
effort: )") + effort + "\n");
    ASSERT_TRUE(spec.ok()) << spec.errors().front().text();
    Space space(*spec);
    const BoxBounds bounds(*spec);
    Evaluator evaluator = Evaluator::create(*spec).value();
    std::vector<PointRow> rows;
    for (int64_t p = 0; p < space.size(); ++p) rows.push_back(evaluator.evaluate_point(p));
    int asked = 0;
    for (int size = 0; size < 2; ++size)
      for (int act = 0; act < 3; ++act) {
        MachineBox r;
        const bool rule = std::string(effort) == "rule";  // memories have no order under it
        r.low = {rule ? act : 0, rule ? 1 : 0, rule ? act : 0, 0, 0, size};
        r.high = {act, 1, act, 2, 1, size};
        const bool ordered = bounds.unordered_axis(r) < 0;
        EXPECT_TRUE(ordered);
        std::array<PointTotals, kQuestions> least;
        std::string reason;
        if (ordered) {
          ++asked;
          for (size_t q = 0; q < kQuestions; ++q) {
            const Relaxed m = bounds.relaxed_machine(r, static_cast<Question>(q));
            const Objective o[] = {Objective::cycles, Objective::energy, Objective::traffic};
            least[q] = evaluator.bound_totals(m.hw, o[q], m.effort, reason);
            ASSERT_TRUE(reason.empty()) << reason;
            if (m.point >= 0) {
              EXPECT_EQ(rows[static_cast<size_t>(m.point)].totals.cycles, least[q].cycles);
            }
          }
        }
        for (int64_t p = 0; p < space.size(); ++p) {
          const AxisSteps s = space.steps_of_point(p);
          bool inside = true;
          for (size_t a = 0; a < s.size(); ++a) inside &= s[a] >= r.low[a] && s[a] <= r.high[a];
          if (!inside) continue;
          const PointRow& row = rows[static_cast<size_t>(p)];
          ASSERT_TRUE(row.is_feasible()) << row.reason;
          EXPECT_GE(row.totals.metric_value(Metric::cycles), bounds.least_cycles(r));
          EXPECT_GE(row.totals.energy_pj, bounds.least_energy(r));
          EXPECT_GE(row.totals.area_mm2, bounds.least_area(r));
          EXPECT_GE(row.totals.metric_value(Metric::sram), bounds.least_sram(r));
          if (!ordered) continue;
          EXPECT_GE(row.totals.cycles, least[0].cycles) << p;
          EXPECT_GE(row.totals.energy_pj * (1 + 1e-9), least[1].energy_pj) << p;
          EXPECT_GE(row.totals.traffic_bytes(), least[2].traffic_bytes()) << p;
        }
      }
    EXPECT_EQ(asked, 6);
  }
}

}  // namespace
}  // namespace accsim::sim
