#include <gtest/gtest.h>

#include "config_fixture.h"
#include "hw/config/buffer_memory.h"
#include "hw/config/derive.h"
#include "hw/config/fields.h"

namespace accsim::hw {
namespace {

/// small_machine() with that instead of its energies.
std::string with_energy(const std::string& energy) {
  const std::string text = test::small_machine();
  return text.substr(0, text.find("energy:\n")) + "energy:\n" + energy;
}

std::string with_modes(std::string text, const std::string& modes) {
  return test::replaced(std::move(text), "  accumulator: int32\n",
                        "  accumulator: int32\n  modes: [" + modes + "]\n");
}

void expect_refused(const std::string& text, const std::vector<std::string>& parts) {
  const auto hw = parse_hw(text, "m.yaml");
  ASSERT_FALSE(hw.ok());
  const std::string all = test::all_text(hw.errors());
  for (const std::string& part : parts)
    EXPECT_NE(all.find(part), std::string::npos) << part << " in " << all;
}

/// Picojoules of a MAC of int8, and of so many bits of registers.
double int8_element(Technology t, double bits) {
  return mac_pj(t, DType::int8, DType::int8) + register_pj(t, bits);
}

const std::string kTwoWords = "  technology: 28nm\n  dram: lpddr4\n";

TEST(EnergyTechnology, DoTwoWordsStandForAllNumbers) {
  const HwConfig hw = test::good(with_energy(kTwoWords));
  const auto t = Technology::nm28;
  EXPECT_EQ(hw.energy.technology, t);
  EXPECT_EQ(hw.energy.mac, int8_element(t, 8 + 32));
  EXPECT_EQ(hw.energy.vector_op, vector_op_pj(t, false));
  EXPECT_EQ(hw.array.fill_rows, 3);
  for (size_t b = 0; b < kBuffers; ++b) {
    // Three copies of the weights, all of which are written, and one is read.
    const double accesses = static_cast<Buffer>(b) == Buffer::weight ? (3 + 1) / 2.0 : 1;
    EXPECT_EQ(hw.energy.buffer_byte[b],
              accesses * sram_pj_per_byte(t, hw.buffers[b].slot_bytes(),
                                          slot_memory(hw, static_cast<Buffer>(b)).width));
  }
  EXPECT_EQ(hw.energy.shared_byte, sram_pj_per_byte(t, 64 * 1024, 17));
  EXPECT_EQ(hw.energy.dram_read_byte, 48.0);  // 6 pJ a bit
  EXPECT_EQ(hw.energy.dram_write_byte, 48.0);
  const auto elements = static_cast<double>(hw.array.rows * hw.array.cols);
  EXPECT_DOUBLE_EQ(hw.energy.static_per_cycle, 0.1 * elements * hw.energy.mac);
}

TEST(EnergyTechnology, IsANumberThatIsGivenKept) {
  const HwConfig hw = test::good(with_energy(kTwoWords + "  mac_pj: 7\n"));
  EXPECT_TRUE(hw.energy.mac.given);
  EXPECT_EQ(hw.energy.mac, 7.0);
  EXPECT_FALSE(hw.energy.vector_op.given);
  const auto elements = static_cast<double>(hw.array.rows * hw.array.cols);
  EXPECT_DOUBLE_EQ(hw.energy.static_per_cycle, 0.1 * elements * 7) << "a part of the array";
}

TEST(EnergyTechnology, FollowsWhatItIsComputedFrom) {
  HwConfig hw = test::good(with_energy(kTwoWords));
  const HwConfig before = hw;
  hw.buffers[0].kib *= 4;
  derive(hw);
  EXPECT_GT(hw.energy.buffer_byte[0], before.energy.buffer_byte[0]);
  EXPECT_EQ(hw.energy.buffer_byte[1], before.energy.buffer_byte[1]);
  hw.types.activation = hw.types.weight = DType::bfloat16;
  hw.types.accumulator = DType::float32;
  derive(hw);
  EXPECT_LT(hw.energy.buffer_byte[1], before.energy.buffer_byte[1]) << "as a row is wider";
  const auto element = [](Technology t) {
    return mac_pj(t, DType::bfloat16, DType::bfloat16) + register_pj(t, 16 + 32);
  };
  EXPECT_EQ(hw.energy.mac, element(Technology::nm28));
  hw.energy.technology = Technology::nm7;
  derive(hw);
  EXPECT_EQ(hw.energy.mac, element(Technology::nm7));
}

/// Registers that a MAC clocks: what streams by, and the sum.
TEST(EnergyTechnology, HasAMacTheRegistersOfItsElement) {
  const auto t = Technology::nm28;
  HwConfig hw = test::good(with_energy(kTwoWords));
  const auto mac = [&](std::vector<Dataflow> dataflows) {
    hw.array.dataflows = std::move(dataflows);
    derive(hw);
    return hw.energy.mac.value;
  };
  using enum Dataflow;
  EXPECT_EQ(mac({weight_stationary, input_stationary}), int8_element(t, 8 + 32));
  EXPECT_EQ(mac({output_stationary}), int8_element(t, 2 * 8 + 32)) << "both operands stream";
  EXPECT_EQ(mac({output_stationary, weight_stationary}), int8_element(t, 8 + 32));
  hw.array.form = ArrayForm::dot_product;
  hw.array.rows = 16;
  EXPECT_EQ(mac({weight_stationary}), int8_element(t, 8 + 2)) << "16 rows share a sum";
}

/// Several MACs of an element have one sum; a rate below 1 has one each.
TEST(EnergyTechnology, DoMacsOfAnElementShareItsSum) {
  const auto mac = [](const std::string& rate) {
    const std::string mode = "{activation: int16, weight: int16, rate: " + rate + "}";
    const HwConfig hw = test::good(with_modes(with_energy(kTwoWords), mode));
    return hw.types.modes[0].mac.value - mac_pj(Technology::nm28, DType::int16, DType::int16);
  };
  EXPECT_NEAR(mac("2"), register_pj(Technology::nm28, 16 + 32.0 / 2), 1e-12);
  EXPECT_NEAR(mac("0.5"), register_pj(Technology::nm28, 16 + 32), 1e-12);
}

TEST(EnergyTechnology, DoesABankedDramSayItsKind) {
  std::string text = with_energy("  technology: 7nm\n");
  const size_t dram = text.find("dram:\n"), vector = text.find("vector:\n");
  text = text.substr(0, dram) +
         "dram: {model: banked, preset: HBM2, channels: 8, map: bank_group_low}\n" +
         text.substr(vector);
  text = test::replaced(text, "  shared:\n    kib: 64", "  shared:\n    kib: 0");
  EXPECT_EQ(test::good(text).energy.dram_read_byte, dram_pj_per_byte(DramKind::hbm2));
  expect_refused(text + "  dram: ddr4\n",
                 {"energy.dram is ddr4, but a banked DRAM's kind is its dram.preset; remove it"});
}

TEST(EnergyTechnology, MayModesLeaveTheirsOut) {
  const std::string mode = "{activation: int16, weight: int16, rate: 1}";
  const HwConfig hw = test::good(with_modes(with_energy(kTwoWords), mode));
  EXPECT_EQ(hw.types.modes[0].mac, mac_pj(Technology::nm28, DType::int16, DType::int16) +
                                       register_pj(Technology::nm28, 16 + 32));
  expect_refused(with_modes(test::small_machine(), mode),
                 {"missing key \"mac_pj\" in types.modes[0]", "energy.technology"});
}

TEST(EnergyTechnology, SaysWhatIsMissing) {
  expect_refused(with_energy("  mac_pj: 1\n"), {"missing key \"vector_op_pj\" in energy",
                                                "missing key \"static_pj_per_cycle\" in energy"});
  expect_refused(with_energy("  technology: custom\n"), {"missing key \"mac_pj\" in energy"});
  expect_refused(with_energy("  technology: 28nm\n"),
                 {"energy.dram_read_pj_per_byte is missing", "the kind in energy.dram"});
  expect_refused(with_energy("  technology: 27nm\n"), {"energy.technology is \"27nm\"", "28nm"});
  const auto twice = parse_hw(with_energy("  technology: 27nm\n"), "m.yaml");
  EXPECT_EQ(twice.errors().size(), 1U) << "what could be left out isn't known";
  expect_refused(test::small_machine() + "  dram: ddr4\n",
                 {"energy.dram is ddr4, but without energy.technology nothing follows from it"});
}

/// Numbers that follow stand in comments, so that they follow again when it is read.
TEST(EnergyTechnology, IsItPrintedWithWhereItComesFrom) {
  const std::string mode = "{activation: int16, weight: int16, rate: 1}";
  const HwConfig hw =
      test::good(with_modes(with_energy(kTwoWords + "  vector_op_pj: 0.5\n"), mode));
  const std::string text = print_hw(hw);
  EXPECT_NE(text.find("  technology: 28nm "), std::string::npos) << text;
  EXPECT_NE(text.find("  # mac_pj: "), std::string::npos) << text;
  EXPECT_NE(text.find("# by technology; pJ, "), std::string::npos) << text;
  EXPECT_NE(text.find("  vector_op_pj: 0.5 "), std::string::npos) << text;
  const HwConfig back = test::good(text);
  EXPECT_EQ(print_hw(back), text);
  EXPECT_FALSE(back.energy.mac.given);
  EXPECT_EQ(back.energy.mac, hw.energy.mac);
  EXPECT_EQ(back.types.modes, hw.types.modes);
  EXPECT_EQ(test::small_machine().find("technology"), std::string::npos);
  EXPECT_EQ(print_hw(test::good(test::small_machine())).find("technology"), std::string::npos);
}

}  // namespace
}  // namespace accsim::hw
