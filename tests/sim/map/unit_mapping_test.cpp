#include "sim/map/units/unit_mapping.h"

#include <gtest/gtest.h>

#include "hw/config/load.h"
#include "sim/map/mapper.h"
#include "tests/support/source.h"

namespace accsim::sim {
namespace {

hw::HwConfig nv_small() { return *hw::load_hw(kSource + "/configs/known/nvdla-nv-small.yaml"); }

/// An op that reads and writes so many bytes, with what units do of it.
OpRequest request(int64_t in, int64_t out, std::vector<UnitRun> runs, std::string_view lacks = "") {
  VectorOp op;
  op.inputs = {{0, in, 0}};
  op.outputs = {{0, out, 0}};
  op[VectorClass::pool] = in;
  OpRequest r;
  r.item = std::move(op);
  r.inputs = {{{"x", hw::MemoryId::dram, false}, 1}};
  r.outputs = {{{"y", hw::MemoryId::dram, false}, 1}};
  r.unit = UnitWork{std::move(runs), lacks};
  return r;
}

Result<Mapping> mapped(const OpRequest& r, const hw::HwConfig& hw, MapOptions options = {}) {
  return Mapper(hw, std::move(options)).choose_mapping(r, "layer");
}

const hw::PoolLayer kPool{112, 112, 60, 3, 3, 2, 2, 1, 1, 56, 56, {}};

/// ResNet's pooling of 60 channels, which fill 8 atoms: each image takes a cycle per element.
TEST(UnitMapping, IsPoolingTimedAsTheUnitDoes) {
  const auto m = mapped(request(3 * 112 * 112 * 60, 3 * 56 * 56 * 60, {{kPool, 3}}), nv_small());
  ASSERT_TRUE(m.ok()) << m.errors().front().text();
  EXPECT_EQ(m->timing.total.count(), 3 * (20 + 32 + 33 + 112 * 112 * 64));
  EXPECT_FALSE(m->has_program());
  EXPECT_EQ(m->unverifiable, kUnitsAlone);
  EXPECT_EQ(m->description, "pooling");
  EXPECT_EQ(m->counts.read[hw::MemoryId::dram], Bytes(3 * 112 * 112 * 64));
  EXPECT_EQ(m->counts.written[hw::MemoryId::dram], Bytes(3 * 56 * 56 * 64));
  EXPECT_EQ(m->counts.vector_ops[3], 3 * 112 * 112 * 60);
}

TEST(UnitMapping, AreLayersOfAnOpAddedUp) {
  const hw::LrnLayer lrn{13, 13, 256, false};
  const hw::PointLayer relu{13, 13, 256, {{}}};
  const int64_t size = 13 * 13 * 256;
  const hw::SideUnits units = hw::side_units_of(nv_small());
  const auto m = mapped(request(size, size, {{lrn, 1}, {relu, 1}}), nv_small());
  ASSERT_TRUE(m.ok());
  EXPECT_EQ(m->timing.total.count(),
            time_lrn(lrn, units)->last_write + time_point(relu, units)->last_write);
  EXPECT_EQ(m->counts.read[hw::MemoryId::dram], Bytes(2 * size));
  EXPECT_EQ(m->description, "normalisation across channels; point-wise, 1 stage");
}

/// Operands of each element are read beside the elements.
TEST(UnitMapping, AreOperandsReadToo) {
  const hw::PointLayer sum{5, 24, 18, {{true, false, 1}}};
  const auto m = mapped(request(5 * 24 * 18, 5 * 24 * 18, {{sum, 1}}), nv_small());
  ASSERT_TRUE(m.ok());
  EXPECT_EQ(m->timing.total.count(), 2975);  // measured: sdp_5x24x18_bs_int8_mem_0
  EXPECT_EQ(m->counts.read[hw::MemoryId::dram], Bytes(5760));
  EXPECT_EQ(m->counts.written[hw::MemoryId::dram], Bytes(2880));
}

/// A line of 300 outputs takes three strips of 128 at most, and they read no column twice.
TEST(UnitMapping, AreLinesThatDoNotFitCutIntoStrips) {
  const hw::PoolLayer wide{600, 4, 8, 2, 2, 2, 2, 0, 0, 300, 2, {}};
  const auto m = mapped(request(600 * 4 * 8, 300 * 2 * 8, {{wide, 1}}), nv_small());
  ASSERT_TRUE(m.ok());
  EXPECT_EQ(m->description, "pooling, 3 strips");
  EXPECT_EQ(m->timing.total.count(), 20 + 32 + 33 + 600 * 4 * 8);
}

/// Windows of one element in 16 end with the first of 16 lines. All lines are read nevertheless, an
/// element per cycle, but a measured row ends with its last write.
TEST(UnitMapping, IsWhatNoOutputNeedsReadToo) {
  const hw::PoolLayer layer{224, 16, 8, 1, 1, 16, 16, 0, 0, 14, 1, {}};
  const OpRequest pool = request(224 * 16 * 8, 14 * 8, {{layer, 1}});
  const auto whole = mapped(pool, nv_small());
  ASSERT_TRUE(whole.ok());
  EXPECT_EQ(whole->timing.total.count(), 20 + 32 + 224 * 16 * 8);
  MapOptions options;
  options.pins.resize(1);
  options.pins[0].unit = UnitPin{.strips = {}, .to_last_write = true};
  const auto row = mapped(pool, nv_small(), options);
  ASSERT_TRUE(row.ok());
  EXPECT_EQ(row->timing.total.count(),
            time_pooling(layer, hw::side_units_of(nv_small()))->last_write);
  EXPECT_LT(row->timing.total, whole->timing.total);
}

TEST(UnitMapping, IsWhatARowSaysPinned) {
  const OpRequest pool =
      request(16 * 6 * 16, 9 * 4 * 16, {{hw::PoolLayer{16, 6, 16, 4, 2, 2, 2, 2, 1, 9, 4, {}}, 1}});
  const auto pinned = [](UnitPin unit) {
    MappingPin pin;
    pin.unit = std::move(unit);
    MapOptions out;
    out.pins = {pin};
    return out;
  };
  const auto strips = mapped(pool, nv_small(), pinned({{{2, 1}, {14, 6}, {4, 2}}}));
  ASSERT_TRUE(strips.ok());
  EXPECT_EQ(strips->timing.total.count(), 2013);  // measured: pdp_16x6x16_4x2_split_max_int8_0
  EXPECT_EQ(strips->counts.read[hw::MemoryId::dram], Bytes(1920));
  const auto wrong = mapped(pool, nv_small(), pinned({{{2, 1}, {14, 6}}}));
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.errors().front().code, Errc::invalid);

