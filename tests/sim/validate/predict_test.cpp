#include "sim/validate/predict.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "hw/area/area.h"
#include "sim/cost/cost.h"
#include "sim/validate/layer_list.h"
#include "sim/validate/validation_text.h"
#include "tests/support/source.h"

namespace accsim::sim {
namespace {

KnownMachine tpu_v1() { return *load_known_machine(kSource + "/configs/known/tpu-v1.yaml"); }

ValidationPoint product(const Dims& size, Quantity quantity) {
  ValidationPoint out;
  out.name = "product";
  out.graph = *elaborate(product_model(size), {});
  out.quantity = quantity;
  out.measured = 1;
  return out;
}

double predicted(const ValidationPoint& point, const KnownMachine& machine) {
  return predict_point(point, machine, {}, false)->predicted;
}

TEST(Predict, FollowsEveryQuantityFromTheCyclesOfTheMainJob) {
  const KnownMachine machine = tpu_v1();
  const Dims size = {64, 512, 512};
  const auto cycles = static_cast<double>(
      cost_network(product(size, Quantity::cycles).graph, machine.hw, {})->report.totals.cycles);
  const double us = cycles / 700, macs = 64.0 * 512 * 512;
  EXPECT_DOUBLE_EQ(predicted(product(size, Quantity::cycles), machine), cycles);
  EXPECT_DOUBLE_EQ(predicted(product(size, Quantity::time_us), machine), us);
  EXPECT_DOUBLE_EQ(predicted(product(size, Quantity::time_ms), machine), us / 1000);
  EXPECT_DOUBLE_EQ(predicted(product(size, Quantity::tops), machine), 2 * macs / us / 1e6);
  EXPECT_DOUBLE_EQ(predicted(product(size, Quantity::utilisation), machine),
                   100 * macs / (65536 * cycles));
  EXPECT_DOUBLE_EQ(predicted(product(size, Quantity::area), machine),
                   machine_area(machine.hw).die_mm2());
  const hw::Area silicon = machine_area(machine.hw);
  EXPECT_DOUBLE_EQ(predicted(product(size, Quantity::synthesis_area), machine),
                   silicon.synthesis_mm2());
  ValidationPoint batch = product(size, Quantity::frames);
  batch.frames = 64;
  EXPECT_DOUBLE_EQ(predicted(batch, machine), 64 / us * 1e6);
}

/// Energy by the main job without that of DRAM, over its time.
TEST(Predict, IsPowerTheChipsEnergyOverItsTime) {
  const KnownMachine machine = tpu_v1();
  const ValidationPoint point = product({64, 512, 512}, Quantity::power);
  const auto network = cost_network(point.graph, machine.hw, {});
  const Costs& c = network->report.totals;
  const double seconds = static_cast<double>(c.cycles) / (machine.hw.clock_mhz * 1e6);
  const double joules = (c.energy.total_pj() - c.energy.dram) * 1e-12;
  EXPECT_NEAR(predicted(point, machine), joules / seconds * 1e3, 1e-9 * joules / seconds * 1e3);
}

/// A figure of another node is predicted at that node.
TEST(Predict, TakesTheTechnologyOfThePoint) {
  const KnownMachine machine = tpu_v1();
  ASSERT_EQ(machine.hw.energy.technology, hw::Technology::nm28);
  for (const Quantity q : {Quantity::power, Quantity::area, Quantity::synthesis_area}) {
    ValidationPoint point = product({64, 512, 512}, q);
    const double own = predicted(point, machine);
    point.technology = hw::Technology::nm28;
    EXPECT_EQ(predicted(point, machine), own);
    point.technology = hw::Technology::nm7;
    EXPECT_LT(predicted(point, machine), own);
  }
}

TEST(Predict, GoesTheIntervalOverAllAssumedRanges) {
  const KnownMachine machine = tpu_v1();
  const ValidationPoint point = product({200, 2000, 2000}, Quantity::cycles);
  const auto p = predict_point(point, machine, {}, true);
  ASSERT_TRUE(p.ok());
  EXPECT_LE(p->low, p->predicted);
  EXPECT_GE(p->high, p->predicted);
  // Every field alone lies in it, and the end of a range does what the machine with it does.
  for (const FieldOrigin& o : machine.origins) {
    if (!o.is_assumed() || o.field->path.starts_with("energy.")) continue;
    for (const std::string& text : o.range) {
      KnownMachine other = machine;
      other.hw = with_assumed(machine.hw, o, text);
      const double value = predicted(point, other);
      EXPECT_LE(p->low, value) << o.field->path;
      EXPECT_GE(p->high, value) << o.field->path;
      const auto effect = std::ranges::find(p->effects, o.field->path, &FieldEffect::field);
      if (value == p->predicted) continue;
      ASSERT_NE(effect, p->effects.end()) << o.field->path;
      EXPECT_LE(effect->low, value);
      EXPECT_GE(effect->high, value);
    }
  }
  // The rate of DRAM decides a product whose weights are used 200 times; the widest comes first.
  EXPECT_TRUE(std::ranges::is_sorted(p->effects, std::ranges::greater{},
                                     [](const FieldEffect& e) { return e.high - e.low; }));
}

TEST(Predict, DoesWithoutAssumptionsTheIntervalVanish) {
  KnownMachine machine = tpu_v1();
  for (FieldOrigin& o : machine.origins) o.range.clear();
  const auto p = predict_point(product({64, 300, 300}, Quantity::cycles), machine, {}, true);
  ASSERT_TRUE(p.ok());
  EXPECT_EQ(p->low, p->predicted);
  EXPECT_EQ(p->high, p->predicted);
  EXPECT_TRUE(p->effects.empty());
}

/// Passes of the array over the products of a network.
int64_t gemms(const CostedNetwork& network, const hw::HwConfig& hw) {
  int64_t out = 0;
  for (const auto& layer : network.mappings)
    for (const auto& mapping : layer)
      if (mapping) out += hw::count_program(mapping->program, hw).gemms;
  return out;
}

TEST(Predict, TakesTheMatrixOf600NineStepsOf256AndFourOf512) {
  // N. Jouppi et al., ISCA 2017, section 7: tiles of 600 x 600 in two dimensions.
  const KnownMachine machine = tpu_v1();
  const Graph graph = product({1, 600, 600}, Quantity::cycles).graph;  // a row isn't cut further
  const auto small = cost_network(graph, machine.hw, {});
  ASSERT_TRUE(small.ok());
  EXPECT_EQ(gemms(*small, machine.hw), 9);
  hw::HwConfig large = machine.hw;
  large.array.rows = large.array.cols = 512;
  large.buffers[static_cast<size_t>(hw::Buffer::weight)].kib *= 4;  // four tiles, of 256 KiB
  const auto four = cost_network(graph, large, {});
  ASSERT_TRUE(four.ok());
  EXPECT_EQ(gemms(*four, large), 4);
}

ValidationSource source_of(std::vector<ValidationPoint> points) {
  ValidationSource out;
  out.file = "some/validation/file.yaml";
  out.source = "A <source>";
  for (ValidationPoint& p : points) {
    p.machine_file = "m";
    p.name += std::to_string(out.points.size());
    out.points.push_back(std::move(p));
  }
  out.machines.emplace("m", tpu_v1());
  return out;
}

TEST(Validate, SummarisesErrorsByTheirFormulas) {
  std::vector<ValidationPoint> points = {product({64, 256, 256}, Quantity::cycles),
                                         product({64, 512, 512}, Quantity::cycles)};
  const double a = predicted(points[0], tpu_v1()), b = predicted(points[1], tpu_v1());
  points[0].measured = a / 1.1;  // + 10 %
  points[1].measured = b / 0.5;  // - 50 %
  points[0].goal = points[1].goal = 0.2;
  const auto v = validate_sources({source_of(points)}, {}, false, 1);
  ASSERT_TRUE(v.ok());
  const ValidatedSource& s = v->sources.front();
  EXPECT_NEAR(s.summary.mean_absolute, 0.3, 1e-12);
  EXPECT_NEAR(s.summary.worst, -0.5, 1e-12);
  EXPECT_EQ(s.summary.worst_point, "product1");
  EXPECT_DOUBLE_EQ(*s.rank, 1);
  EXPECT_DOUBLE_EQ(*s.r2, 1);  // a line through two points
  EXPECT_EQ(goal_lines(s), std::vector<std::string>{"within 20 %: reached by 1 of 2 points"});
  EXPECT_EQ(v->unfitted.points, 2);
  EXPECT_EQ(v->fitted.points, 0);
}

TEST(Validate, KeepsFittedAndUnfittedApart) {
  ValidationSource fitted = source_of({product({64, 256, 256}, Quantity::cycles)});
  fitted.fitted = true;
  const auto v = validate_sources({fitted, source_of({product({64, 512, 512}, Quantity::cycles)})},
                                  {}, false, 1);
  ASSERT_TRUE(v.ok());
  EXPECT_EQ(v->unfitted.points, 1);
  EXPECT_EQ(v->fitted.points, 1);
}

TEST(Validate, NeedsNoWorkloadForAnAreaAndLeavesItOutOfTheSumOfAll) {
  ValidationPoint area;
  area.name = "area";
  area.quantity = Quantity::area;
  area.measured = hw::machine_area(tpu_v1().hw).die_mm2() / 2;
  const auto v = validate_sources({source_of({area})}, {}, true, 1);
  ASSERT_TRUE(v.ok());
  EXPECT_NEAR(v->sources.front().summary.mean_absolute, 1, 1e-12);
  EXPECT_EQ(v->unfitted.points, 0);
}

TEST(Validate, GivesTheSameWithAnyNumberOfThreads) {
  std::vector<ValidationPoint> points;
  for (const int64_t n : {100, 200, 300, 400, 500}) {
    points.push_back(product({64, n, n}, Quantity::cycles));
    points.back().measured = static_cast<double>(n);
  }
  const auto one = validate_sources({source_of(points)}, {}, true, 1);
  const auto many = validate_sources({source_of(points)}, {}, true, 4);
  ASSERT_TRUE(one.ok() && many.ok());
  EXPECT_EQ(to_json(*one), to_json(*many));
}

TEST(Validate, SaysWhichPointTheMachineCantRun) {
  // A convolution whose kernel no slot of the weight FIFO, 64 KiB, can hold.
  ValidationPoint point;
  point.name = "large";
  LayerList list;
  list.input = {1, 1, 600, 600};
  ListedLayer conv;
  conv.kind = ListedLayer::Kind::conv;
  conv.outputs = 1;
  conv.kernel = 513;
  list.layers = {conv};
  point.graph = *elaborate(*layer_model(list, "here"), {});
  point.measured = 1;
  const auto v = validate_sources({source_of({point})}, {}, false, 2);
  ASSERT_FALSE(v.ok());
  EXPECT_TRUE(v.errors().front().message.starts_with("large0: ")) << v.errors().front().text();
}

TEST(Validate, EscapesWhatItPutsIntoPages) {
  ValidationSource source = source_of({product({64, 256, 256}, Quantity::cycles)});
  source.points.front().name = "<script>|";
  const auto v = validate_sources({source}, {}, true, 1);
  ASSERT_TRUE(v.ok());
  const std::string page = to_html(*v, "accsim 0");
  EXPECT_EQ(page.find("<script"), std::string::npos);
  EXPECT_NE(page.find("&lt;script&gt;|"), std::string::npos);
  EXPECT_NE(page.find("A &lt;source&gt;"), std::string::npos);
  EXPECT_NE(to_markdown(*v, "some").find("| <script>\\| |"), std::string::npos);
  const std::string csv = to_csv(*v);
  EXPECT_EQ(std::ranges::count(csv, '\n'), 2);  // the head line and the point
}

TEST(Validate, PrintsFiguresWithFourDigits) {
  EXPECT_EQ(figure_text(12.345678), "12.35");
  EXPECT_EQ(figure_text(0.0123456), "0.01235");
  EXPECT_EQ(figure_text(269), "269.0");
  EXPECT_EQ(figure_text(7729601), "7,729,601");
  EXPECT_EQ(error_text(0.0741), "+7.4 %");
  EXPECT_EQ(error_text(-0.5), "-50.0 %");
}

}  // namespace
/// A row's errors stand at its line, whatever found them: a systolic array has no banks to pin.
TEST(Predict, AreErrorsOfARowAtItsLine) {
  ValidationSource source;
  ValidationPoint row = product({64, 512, 512}, Quantity::cycles);
  row.machine_file = "tpu";
  row.table_file = "rows.csv";
  row.table_line = 17;
  row.banks = {2, 3};
  source.points = {row};
  source.machines.emplace("tpu", tpu_v1());
  const auto done = validate_sources({source}, {}, false, 1);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.errors().front().where, "rows.csv:17:1");
  EXPECT_EQ(done.errors().front().message.find("product: "), 0u);
}

}  // namespace accsim::sim
