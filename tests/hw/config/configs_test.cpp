#include <cmath>
#include <filesystem>
#include <set>

#include "config_fixture.h"
#include "hw/config/fields.h"

namespace accsim::hw {
namespace {

HwConfig shipped(const std::string& name) {
  auto result = load_hw(test::config_path(name + ".yaml"));
  EXPECT_TRUE(result.ok()) << (result.ok() ? "" : test::all_text(result.errors()));
  return result.ok() ? *result : HwConfig{};
}

TEST(Configs, IsEachShippedFileNamedAsItsMachine) {
  for (const std::string& name : test::kShipped) EXPECT_EQ(shipped(name).name, name);
}

TEST(Configs, AreAllFilesInTheFolderTestedHereAndListedInTheReadme) {
  std::set<std::string> found;
  for (const auto& entry : std::filesystem::directory_iterator(test::config_path(""))) {
    if (entry.path().extension() == ".yaml") found.insert(entry.path().stem());
  }
  EXPECT_EQ(found, std::set<std::string>(test::kShipped.begin(), test::kShipped.end()));
  const std::string readme = test::read_file(test::config_path("README.md"));
  for (const std::string& name : found)
    EXPECT_NE(readme.find("(" + name + ".yaml)"), std::string::npos) << name;
}

TEST(Configs, DoesEachFileNameTheSchemaForEditors) {
  for (const std::string& name : test::kShipped) {
    const std::string text = test::read_file(test::config_path(name + ".yaml"));
    EXPECT_EQ(text.rfind("# yaml-language-server: $schema=hw.schema.json\n", 0), 0u) << name;
  }
}

/// pJ a byte of an SRAM of `kib`: lines in log-log through the three sizes that Horowitz gives for
/// a 64-bit access (ISSCC 2014), the outer ones extended.
double sram_pj_per_byte(double kib) {
  const std::array<std::pair<double, double>, 3> points = {{{8, 10}, {32, 20}, {1024, 100}}};
  const size_t i = kib <= 32 ? 0 : 1;
  const auto [x0, y0] = points[i];
  const auto [x1, y1] = points[i + 1];
  const double slope = std::log(y1 / y0) / std::log(x1 / x0);
  return y0 * std::pow(kib / x0, slope) / 8;
}

/// pJ of a MAC: a multiplication in the wider of both types, an addition in that of the sums.
double mac_pj(DType activation, DType weight) {
  const DType wider = bits(weight) > bits(activation) ? weight : activation;
  const double multiply = bits(wider) == 8 ? 0.2 : 1.1;
  return multiply + (is_float(activation) ? 0.9 : 0.1);
}

TEST(Configs, DoTheEnergiesOfModesFollowFromTheirSources) {
  for (const TypeMode& m : shipped("64x64-modes").types.modes)
    EXPECT_NEAR(m.mac, mac_pj(m.activation, m.weight), 1e-9);
}

TEST(Configs, DoTheEnergiesFollowFromTheirSources) {
  constexpr double kInt8Mac = 0.2 + 0.1, kFp16Mac = 1.1 + 0.9, kFp32Op = 3.7 + 0.9;
  for (const std::string& name : test::kShipped) {
    SCOPED_TRACE(name);
    const HwConfig hw = shipped(name);
    const bool real = is_float(hw.types.activation);
    EXPECT_NEAR(hw.energy.mac, real ? kFp16Mac : kInt8Mac, 1e-9);
    EXPECT_NEAR(hw.energy.vector_op, real ? kFp32Op : kInt8Mac, 1e-9);
    for (size_t i = 0; i < kBuffers; ++i) {
      const auto& buffer = hw.buffers[i];
      const double wanted =
          sram_pj_per_byte(static_cast<double>(buffer.kib) / static_cast<double>(buffer.slots));
      EXPECT_NEAR(hw.energy.buffer_byte[i], wanted, 0.01 * wanted);
    }
    if (hw.shared.kib > 0) {
      const double wanted = sram_pj_per_byte(static_cast<double>(hw.shared.kib));
      EXPECT_NEAR(hw.energy.shared_byte, wanted, 0.01 * wanted);
    }
    const auto cells = static_cast<double>(hw.array.rows * hw.array.cols);
    EXPECT_NEAR(hw.energy.static_per_cycle, 0.1 * cells * hw.energy.mac, 1e-9);
  }
}

/// GB/s of both directions together, which of real parts share one bus.
double dram_gb_per_s(const HwConfig& hw) {
  const double writes = hw.dram_model == DramModel::banked ? 0 : hw.dram.write.value();
  return (hw.dram.read.value() + writes) * hw.clock_mhz / 1000;
}

TEST(Configs, DoTheDramRatesFollowFromTheirDevices) {
  EXPECT_NEAR(dram_gb_per_s(shipped("64x64")), 6.4 * 192 / 8, 0.01);         // LPDDR5-6400 x 192
  EXPECT_NEAR(dram_gb_per_s(shipped("64x64-starved")), 3.2 * 16 / 8, 0.01);  // LPDDR4-3200 x 16
  EXPECT_NEAR(dram_gb_per_s(shipped("64x64-hbm")), 4 * 225, 0.01);
  EXPECT_NEAR(dram_gb_per_s(shipped("128x128")), 900.0 / 2, 0.01);
  EXPECT_NEAR(dram_gb_per_s(shipped("64x64-ddr4")), 8 * 19.2,
              0.01);  // DDR4-2400: 2400 MT/s x 8 bytes
  EXPECT_NEAR(dram_gb_per_s(shipped("64x64-hbm-banked")), 4 * 8 * 32, 0.01);  // 2 GT/s x 16 bytes
  EXPECT_NEAR(shipped("64x64").energy.dram_read_byte, (4 + 8) / 2.0 * 8, 1e-9);
  EXPECT_NEAR(shipped("64x64-starved").energy.dram_read_byte, 8 * 8, 1e-9);
  EXPECT_NEAR(shipped("64x64-hbm").energy.dram_read_byte, 3.9 * 8, 1e-9);
  EXPECT_NEAR(shipped("8x8").energy.dram_read_byte, 1300.0 / 8, 1e-9);
}

TEST(Configs, DoTheVariantsDifferOnlyWhereTheySay) {
  const auto differing = [](HwConfig a, HwConfig b) {
    std::set<std::string> paths;
    for (const Field& field : fields()) {
      const bool same = std::visit([&](const auto& m) { return m.of(a) == m.of(b); }, field.target);
      if (!same) paths.insert(field.path);
    }
    return paths;
  };
  const std::set<std::string> dram = {"name", "dram.read_bytes_per_cycle",
                                      "dram.write_bytes_per_cycle", "energy.dram_read_pj_per_byte",
                                      "energy.dram_write_pj_per_byte"};
  EXPECT_EQ(differing(shipped("64x64"), shipped("64x64-starved")), dram);
  std::set<std::string> hbm = dram;
  hbm.insert({"buffers.activation.width", "buffers.weight.width", "buffers.output.width",
              "buffers.shared.read_bytes_per_cycle", "buffers.shared.write_bytes_per_cycle"});
  EXPECT_EQ(differing(shipped("64x64"), shipped("64x64-hbm")), hbm);
  std::set<std::string> banked = {"name", "dram.model", "dram.channels", "dram.latency"};
  std::set<std::string> ddr4 = banked;
  ddr4.insert({"dram.read_bytes_per_cycle", "dram.write_bytes_per_cycle"});
  ddr4.insert({"buffers.shared.read_bytes_per_cycle", "buffers.shared.write_bytes_per_cycle"});
  ddr4.insert({"energy.dram_read_pj_per_byte", "energy.dram_write_pj_per_byte"});
  EXPECT_EQ(differing(shipped("64x64"), shipped("64x64-ddr4")), ddr4);
  banked.insert({"dram.preset", "dram.read_bytes_per_cycle", "dram.write_bytes_per_cycle"});
  EXPECT_EQ(differing(shipped("64x64-hbm"), shipped("64x64-hbm-banked")), banked);
  const std::set<std::string> narrow = {"name", "types.weight", "types.weight_group",
                                        "buffers.parameter.kib", "energy.parameter_pj_per_byte"};
  EXPECT_EQ(differing(shipped("64x64"), shipped("64x64-int4")), narrow);
  const std::set<std::string> modes = {"name", "types.modes", "buffers.parameter.kib",
                                       "energy.parameter_pj_per_byte"};
  EXPECT_EQ(differing(shipped("64x64"), shipped("64x64-modes")), modes);
}

/// Bits of registers that a product of NVDLA clocks, before retiming. The widths are macros of
/// vmod/nvdla/cmac/NV_NVDLA_CMAC.h, and the flags those of the modules that are named here. Held
/// weights clock nothing.
double product_bits(int64_t channels, int64_t kernels) {
  constexpr int64_t kInStages = 2, kOutStages = 2, kOutRetiming = 3;  // CMAC_IN_RT_LATENCY, ...
  constexpr int64_t kElement = 8, kFlag = 1;                          // CMAC_BPE
  // CORE_active: dat_actv_data_reg, dat_actv_nz_reg, dat_actv_pvld_reg and wt_actv_pvld.
  const auto own = static_cast<double>(kElement + 3 * kFlag);
  // CORE_rt_in, then dat_pre_data and dat_pre_nz: of all cells of a half.
  const auto shared = static_cast<double>((kInStages + 1) * (kElement + kFlag));
  // CORE_mac, then CORE_rt_out: of all products of a cell.
  const double result = 2 * kElement + std::log2(static_cast<double>(channels));
  return own + shared / (static_cast<double>(kernels) / 2) +
         static_cast<double>(kOutRetiming + kOutStages) * result / static_cast<double>(channels);
}

/// Their numbers are of the table at 16 nm. The accumulator's two memories have as many places as
/// NV_NVDLA_CACC.h says: twice the kernels, or four times where there are four channels for each.
TEST(Configs, DoTheEnergiesOfNvdlaFollowFromItsRtl) {
  constexpr auto t = Technology::nm16;
  for (const char* macs : {"2048", "1024", "512", "256", "128", "64", "32"}) {
    SCOPED_TRACE(macs);
    const HwConfig hw = shipped(std::string("known/nvdla-") + macs);
    const int64_t channels = hw.array.rows, kernels = hw.array.cols;
    EXPECT_NEAR(hw.energy.mac,
                accsim::hw::mac_pj(t, DType::int8, DType::int8) +
                    register_pj(t, product_bits(channels, kernels)),
                1e-4);
    const int64_t row = kernels * 4, places = kernels * (channels / kernels == 4 ? 4 : 2);
    EXPECT_NEAR(hw.energy.buffer_byte[static_cast<size_t>(Buffer::accumulator)],
                accsim::hw::sram_pj_per_byte(t, places * row, static_cast<double>(row)), 1e-4);
  }
}

}  // namespace
}  // namespace accsim::hw