  const OpRequest lrn = request(64 * 32, 64 * 32, {{hw::LrnLayer{8, 8, 32, false}, 1}});
  const int64_t whole = mapped(lrn, nv_small())->timing.total.count();
  EXPECT_EQ(mapped(lrn, nv_small(), pinned({{}, true}))->timing.total.count(), whole - 50 + 8);
  const OpRequest point = request(297, 297, {{hw::PointLayer{3, 3, 33, {{}}}, 1}});
  const auto stages = mapped(
      point, nv_small(), pinned({{}, false, false, std::vector<hw::PointStage>{{true, true, 0}}}));
  EXPECT_EQ(stages->timing.total.count(), 448);  // measured: sdp_3x3x33_bs_int8_reg_0
}

/// What units lack, and sizes that they don't have, lanes do, and the mapping says so.
TEST(UnitMapping, DoLanesWhatUnitsDoNot) {
  const auto m =
      mapped(request(169 * 8, 8, {}, "on lanes: operators that no unit has"), nv_small());
  ASSERT_TRUE(m.ok());
  EXPECT_TRUE(m->has_program());
  EXPECT_EQ(m->unverifiable, "on lanes: operators that no unit has");
  const hw::PoolLayer large{13, 13, 8, 13, 13, 1, 1, 0, 0, 1, 1, {}};
  const auto beyond = mapped(request(169 * 8, 8, {{large, 1}}), nv_small());
  ASSERT_TRUE(beyond.ok());
  EXPECT_TRUE(beyond->has_program());
  EXPECT_EQ(beyond->unverifiable, kBeyondUnits);
  EXPECT_EQ(beyond->timing.total, m->timing.total);
}

/// On any other machine what units would do changes nothing.
TEST(UnitMapping, HasAMachineWithoutUnitsNone) {
  hw::HwConfig hw = nv_small();
  hw.vector.form = hw::VectorForm::lanes;
  OpRequest r =
      request(8 * 8 * 8, 4 * 4 * 8, {{hw::PoolLayer{8, 8, 8, 2, 2, 2, 2, 0, 0, 4, 4, {}}, 1}});
  const auto with = mapped(r, hw);
  r.unit.reset();
  const auto without = mapped(r, hw);
  ASSERT_TRUE(with.ok() && without.ok());
  EXPECT_TRUE(with->has_program());
  EXPECT_EQ(with->timing.total, without->timing.total);
}

TEST(UnitMapping, AreRequestsWithOtherLayersOthers) {
  const OpRequest pool = request(64, 64, {{kPool, 1}});
  OpRequest other = request(64, 64, {{kPool, 2}});
  EXPECT_NE(key_of(pool), key_of(other));
  hw::PoolLayer padded = kPool;
  padded.pad_top = 0;
  EXPECT_NE(key_of(pool), key_of(request(64, 64, {{padded, 1}})));
  EXPECT_NE(key_of(pool), key_of(request(64, 64, {}, "what")));
  EXPECT_NE(key_of(request(64, 64, {}, "what")), key_of(request(64, 64, {}, "that")));
  other.unit.reset();
  EXPECT_NE(key_of(pool), key_of(other));
}

/// Atoms of 8 at the rate of their lanes: a bound of the unit's cycles.
TEST(UnitMapping, IsTheLeastThatUnitsTakeTheirElements) {
  hw::SideUnits units = hw::side_units_of(nv_small());
  const UnitWork work{{{kPool, 2}, {hw::PointLayer{5, 5, 9, {}}, 3}}};
  EXPECT_EQ(least_unit_cycles(work, units), 2 * 112 * 112 * 64 + 3 * 25 * 16);
  units.pool_rate = 4;
  EXPECT_EQ(least_unit_cycles(work, units), 2 * 112 * 112 * 16 + 3 * 25 * 16);
}

TEST(UnitMapping, DoTheUnitsFollowFromOtherKeys) {
  hw::HwConfig hw = nv_small();
  EXPECT_EQ(hw::side_units_of(hw), hw::SideUnits{});  // the values of the page
  hw.array.cols = 16;
  hw.dram.read = {8000};
  hw.dram.latency = 50;
  hw.vector.lanes = {2, 3, 1, 4, 1, 1, 1};
  const hw::SideUnits units = hw::side_units_of(hw);
  EXPECT_EQ(units.atom_elements, 16);
  EXPECT_EQ(units.request_interval, 4);  // writes, at 4 bytes per cycle
  EXPECT_EQ(units.read_latency, 50);
  EXPECT_EQ(units.point_rate, 2);
  EXPECT_EQ(units.lrn_rate, 3);
  EXPECT_EQ(units.pool_rate, 4);
}

}  // namespace
}  // namespace accsim::sim
