#include "hw/area/area.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "hw/config/fields.h"
#include "hw/config/load.h"
#include "tests/support/field_machines.h"
#include "tests/support/source.h"

namespace accsim::hw {
namespace {

/// The sum that area.h describes, for the default machine: 64 vector lanes, 64 post lanes, an array
/// and transposers of 64.
TEST(Area, IsTheDocumentedSum) {
  const HwConfig hw = *load_hw(kSource + "/configs/64x64.yaml");
  const double element = 282 + 137 + (8 + 8 + 8 + 32) * 4.52;
  const double kib = 256 + 256 + 16 + 256 + 128 + 2048;
  const CoreCells core = core_cells(hw);
  const double cells = static_cast<double>(core.registers) * 4.52 +
                       static_cast<double>(core.adders) * 137 / 32 +
                       static_cast<double>(core.multipliers) * 3495 / 1024;
  const double expected = (64 * 64 * element + cells + kib * 1024 * 8 * 0.346 / 0.5) / 1e6;
  EXPECT_NEAR(area_mm2(hw), expected, 1e-9 * expected);
  EXPECT_EQ(sram_bytes(hw), static_cast<int64_t>(kib) * 1024);
}

/// Three more ports by which weights go in are three more copies of the buffer, skews of a row, and
/// walks of 64 lanes.
TEST(Area, HasEachPortOfAFillACopyOfTheWeights) {
  HwConfig hw = *load_hw(kSource + "/configs/64x64.yaml");
  const int64_t bytes = sram_bytes(hw);
  const CoreCells one = core_cells(hw);
  hw.array.fill_rows = 4;
  EXPECT_EQ(sram_bytes(hw) - bytes, 3 * 256 * 1024);
  EXPECT_EQ(core_cells(hw).registers - one.registers, 3 * 8 * (64 * 63 / 2));
  EXPECT_EQ(core_cells(hw).adders - one.adders, 3 * 50 * 64);
}

/// Of dot products: two memories of the places' rows of four bytes per column, whatever kib says.
TEST(Area, HasTheSumsOfDotProductsTheirPlacesInEachTechnology) {
  HwConfig hw = *load_hw(kSource + "/configs/64x64.yaml");
  const int64_t before = sram_bytes(hw);
  const double textbook = textbook_area(hw).memories_um2;
  hw.array.form = ArrayForm::dot_product;
  hw.array.engine.places = 24;
  const int64_t less = 256 * 1024 - 2 * 24 * 64 * 4;
  EXPECT_EQ(before - sram_bytes(hw), less);
  const double um2 = 8 * static_cast<double>(less) * 0.346 / 0.5;
  EXPECT_NEAR(textbook - textbook_area(hw).memories_um2, um2, 1e-6 * um2);
}

/// Row of tests/hw/area/rtl_cells.txt: a machine, and what Yosys counts in its RTL.
struct Counted {
  HwConfig hw;
  CoreCells cells;
};

std::vector<Counted> counted() {
  std::vector<Counted> out;
  std::ifstream file(kSource + "/tests/hw/area/rtl_cells.txt");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream in(line);
    Counted c{*load_hw(kSource + "/configs/8x8.yaml"), {}};
    int64_t lanes = 0, exponentials = 0, macs = 0;
    in >> c.hw.array.rows >> c.hw.array.cols;
    for (const Buffer b : {Buffer::activation, Buffer::weight, Buffer::parameter, Buffer::output})
      in >> c.hw.buffers[static_cast<size_t>(b)].width;
    in >> lanes >> exponentials >> macs >> c.cells.registers >> c.cells.adders >>
        c.cells.multipliers;
    c.hw.vector.lanes.fill(lanes);
    c.hw.vector.lanes[1] = exponentials;
    c.hw.vector.mac_lanes = macs;
    EXPECT_TRUE(in) << line;
    out.push_back(c);
  }
  EXPECT_GE(out.size(), 6U);
  return out;
}

/// With the processing elements: three bytes and a sum of registers, an adder, a multiplier.
TEST(Area, AreItsCellsThoseOfTheRtl) {
  for (const Counted& c : counted()) {
    const CoreCells core = core_cells(c.hw);
    const int64_t elements = c.hw.array.rows * c.hw.array.cols;
    const auto real = [](int64_t v) { return static_cast<double>(v); };
    EXPECT_NEAR(real(core.registers + 56 * elements), real(c.cells.registers),
                0.01 * real(c.cells.registers));
    EXPECT_NEAR(real(core.adders + 32 * elements), real(c.cells.adders),
                0.01 * real(c.cells.adders));
    EXPECT_EQ(core.multipliers + 64 * elements, c.cells.multipliers);
  }
}

/// Each unit is there: what a field adds is what its lanes, blocks or tables are made of.
TEST(Area, GrowsWithEveryFieldOfTheCore) {
  const HwConfig base = *load_hw(kSource + "/configs/64x64.yaml");
  const auto more = [&](auto change) {
    HwConfig hw = base;
    change(hw);
    return area_mm2(hw) - area_mm2(base);
  };
  const double lane = more([](HwConfig& hw) { hw.vector.lanes[0] += 1; });
  EXPECT_GT(lane, (2 * 3495 + 137) / 1e6);  // two multipliers of 32 bits alone
  const auto port = [&](Buffer b, int64_t width) {
    return more([&](HwConfig& hw) { hw.buffers[static_cast<size_t>(b)].width = width; });
  };
  EXPECT_DOUBLE_EQ(port(Buffer::output, 256), 0);    // as many post lanes as columns
  EXPECT_LT(port(Buffer::output, 63), -3495 / 1e6);  // one post lane less
  HwConfig narrow = base;
  for (BufferConfig& b : narrow.buffers) b.width = 8;
  HwConfig narrower = narrow;
  for (BufferConfig& b : narrower.buffers) b.width = 7;
  // A post lane, and of two memories two blocks of 64 less those of 49 bytes.
  EXPECT_GT(area_mm2(narrow) - area_mm2(narrower), (3495 + 4 * (64 - 49) * 8 * 4.52) / 1e6);
}

/// NAND2 equivalents of a block, of tests/hw/area/gates.txt.
double gates_of(const std::string& block, const std::string& parameters) {
  std::ifstream file(kSource + "/tests/hw/area/gates.txt");
  for (std::string line; std::getline(file, line);) {
    std::istringstream in(line);
    std::string name, of;
    double gates = 0, registers = 0, um2 = 0, nand2 = 0;
    in >> name >> of >> gates >> registers >> um2 >> nand2;
    if (name == block && of == parameters) return nand2;
  }
  ADD_FAILURE() << block << " isn't in gates.txt";
  return 0;
}

HwConfig at_28nm() {
  HwConfig hw = *load_hw(kSource + "/configs/64x64.yaml");
  hw.array.dataflows = {Dataflow::weight_stationary};
  hw.energy.technology = Technology::nm28;
  return hw;
}

/// An element and a lane are what Yosys makes of them: what one more of each adds, in gates.
TEST(Area, AreElementsAndLanesTheGatesOfTheRtl) {
  const HwConfig base = at_28nm();
  const double gate = gate_um2(Technology::nm28);
  const auto more = [&](auto change) {
    HwConfig hw = base;
    change(hw);
    return (machine_area(hw).cells_um2 - machine_area(base).cells_um2) / gate;
  };
  const double plain = gates_of("row_lane", "Exponential=1'b0");
  const double lane = gates_of("vector_lane", "-") + plain;
  EXPECT_NEAR(more([](HwConfig& hw) { hw.vector.lanes[0] += 1; }), lane, 1e-6 * lane);
  const double exponential = gates_of("row_lane", "-") - plain;
  EXPECT_NEAR(more([](HwConfig& hw) { hw.vector.lanes[1] += 1; }), exponential, 1e-6 * lane);
  // Below eight, one more has a lane for roots and one for reciprocals, too.
  const auto special = [&](int64_t lanes) {
    return more([&](HwConfig& hw) { hw.vector.lanes[1] = lanes; });
  };
  EXPECT_NEAR(special(9) - special(8), exponential, 1e-6 * lane);
  EXPECT_GT(special(8) - special(7), exponential + (96 + 130) * 6);  // gates of a flip-flop
  // One that weighs taps has a scale beside it; the first one of them the walk over scales, too.
  const double mac = gates_of("vector_lane", "Mac=1'b1") - gates_of("vector_lane", "-") +
                     gates_of("mac_scale", "-");
  const auto macs = [&](int64_t lanes) {
    return more([&](HwConfig& hw) { hw.vector.mac_lanes = lanes; });
  };
  EXPECT_NEAR(macs(9) - macs(8), mac, 1e-6 * mac);
  EXPECT_GT(macs(1), mac);
  // A post lane, beside what a wider port gives the transposers: blocks of 33 bytes for 32.
  HwConfig narrow = base, wide = base;
  for (BufferConfig& b : narrow.buffers) b.width = 64;
  wide = narrow;
  narrow.buffers[static_cast<size_t>(Buffer::output)].width = 63;
  // The narrower output port also feeds one lane less of those that normalise.
  const double post = gates_of("post_lane", "-") + gates_of("residual_lane", "-") + plain;
  EXPECT_NEAR((machine_area(wide).cells_um2 - machine_area(narrow).cells_um2) / gate, post,
              1e-6 * post);
  // A row of the array: elements, and nothing else where it is no longer than the columns.
  const double element = gates_of("array_ws", "Rows=8,Cols=8") / 64;
  HwConfig shorter = base;
  shorter.array.rows = 63;
  EXPECT_NEAR((machine_area(base).cells_um2 - machine_area(shorter).cells_um2) / gate, 64 * element,
              1e-3);
  const double sums = gates_of("array_os", "Rows=8,Cols=8") / 64;
  shorter.array.dataflows.push_back(Dataflow::output_stationary);
  HwConfig longer = shorter;
  longer.array.rows = 64;
  EXPECT_NEAR((machine_area(longer).cells_um2 - machine_area(shorter).cells_um2) / gate, 64 * sums,
              1e-3);
}

/// Lanes that commands of int8 have are as many as the activation port feeds, those that normalise
/// rows as many as rows have elements a cycle.
TEST(Area, AreLanesThatNothingFeedsLeftOut) {
  HwConfig base = at_28nm();
  const double gate = gate_um2(Technology::nm28), lane = gates_of("vector_lane", "-");
  const double rows = gates_of("row_lane", "Exponential=1'b0");
  const auto more = [&](auto change) {
    HwConfig hw = base;
    change(hw);
    return (machine_area(hw).cells_um2 - machine_area(base).cells_um2) / gate;
  };
  // The port has 128 bytes, the output port too; 64 lanes are for additions.
  const auto pool = [](HwConfig& hw) { hw.vector.lanes[3] = 1000; };
  EXPECT_NEAR(more(pool), (128 - 64) * lane, 1e-6 * lane);
  const auto additions = [](HwConfig& hw) { hw.vector.lanes[0] = 1000; };
  EXPECT_NEAR(more(additions), (128 - 64) * (lane + rows), 1e-6 * lane);
  // Searches have no commands, and so no port that they wait for.
  const auto search = [](HwConfig& hw) { hw.vector.lanes[6] = 1000; };
  EXPECT_NEAR(more(search), (1000 - 64) * lane, 1e-6 * lane);
  base.types.activation = base.types.weight = DType::bfloat16;
  base.types.accumulator = DType::float32;
  EXPECT_NEAR(more(pool), (1000 - 64) * lane, 1e-6 * lane) << "nor have floats";
}

/// An element of a dot product has no sum of its own.
TEST(Area, DoRowsOfADotProductShareASum) {
  HwConfig hw = at_28nm();
  const double elements = machine_area(hw).cells_um2;
  hw.array.form = ArrayForm::dot_product;
  const double part = (282 + 137 + (24 + 32.0 / 64) * 4.52) / (282 + 137 + (24 + 32) * 4.52);
  const double array = gates_of("array_ws", "Rows=8,Cols=8") * 64 * gate_um2(Technology::nm28);
  EXPECT_NEAR(elements - machine_area(hw).cells_um2, array * (1 - part), 1e-6 * array);
}

/// Bits, and macros beyond those of 16 KiB: a slot's port of 128 bytes asks for 16 of 8 bytes, one
/// of 64 bytes for 8, a row of 64 sums for 32.
TEST(Area, AreMemoriesTheBitsAndMacrosOfTheNode) {
  const HwConfig hw = at_28nm();
  const double bits = 8.0 * static_cast<double>(sram_bytes(hw));
  const double activation = 2 * 16 - 256.0 / 16, weight = activation, parameter = 2 * 8 - 1,
               accumulator = 2 * 32 - 256.0 / 16, output = 2 * 16 - 128.0 / 16, shared = 0;
  const double macros = activation + weight + parameter + accumulator + output + shared;
  const double um2 = (bits + macros * kMacroBits) * 0.127 / 0.5;
  EXPECT_DOUBLE_EQ(machine_area(hw).memories_um2, um2);
  EXPECT_DOUBLE_EQ(machine_area(hw).synthesis_mm2(), (machine_area(hw).cells_um2 + um2) / 1e6);
  EXPECT_DOUBLE_EQ(machine_area(hw).core_mm2(), (machine_area(hw).cells_um2 / 0.7 + um2) / 1e6);
  EXPECT_DOUBLE_EQ(machine_area(hw).die_mm2() - machine_area(hw).core_mm2(),
                   (102.4 + 51.2) * (2 * 0.03 * 331 / 34));
}

/// One bus for reads and writes is paid for once.
TEST(Area, HasASharedBusOneInterface) {
  HwConfig hw = at_28nm();
  hw.dram_bus = DramBus::shared;
  EXPECT_DOUBLE_EQ(machine_area(hw).interface_mm2, 102.4 * (2 * 0.03 * 331 / 34));
}

TEST(Area, IsNeverLessWhenAFieldGrows) {
  for (const Technology t :
       {Technology::custom, Technology::nm45, Technology::nm22, Technology::nm5}) {
    HwConfig base = *load_hw(kSource + "/configs/64x64.yaml");
    base.energy.technology = t;
    base.buffers[static_cast<size_t>(Buffer::parameter)].width = 63;
    for (const Field& field : fields()) {
      HwConfig more = base;
      std::visit(FieldCases{
                     [&](const Member<int64_t>& m) { m.of(more) += 1; },
                     [&](const Member<double>& m) { m.of(more) += 1; },
                     [&](const Member<ByteRate>& m) { m.of(more).milli += 1; },
                     [](const auto&) {},
                 },
                 field.target);
      // More slots of the same buffer are no more memory, but may be more macros.
      EXPECT_GE(area_mm2(more), area_mm2(base)) << field.path << " at " << name(t);
    }
  }
}

/// What sweeps rely on: a word that isn't marked changes no area. What a node and a DRAM's rates
/// bring is asked for there.
TEST(Area, FollowsFromMarkedWordsAlone) {
  std::mt19937 random(7);
  for (const Technology t : {Technology::custom, Technology::nm28})
    for (const Field& field : fields()) {
      Prices marks = kPricesArea;
      if (t != Technology::custom) marks |= kPricesTechnologyArea;
      const bool node = std::holds_alternative<Member<Technology>>(field.target);
      if (field.choices.empty() || (field.prices & marks) != 0 || node) continue;
      if (!field.not_swept.empty()) continue;
      HwConfig base = *load_hw(kSource + "/configs/64x64.yaml");
      base.energy.technology = t;
      for (int i = 0; i < 10; ++i) {
        HwConfig drawn = base;
        test::draw_field(field, random, drawn);
        EXPECT_EQ(area_mm2(drawn), area_mm2(base)) << field.path << " at " << name(t);
      }
    }
}

TEST(Area, IsSmallerAtAFinerNode) {
  HwConfig hw = at_28nm();
  const Area at28 = machine_area(hw);
  hw.energy.technology = Technology::nm7;
  EXPECT_LT(machine_area(hw).cells_um2, at28.cells_um2);
  EXPECT_LT(machine_area(hw).memories_um2, at28.memories_um2);
  EXPECT_EQ(machine_area(hw).interface_mm2, at28.interface_mm2);
}

/// What area.h says of a chip of this size.
TEST(Area, IsOfTheOrderOfAKnownChip) {
  HwConfig hw = *load_hw(kSource + "/configs/64x64.yaml");
  hw.clock_mhz = 700;
  hw.array.rows = hw.array.cols = 256;
  for (BufferConfig& b : hw.buffers) b.kib = 0;
  hw.shared.kib = 28 * 1024;
  hw.dram.read.milli = 34'000'000 / 700;
  hw.dram.write.milli = 0;
  EXPECT_NEAR(machine_area(hw).die_mm2(), 235, 5);
}

}  // namespace
}  // namespace accsim::hw
