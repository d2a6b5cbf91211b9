#include "sim/sweep/adaptive.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "hw/config/load.h"
#include "sim/sweep/space.h"
#include "tests/support/source.h"
#include "tests/support/temp_path.h"

namespace accsim::sim {
namespace {

SweepSpec load(const std::string& hw, const std::string& axes_and_more) {
  const std::string path = test::temp_path("adaptive.yaml");
  const std::string base = hw.starts_with('/') ? hw : kSource + "/configs/" + hw;
  std::ofstream(path) << "base: " << base << "\nmodels: [{file: " << kSource
                      << "/models/squeezenet1_1_op13.onnx}]\nstrategy: pareto\n"
                      << axes_and_more;
  auto spec = load_sweep(path);
  EXPECT_TRUE(spec.ok()) << spec.errors().front().text();
  return std::move(*spec);
}

/// Numbers of the points that no other is as good as in all objectives and better in one; of equal
/// ones the first.
std::set<int64_t> front_of(const SweepSpec& spec, const std::vector<PointRow>& rows) {
  std::set<int64_t> out;
  const auto values = [&](const PointRow& row) {
    std::vector<double> v;
    for (const Metric m : spec.objectives) v.push_back(row.totals.metric_value(m));
    return v;
  };
  for (const PointRow& row : rows) {
    const auto mine = values(row);
    const bool beaten = std::any_of(rows.begin(), rows.end(), [&](const PointRow& other) {
      const auto theirs = values(other);
      for (size_t i = 0; i < mine.size(); ++i)
        if (theirs[i] > mine[i]) return false;
      return theirs != mine || other.point < row.point;
    });
    if (!beaten) out.insert(row.point);
  }
  return out;
}

/// Costs the whole grid by hand, then what the strategy stores. `bounded`: that isn't all points.
void expect_the_grids_front(const SweepSpec& spec, const std::string& what, bool bounded = true) {
  Space space(spec);
  Evaluator evaluator = Evaluator::create(spec).value();
  std::vector<PointRow> grid;
  std::set<int64_t> legal;
  for (int64_t p = 0; p < space.size(); ++p) {
    if (!space.is_legal(space.steps_of_point(p))) continue;
    legal.insert(p);
    if (PointRow row = evaluator.evaluate_point(p); row.is_feasible())
      grid.push_back(std::move(row));
  }
  ASSERT_GT(grid.size(), 8u) << what;

  const std::string path = test::temp_path("adaptive.sqlite");
  for (const char* end : {"", "-wal", "-shm"}) std::filesystem::remove(path + end);
  SweepRun run;
  run.store = path;
  run.version = "test";
  run.threads = 2;
  const auto outcome = run_sweep(spec, run);
  ASSERT_TRUE(outcome.ok()) << outcome.errors().front().text();
  auto store = SweepStore::open_for_reading(path);
  ASSERT_TRUE(store.ok());
  std::vector<PointRow> found;
  for (const int64_t p : legal) {
    const auto row = (*store)->find(p);
    ASSERT_TRUE(row.ok());
    if (!*row || !(*row)->is_feasible()) continue;
    found.push_back(**row);
    const hw::HwConfig hw = space.machine_at(space.steps_of_point(p));
    found.back().totals.clock_mhz = hw.clock_mhz;
    found.back().totals.area_mm2 = evaluator.evaluate_point(p).totals.area_mm2;
    found.back().totals.sram_bytes = evaluator.evaluate_point(p).totals.sram_bytes;
  }
  EXPECT_EQ(front_of(spec, found), front_of(spec, grid)) << what;
  if (bounded) {
    EXPECT_LT(outcome->evaluated, std::ssize(legal)) << what << ": bounds excluded nothing";
  }
}

TEST(Adaptive, FindsTheGridsFrontOverPartsOfABankedDram) {
  for (const char* effort : {"rule", "search"})
    for (const char* objectives : {"[time, area]", "[cycles, energy]", "[edp, sram]"})
      expect_the_grids_front(load("64x64-ddr4.yaml", std::string(R"(
axes:
  kind: {field: dram.preset, values: [HBM2, DDR4-2400, LPDDR4-3200]}
  channels: {field: dram.channels, values: [4, 1, 2]}
  clock: {field: clock_mhz, values: [1000, 500]}
  map: {field: dram.map, values: [bank_group_low, bank_group_high]}
  lanes: {field: vector.lanes.pool, values: [16, 64]}
  act: {field: buffers.activation.kib, values: [64, 256]}
effort: )") + effort + "\nobjectives: " + objectives + "\n"),
                             std::string(effort) + " " + objectives);
}

/// Channels and clock by one axis, and a price that falls along it.
TEST(Adaptive, FindsTheGridsFrontOverLinkedFieldsOfABankedDram) {
  expect_the_grids_front(load("64x64-hbm-banked.yaml", R"(
axes:
  speed:
    fields:
      dram.channels: [1, 2, 4, 8, 3, 6]
      clock_mhz: [400, 1200, 500, 1000, 900, 700]
      energy.dram_read_pj_per_byte: [30, 20, 28, 10, 25, 22]
  map: {field: dram.map, values: [bank_group_low, bank_group_high]}
  out: {field: buffers.output.kib, values: [32, 64, 96, 128, 192, 256]}
  rows: {field: array.rows, values: [64, 32]}
objectives: [time, area]
effort: rule
)"),
                         "linked");
}

/// A banked DRAM takes its time in nanoseconds, an ideal one in cycles.
TEST(Adaptive, ClocksHaveNoOrderOverABankedDram) {
  const char* axes = "axes: {clock: {field: clock_mhz, values: [1000, 500]}}\n";
  const MachineBox all{{0}, {1}, {}};
  const SweepSpec banked = load("64x64-ddr4.yaml", axes), ideal = load("64x64.yaml", axes);
  EXPECT_EQ(BoxBounds(banked).unordered_axis(all), 0);
  EXPECT_EQ(BoxBounds(ideal).unordered_axis(all), -1);
}

/// Keeping tensors on chip costs energy when a byte there costs more than one in DRAM.
TEST(Adaptive, FindsTheGridsFrontWhereSharedMemoryIsDearerThanDram) {
  expect_the_grids_front(load("64x64.yaml", R"(
axes:
  shared: {field: buffers.shared.kib, values: [0, 128, 256, 512, 1024, 2048]}
  price: {field: energy.shared_pj_per_byte, values: [500, 400, 300]}
  lanes: {field: vector.lanes.pool, values: [16, 32, 64]}
objectives: [energy, sram]
)"),
                         "dear");
}

/// More zeros, and more that a zero saves, take less energy. No order is promised of either.
TEST(Adaptive, FindsTheGridsFrontOverZeros) {
  const SweepSpec spec = load("64x64.yaml", R"(
axes:
  zeros: {field: energy.zeros, values: [0.5, 0, 0.9, 0.2]}
  gates: {field: energy.zero_saves, values: [0.1, 0.9, 0]}
  mac: {field: energy.mac_pj, values: [20, 30, 10]}
  lanes: {field: vector.lanes.pool, values: [16, 64]}
objectives: [energy, area]
effort: rule
)");
  expect_the_grids_front(spec, "zeros", false);
  const BoxBounds bounds(spec);
  const double all = bounds.least_energy({{0, 0, 0, 0}, {3, 2, 2, 1}, {}});
  for (int zeros = 0; zeros < 4; ++zeros)
    for (int gates = 0; gates < 3; ++gates)
      EXPECT_LE(all, bounds.least_energy({{zeros, gates, 2, 0}, {zeros, gates, 2, 0}, {}}));
}

/// configs/64x64.yaml with these lines for its energies.
std::string with_energies(const std::string& lines) {
  std::ifstream in(kSource + "/configs/64x64.yaml");
  const std::string text((std::istreambuf_iterator<char>(in)), {});
  const std::string path = test::temp_path("with_energies.yaml");
  std::ofstream(path) << text.substr(0, text.find("\nenergy:\n")) << "\nenergy:\n" << lines;
  return path;
}

/// Larger memories take more energy a byte, and other nodes other energies: no field has an order
/// then, and few bounds hold.
TEST(Adaptive, FindsTheGridsFrontWhereEnergiesFollow) {
  const std::string base = with_energies("  technology: 16nm\n  dram: lpddr4\n");
  for (const char* objectives : {"[cycles, energy]", "[energy, area]", "[time, area]"})
    expect_the_grids_front(load(base, std::string(R"(
axes:
  act: {field: buffers.activation.kib, values: [32, 64, 128, 256, 512]}
  weights: {field: buffers.weight.kib, values: [64, 256]}
  node: {field: energy.technology, values: [28nm, 16nm, 7nm]}
  lanes: {field: vector.lanes.pool, values: [16, 32, 64]}
objectives: )") + objectives + "\n"),
                           objectives, std::string_view(objectives) == "[time, area]");
}

/// Wider ports and rows take less for a byte, and dataflows decide which registers are clocked.
TEST(Adaptive, FindsTheGridsFrontWhereWidthsArePrices) {
  const std::string base = with_energies("  technology: 16nm\n  dram: lpddr4\n");
  for (const char* objectives : {"[cycles, energy]", "[energy, area]"})
    expect_the_grids_front(load(base, std::string(R"(
axes:
  port: {field: buffers.activation.width, values: [8, 64, 256]}
  rows: {field: array.rows, values: [16, 64]}
  cols: {field: array.cols, values: [16, 64]}
  flow: {field: array.dataflows, values: [[weight_stationary], [output_stationary]]}
objectives: )") + objectives + "\n"),
                           objectives, false);
}

/// Longer columns of dot products share the registers of a sum, so a product costs the least where
/// the rows are most. The energies that follow from other words aren't asked for.
TEST(Adaptive, FindsTheGridsFrontOverRowsOfDotProducts) {
  const SweepSpec spec = load(kSource + "/configs/known/nvdla-nv-small.yaml", R"(
axes:
  rows: {field: array.rows, values: [16, 8, 64, 32]}
  cols: {field: array.cols, values: [8, 16, 4]}
objectives: [energy, area]
)");
  const BoxBounds bounds(spec);
  const MachineBox all{{0, 0}, {3, 2}, {}}, longest{{2, 0}, {2, 2}, {}};
  EXPECT_GT(bounds.least_energy(all), 0);
  EXPECT_LE(bounds.least_energy(all), bounds.least_energy(longest));
  Evaluator evaluator = Evaluator::create(spec).value();
  Space space(spec);
  for (int64_t p = 0; p < space.size(); ++p) {
    if (!space.is_legal(space.steps_of_point(p))) continue;
    const PointRow row = evaluator.evaluate_point(p);
    if (!row.is_feasible()) continue;
    EXPECT_LE(bounds.least_energy(all), row.totals.metric_value(Metric::energy)) << p;
  }
  expect_the_grids_front(spec, "rows of dot products", false);
}

/// A machine of a point is what its own file would be.
TEST(Adaptive, AreMachinesOfPointsWithATechnologyThoseOfTheirFiles) {
  const SweepSpec spec = load(with_energies("  technology: 16nm\n  dram: lpddr4\n"), R"(
axes:
  act: {field: buffers.activation.kib, values: [64, 256]}
  node: {field: energy.technology, values: [28nm, 7nm]}
)");
  Space space(spec);
  std::set<double> energies;
  for (int64_t p = 0; p < space.size(); ++p) {
    const hw::HwConfig hw = space.machine_at(space.steps_of_point(p));
    const auto file = hw::parse_hw(hw::print_hw(hw), "point.yaml");
    ASSERT_TRUE(file.ok());
    EXPECT_EQ(machine_text(*file), machine_text(hw));
    energies.insert(hw.energy.buffer_byte[0]);
  }
  EXPECT_EQ(energies.size(), 4U);
}

}  // namespace
}  // namespace accsim::sim
