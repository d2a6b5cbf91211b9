#include "hw/area/area.h"

#include <gtest/gtest.h>

#include "hw/config/load.h"
#include "tests/support/source.h"

namespace accsim::hw {
namespace {

/// The sum that area.h describes, for the default machine.
TEST(Area, IsTheDocumentedSum) {
  const HwConfig hw = *load_hw(kSource + "/configs/64x64.yaml");
  const double element = 282 + 137 + (8 + 8 + 8 + 32) * 4.52;
  const double kib = 256 + 256 + 16 + 256 + 128 + 2048;
  const double expected = (64 * 64 * element + 64 * 3632.0 + kib * 1024 * 8 * 0.346 / 0.5) / 1e6 +
                          (102.4 + 51.2) * (2 * 0.03 * 331 / 34);
  EXPECT_NEAR(area_mm2(hw), expected, 1e-9 * expected);
  EXPECT_EQ(sram_bytes(hw), static_cast<int64_t>(kib) * 1024);
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
  EXPECT_NEAR(area_mm2(hw), 230, 5);
}

}  // namespace
}  // namespace accsim::hw
