#include "hw/config/config_key.h"

#include <gtest/gtest.h>

#include "hw/config/load.h"
#include "tests/support/source.h"

namespace accsim::hw {
namespace {

HwConfig machine(const std::string& name) {
  return *load_hw(kSource + "/configs/" + name + ".yaml");
}

/// Another value of the field, whatever its type.
void change(const Field& field, HwConfig& hw) {
  std::visit(FieldCases{
                 [&](const Member<int64_t>& m) { ++m.of(hw); },
                 [&](const Member<double>& m) { m.of(hw) += 1; },
                 [&](const Member<DerivableNumber>& m) { m.of(hw) = m.of(hw).value + 1; },
                 [&](const Member<ByteRate>& m) { ++m.of(hw).milli; },
                 [&](const Member<std::string>& m) { m.of(hw) += 'x'; },
                 [&](const Member<std::vector<Dataflow>>& m) { m.of(hw).pop_back(); },
                 [&]<class Entry>(const Member<std::vector<Entry>>& m) { m.of(hw).emplace_back(); },
                 [&]<class Enum>(const Member<Enum>& m) {
                   m.of(hw) = static_cast<Enum>(m.of(hw) == Enum{} ? 1 : 0);
                 },
             },
             field.target);
}

/// A key differs when and only when the field that changed decides what it is of.
TEST(ConfigKey, HoldsEveryFieldThatDecidesAndNoOther) {
  for (const char* name : {"64x64", "64x64-ddr4"}) {
    const HwConfig base = machine(name);
    for (const Field& field : fields()) {
      HwConfig other = base;
      change(field, other);
      for (const Decides what :
           {kDecidesPlaces, kDecidesProducts, kDecidesVectors, kDecidesEnergy, kDecidesPrograms}) {
        const bool counts =
            (field.decides & what) != 0 && (!field.decides_if || field.decides_if->holds(base));
        EXPECT_EQ(config_key(other, what) != config_key(base, what), counts)
            << field.path << " for " << what << " on " << name;
      }
    }
  }
}

/// Written down apart from the table: what a field decides by what it is of.
TEST(ConfigKey, FieldsDecideWhatTheyAreOf) {
  const auto starts = [](const Field& f, std::string_view with) {
    return f.path.starts_with(with);
  };
  for (const Field& f : fields()) {
    Decides expected = kDecidesProducts | kDecidesVectors;  // memories that both go through
    if (f.path == "name") expected = kDecidesNothing;
    if (f.path == "buffers.shared.kib" || f.path == "buffers.shared.weights")
      expected = kDecidesPlaces;
    if (starts(f, "types.")) expected = kDecidesEverything;
    if (starts(f, "array.") || starts(f, "buffers.weight.") || starts(f, "buffers.accumulator."))
      expected = kDecidesProducts;
    if (starts(f, "vector.")) expected = kDecidesVectors;
    if (f.path == "vector.template") expected = kDecidesPlaces | kDecidesVectors;
    if (f.path == "vector.mac_lanes") expected = kDecidesProducts | kDecidesVectors;
    if (starts(f, "engines.")) expected = kDecidesPrograms;
    if (starts(f, "energy.")) expected = kDecidesEnergy;
    EXPECT_EQ(f.decides, expected) << f.path;
    const bool sometimes = f.path == "clock_mhz" || f.path == "types.weight_group";
    EXPECT_EQ(f.decides_if.has_value(), sometimes) << f.path;
  }
}

TEST(ConfigKey, AFieldThatSaysNothingDecidesEverything) {
  EXPECT_EQ(Field{}.decides, kDecidesEverything);
  EXPECT_FALSE(Field{}.decides_if.has_value());
}

TEST(ConfigKey, TheClockCountsOnlyWithRealParts) {
  for (const auto& [name, counts] : {std::pair{"64x64", false}, std::pair{"64x64-ddr4", true}}) {
    HwConfig hw = machine(name);
    const std::string before = config_key(hw, kDecidesProducts);
    hw.clock_mhz *= 2;
    EXPECT_EQ(config_key(hw, kDecidesProducts) != before, counts) << name;
  }
}

}  // namespace
}  // namespace accsim::hw
