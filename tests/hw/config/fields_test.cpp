#include "hw/config/fields.h"

#include <gtest/gtest.h>

#include "hw/config/derive.h"
#include "hw/config/load.h"
#include "tests/support/field_machines.h"
#include "tests/support/source.h"

namespace accsim::hw {
namespace {

HwConfig read_shipped(const std::string& name) {
  return *load_hw(kSource + "/configs/" + name + ".yaml");
}

/// What a number is of decides which way costs go as it grows: a field's unit says that, too.
Growth growth_of_unit(const std::string& unit) {
  if (unit == "KiB") return Growth::memory;
  if (unit == "bytes/cycle" || unit == "ops/cycle" || unit == "rows/cycle") return Growth::rate;
  if (unit == "cycles") return Growth::latency;
  if (unit.starts_with("pJ")) return Growth::price;
  return unit == "MHz" ? Growth::clock : Growth::none;
}

TEST(Fields, GrowAsTheirUnitSays) {
  for (const Field& f : fields()) {
    const bool of_engine = f.only && (f.only->path == "array.template" ||
                                      f.only->path == "vector.template");  // not proved
    const bool of_program = f.decides == kDecidesPrograms;  // queues that wait for one another
    EXPECT_EQ(f.growth, of_engine || of_program ? Growth::none : growth_of_unit(f.unit)) << f.path;
  }
}

/// Which fields lose their order on a machine, by path.
std::vector<std::string> unordered(const HwConfig& hw) {
  std::vector<std::string> out;
  for (const Field& f : fields())
    if (f.growth != growth_on(f, hw)) out.push_back(f.path);
  return out;
}

TEST(Fields, LoseTheirOrderWhereOthersTakeTurnsWithThem) {
  using Paths = std::vector<std::string>;
  HwConfig hw = read_shipped("64x64");
  EXPECT_EQ(unordered(hw), Paths());
  hw.dram_bus = DramBus::shared;
  EXPECT_EQ(unordered(hw),
            Paths({"dram.read_bytes_per_cycle", "dram.write_bytes_per_cycle", "dram.latency"}));
  hw = read_shipped("64x64");
  hw.shared.weights = RunWeights::kept;
  EXPECT_EQ(unordered(hw), Paths({"buffers.shared.kib"}));
  EXPECT_EQ(unordered(read_shipped("64x64-ddr4")), Paths({"clock_mhz"}));
  for (const std::string& path : unordered(read_shipped("known/nvdla-nv-small")))
    EXPECT_TRUE(path.starts_with("buffers.") || path.starts_with("dram.") ||
                path.starts_with("vector.lanes.") || path == "array.fill_rows")
        << path;
  EXPECT_EQ(unordered(read_shipped("known/nvdla-nv-small")).size(), 16U + kLaneClasses);
}

TEST(Fields, AreFoundByPathAndByPlace) {
  const HwConfig hw = read_shipped("64x64");
  for (const Field& f : fields()) {
    EXPECT_EQ(find_field(f.path), &f);
    std::visit([&](const auto& m) { EXPECT_EQ(&field_at(hw, m.in(hw)), &f) << f.path; }, f.target);
  }
  EXPECT_EQ(find_field("array.row"), nullptr);
  EXPECT_EQ(field_at(hw, hw.energy.dram_read_byte).path, "energy.dram_read_pj_per_byte");
}

TEST(FieldsDeathTest, HaveNoFieldWhereNoneLies) {
  const HwConfig hw = read_shipped("64x64"), other = read_shipped("64x64");
  EXPECT_DEATH(field_at(hw, other.array.rows), "no field of the table lies there");
}

TEST(Fields, OnlyTheNameChangesNoCosts) {
  for (const Field& f : fields()) EXPECT_EQ(changes_costs(f), f.path != "name") << f.path;
}

/// A word that isn't marked changes no energy that follows from others.
TEST(Fields, EnergiesFollowFromMarkedWordsAlone) {
  std::mt19937 random(7);
  for (const char* name : {"64x64", "64x64-ddr4"})
    for (const Field& f : fields()) {
      if (f.choices.empty() || (f.prices & kPricesEnergies) != 0 || !f.not_swept.empty()) continue;
      HwConfig hw = read_shipped(name);
      for (const Field& e : fields())
        if (auto* m = std::get_if<Member<DerivableNumber>>(&e.target)) m->of(hw) = {};
      hw.energy.technology = Technology::nm7;
      derive(hw);
      for (int i = 0; i < 10; ++i) {
        HwConfig drawn = hw;
        test::draw_field(f, random, drawn);
        derive(drawn);
        for (const Field& e : fields()) {
          const auto* m = std::get_if<Member<DerivableNumber>>(&e.target);
          if (m == nullptr) continue;
          EXPECT_EQ(m->in(drawn).value, m->in(hw).value) << f.path << ", " << e.path;
        }
      }
    }
}

}  // namespace
}  // namespace accsim::hw
