#include <cmath>

#include "config_fixture.h"
#include "hw/config/config_key.h"
#include "hw/config/mode_list.h"
#include "hw/config/type_modes.h"

namespace accsim::hw {
namespace {

using test::expect_one_error;
using test::good;
using test::line_of;
using test::replaced;
using test::small_machine;

const std::string kSums = "  accumulator: int32\n";

/// The small machine (8 x 8, int8 by int8) with these modes, a line each.
std::string with_modes(const std::vector<std::string>& modes) {
  std::string list = kSums + "  modes:\n";
  for (const std::string& mode : modes) list += "    - {" + mode + "}\n";
  return replaced(small_machine(), kSums, list);
}

const std::string kInt4 = "activation: int8, weight: int4, rate: 2, mac_pj: 0.2, group: 16";
const std::string kReal = "activation: bfloat16, weight: bfloat16, rate: 0.25, mac_pj: 2";
const std::string kMixed = "activation: bf16, weight: int4, rate: 0.25, mac_pj: 1.9, group: 0";
const std::string kFp8 = "activation: fp8, weight: fp8, rate: 1, mac_pj: 1.1";

TEST(Modes, DoesEveryKeyReachItsMember) {
  const HwConfig hw = good(with_modes({kInt4, kReal, kMixed, kFp8}));
  const std::vector<TypeMode> expected = {
      {DType::int8, DType::int4, 2, 0.2, 16},
      {DType::bfloat16, DType::bfloat16, 0.25, 2, 0},
      {DType::bfloat16, DType::int4, 0.25, 1.9, 0},
      {DType::float8e4m3fn, DType::float8e4m3fn, 1, 1.1, 0},
  };
  EXPECT_EQ(hw.types.modes, expected);
  EXPECT_EQ(mode_count(hw), 5);
  EXPECT_EQ(to_string(type_mode(hw, kOwnTypes)), "int8 x int8");
  EXPECT_EQ(type_mode(hw, kOwnTypes).mac, hw.energy.mac);
  EXPECT_EQ(to_string(type_mode(hw, 2)), "bfloat16 x int4");
}

TEST(Modes, AMachineWithoutTheKeyHasNone) {
  EXPECT_TRUE(good(small_machine()).types.modes.empty());
  EXPECT_EQ(print_hw(good(small_machine())).find("modes"), std::string::npos);
}

TEST(Modes, ArePrintedAsTheyAreRead) {
  const HwConfig hw = good(with_modes({kInt4, kReal, kMixed}));
  EXPECT_EQ(good(print_hw(hw)).types.modes, hw.types.modes);
}

TEST(Modes, AreAllOfThemDecisive) {
  const HwConfig hw = good(with_modes({kInt4, kReal}));
  const auto changed = [&](auto change) {
    HwConfig other = hw;
    change(other.types.modes[0]);
    return config_key(other, kDecidesProducts) != config_key(hw, kDecidesProducts);
  };
  EXPECT_TRUE(changed([](TypeMode& m) { m.activation = DType::int16; }));
  EXPECT_TRUE(changed([](TypeMode& m) { m.weight = DType::int16; }));
  EXPECT_TRUE(changed([](TypeMode& m) { m.rate = 1; }));
  EXPECT_TRUE(changed([](TypeMode& m) { m.mac = 1; }));
  EXPECT_TRUE(changed([](TypeMode& m) { m.group = 1; }));
}

/// The one mode is wrong, on its line.
void expect_bad(const std::string& mode, const std::vector<std::string>& parts) {
  const std::string text = with_modes({mode});
  expect_one_error(text, line_of(text, "- {"), parts);
}

TEST(Modes, AreErrorsSaidWithTheirLineAndWhatToDo) {
  expect_bad("activation: int9, weight: int8, rate: 1, mac_pj: 1",
             {"types.modes[0].activation is \"int9\"", "did you mean \"int8\"?"});
  expect_bad("activation: int4, weight: int4, rate: 1, mac_pj: 1, group: 0",
             {"types.modes[0].activation is \"int4\"", "valid: int8, int16, float8e4m3fn"});
  expect_bad("activation: int8, weight: int4, rate: 0, mac_pj: 1, group: 0",
             {"types.modes[0].rate is 0, out of range; it must be 0.001..64 MACs"});
  expect_bad("activation: int8, weight: int4, rate: -1, mac_pj: 1, group: 0",
             {"types.modes[0].rate is -1, out of range"});
  expect_bad("activation: int8, weight: int4, rate: fast, mac_pj: 1, group: 0",
             {"types.modes[0].rate is \"fast\"", "number"});
  expect_bad("activation: int8, weight: int4, rate: 1, group: 0",
             {"missing key \"mac_pj\" in types.modes[0]", "pJ", "one multiply-accumulate"});
  expect_bad("activation: int8, weight: int4, rate: 1, mac_pj: 1",
             {"missing key \"group\" in types.modes[0]", "share a scale"});
  expect_bad("activation: int16, weight: int16, rate: 1, mac_pj: 1, group: 8",
             {"types.modes[0].group is only for weight: int4; remove it"});
  expect_bad("activation: int16, weight: int16, rate: 1, mac_pj: 1, rates: 1",
             {"unknown key \"rates\" in types.modes[0]", "did you mean \"rate\"?"});
  expect_bad("activation: int16, weight: int16, rate: 1, mac_pj: 1, rate: 2",
             {"duplicate key \"rate\" in types.modes[0]"});
}

TEST(Modes, MustBeAListOfSections) {
  const std::string word = replaced(small_machine(), kSums, kSums + "  modes: int4\n");
  expect_one_error(word, line_of(word, "modes"), {"types.modes must be a list of modes"});
  const std::string words = replaced(small_machine(), kSums, kSums + "  modes: [int4]\n");
  expect_one_error(words, line_of(words, "modes"),
                   {"types.modes[0] must have the keys", "rate and mac_pj"});
}

TEST(Modes, AreAllErrorsOfAListReported) {
  const std::string text = with_modes({"activation: int9, weight: int8, rate: 1, mac_pj: 1",
                                       "activation: int16, weight: int16, rate: 1"});
  const auto result = parse_hw(text, "m.yaml");
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.errors().size(), 2u) << test::all_text(result.errors());
}

TEST(ModeView, IsTheMachineOfTheModesTypes) {
  const HwConfig hw = good(with_modes({kInt4, kReal, kMixed}));
  const HwConfig narrow = machine_of_mode(hw, 0);
  EXPECT_EQ(narrow.array.rows, 16);
  EXPECT_EQ(narrow.array.cols, hw.array.cols);
  EXPECT_EQ(narrow.types.weight, DType::int4);
  EXPECT_EQ(narrow.types.weight_group, 16);
  EXPECT_EQ(narrow.types.accumulator, DType::int32);
  EXPECT_EQ(narrow.energy.mac, 0.2);
  const HwConfig real = machine_of_mode(hw, 1);
  EXPECT_EQ(real.array.rows, 2);
  EXPECT_EQ(real.types.accumulator, DType::float32);
  EXPECT_EQ(real.parameter_bytes(), 4);                        // a bias
  EXPECT_EQ(machine_of_mode(hw, 2).parameter_bytes(), 4 + 4);  // and a scale
  const HwConfig same = machine_of_mode(hw, kOwnTypes);
  EXPECT_EQ(same.array.rows, hw.array.rows);
  EXPECT_EQ(same.energy.mac, hw.energy.mac);
  HwConfig stays = hw;
  stays.array.dataflows.push_back(Dataflow::output_stationary);
  EXPECT_EQ(machine_of_mode(stays, 0).array.dataflows, hw.array.dataflows);
}

TEST(ModeView, OfActivationsKeepsTheirModes) {
  const HwConfig hw = good(with_modes({kInt4, kReal, kMixed}));
  const HwConfig real = machine_of_activations(hw, DType::bfloat16);
  EXPECT_EQ(real.types.modes, (std::vector{hw.types.modes[1], hw.types.modes[2]}));
  EXPECT_EQ(real.activation_bytes(), 2);
  const HwConfig own = machine_of_activations(hw, DType::int8);
  EXPECT_EQ(own.types.modes, std::vector{hw.types.modes[0]});
  EXPECT_EQ(own.types.weight, DType::int8);
}

}  // namespace
}  // namespace accsim::hw
