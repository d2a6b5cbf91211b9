#include "hw/technology/technology.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>

namespace accsim::hw {
namespace {

constexpr std::array kFinerAndFiner = {Technology::nm45, Technology::nm28, Technology::nm22,
                                       Technology::nm16, Technology::nm10, Technology::nm7,
                                       Technology::nm5};
constexpr int64_t kKib = 1024;

double real(int64_t v) { return static_cast<double>(v); }

/// Jouppi et al., ISCA 2021, table 2, at the nodes that it has.
TEST(Technology, AreThePublishedEnergiesThoseOfTheirNodes) {
  const Technology old = Technology::nm45, fine = Technology::nm7;
  EXPECT_NEAR(mac_pj(old, DType::int8, DType::int8), 0.2 + 0.1, 1e-12);
  EXPECT_NEAR(mac_pj(fine, DType::int8, DType::int8), 0.07 + 0.03, 1e-12);
  EXPECT_NEAR(mac_pj(old, DType::float16, DType::float16), 1.1 + 0.9, 1e-12);
  EXPECT_NEAR(mac_pj(fine, DType::bfloat16, DType::bfloat16), 0.21 + 0.38, 1e-12);
  EXPECT_NEAR(mac_pj(fine, DType::float32, DType::float32), 1.31 + 0.38, 1e-12);
  EXPECT_NEAR(sram_pj_per_byte(old, 8 * kKib, 8), 10.0 / 8, 1e-12);
  EXPECT_NEAR(sram_pj_per_byte(old, 32 * kKib, 8), 20.0 / 8, 1e-12);
  EXPECT_NEAR(sram_pj_per_byte(old, 1024 * kKib, 8), 100.0 / 8, 1e-12);
  EXPECT_NEAR(sram_pj_per_byte(fine, 8 * kKib, 8), 7.5 / 8, 1e-12);
  EXPECT_NEAR(sram_pj_per_byte(fine, 32 * kKib, 8), 8.5 / 8, 1e-12);
  EXPECT_NEAR(sram_pj_per_byte(fine, 1024 * kKib, 8), 14.0 / 8, 1e-12);
  EXPECT_EQ(dram_pj_per_byte(DramKind::ddr4), 1300.0 / 8);
  // O'Connor's HBM2 lies at the lower end of table 2's 250 to 450 pJ for 64 bits.
  EXPECT_NEAR(dram_pj_per_byte(DramKind::hbm2) * 8, 250, 1);
}

/// Other sizes lie on lines in log-log: 128 KiB is two fifths of the way from 32 KiB to 1 MiB.
TEST(Technology, AreOtherMemoriesOnLinesBetween) {
  EXPECT_NEAR(sram_pj_per_byte(Technology::nm45, 128 * kKib, 8), 20 * std::pow(5, 0.4) / 8, 1e-12);
  EXPECT_EQ(sram_pj_per_byte(Technology::nm45, 0, 8), 0);
}

/// IHP's data sheets: "Total Typical Power" at 1.2 V, in uW/MHz, which is pJ.
struct Sheet {
  int64_t words, bits;
  double pj;
};
constexpr Sheet kEightKib{1024, 64, 118.1};

/// What a byte takes of a memory like that one, for one of 8 KiB and 64 bits.
double byte_ratio(Technology t, const Sheet& m) {
  const double width = static_cast<double>(m.bits) / 8;
  return sram_pj_per_byte(t, m.words * m.bits / 8, width) / sram_pj_per_byte(t, 8 * kKib, 8);
}
double published_ratio(const Sheet& m) {
  return m.pj / static_cast<double>(m.bits) * static_cast<double>(kEightKib.bits) / kEightKib.pj;
}

/// Those that the figures in technology.h are made of.
TEST(Technology, AreSmallMemoriesAsMuchLessAsAPublishedCompilers) {
  for (const Technology t : kFinerAndFiner)
    for (const Sheet& m : {Sheet{64, 64, 56.80}, Sheet{256, 64, 72.56}, Sheet{512, 64, 91.42}})
      EXPECT_NEAR(byte_ratio(t, m), published_ratio(m), 1e-9) << m.words;
  const Technology t = Technology::nm16;
  // Halfway between 64 and 256 words as logarithms have it; fewer than 64 are as 64.
  EXPECT_NEAR(byte_ratio(t, {128, 64, 0}), std::sqrt(56.80 * 72.56) / 118.1, 1e-9);
  EXPECT_EQ(byte_ratio(t, {16, 64, 0}), byte_ratio(t, {64, 64, 0}));
}

/// Those that they aren't made of: other widths, other sizes. A memory of 4096 words has 32 KiB at
/// 64 bits, for which 45 nm has a figure; finer nodes have another slope there.
TEST(Technology, AreOtherMacrosOfTheCompilerWithinAFewPercent) {
  for (const Sheet& m : {Sheet{1024, 8, 19.70}, Sheet{1024, 16, 33.76}})
    EXPECT_NEAR(byte_ratio(Technology::nm7, m), published_ratio(m), 1e-3 * published_ratio(m));
  for (const Sheet& m : {Sheet{512, 32, 47.61}, Sheet{256, 48, 55.14}, Sheet{64, 16, 15.95}})
    EXPECT_NEAR(byte_ratio(Technology::nm7, m), published_ratio(m), 0.02 * published_ratio(m));
  for (const Sheet& m : {Sheet{2048, 64, 156.4}, Sheet{4096, 16, 73.17}, Sheet{4096, 8, 41.10}})
    EXPECT_NEAR(byte_ratio(Technology::nm45, m), published_ratio(m), 0.08 * published_ratio(m));
}

/// A memory of 32 bytes is four of 8 bytes, each with a quarter of the bytes.
TEST(Technology, AreWideMemoriesMacrosSideBySide) {
  for (const Technology t : kFinerAndFiner)
    for (const int64_t kib : {1, 16, 256, 4096})
      for (const int64_t macros : {2, 4, 64})
        EXPECT_DOUBLE_EQ(sram_pj_per_byte(t, kib * kKib * macros, 8.0 * real(macros)),
                         sram_pj_per_byte(t, kib * kKib, 8));
}

TEST(Technology, DoesAByteOfAWiderMemoryNeverTakeMore) {
  for (const Technology t : kFinerAndFiner)
    for (int64_t bytes = 1; bytes < (int64_t{1} << 31); bytes = bytes * 3 / 2 + 1)
      for (double width = 1; width < 5000; width *= 1.5)
        EXPECT_LE(sram_pj_per_byte(t, bytes, width * 1.5), sram_pj_per_byte(t, bytes, width))
            << bytes << " bytes, width " << width;
}

/// Aladdin's table at 45 nm; finer nodes as an addition of int32, which is 0.1 pJ there.
TEST(Technology, AreRegistersThePublishedBits) {
  EXPECT_NEAR(register_pj(Technology::nm45, 1), 0.0079365 + 0.0010630, 1e-6);
  for (const Technology t : kFinerAndFiner)
    EXPECT_NEAR(register_pj(t, 32), 32 * 8.999495e-3 * add_pj(t, DType::int32) / 0.1, 1e-12);
}

/// 16 nm by the energies of an inverter at 45, 16 and 7 nm (Stillmaker and Baas, table 2).
TEST(Technology, AreNodesBetweenWhereTheInverterIs) {
  const double way = std::log(1.05 / 0.179) / std::log(1.05 / 0.111);
  const double multiply = 0.2 * std::pow(0.07 / 0.2, way), add = 0.1 * std::pow(0.03 / 0.1, way);
  EXPECT_NEAR(mac_pj(Technology::nm16, DType::int8, DType::int8), multiply + add, 1e-12);
  // 28 nm, for which there is no inverter, between those of 32 and 16 nm.
  const double at32 = std::log(1.05 / 0.51) / std::log(1.05 / 0.111);
  const double mac28 = mac_pj(Technology::nm28, DType::int8, DType::int8);
  EXPECT_LT(mac28, 0.2 * std::pow(0.07 / 0.2, at32) + 0.1 * std::pow(0.03 / 0.1, at32));
  EXPECT_GT(mac28, multiply + add);
}

/// Halfway between two nodes of the paper, as logarithms have it, lies the root of both energies.
TEST(Technology, AreNodesThatThePaperHasntOnLinesBetween) {
  const auto mac = [](double inverter) {
    const double way = std::log(1.05 / inverter) / std::log(1.05 / 0.111);
    return 0.2 * std::pow(0.07 / 0.2, way) + 0.1 * std::pow(0.03 / 0.1, way);
  };
  const double root = std::sqrt(32.0 * 16);  // 22.6 nm
  const double slope = std::log(0.51 / 0.179) / std::log(32.0 / 16);
  EXPECT_NEAR(mac_pj(Technology::nm22, DType::int8, DType::int8),
              mac(std::sqrt(0.51 * 0.179) * std::pow(22 / root, slope)), 1e-12);
  const double finer = std::log(0.179 / 0.111) / std::log(16.0 / 7);
  EXPECT_NEAR(mac_pj(Technology::nm10, DType::int8, DType::int8),
              mac(0.111 * std::pow(10.0 / 7, finer)), 1e-12);
}

/// What IHP's data sheets say of macros of 64 bits, in areas of the largest one's bits, which are
/// those of a node here. Two of them are what the figure in technology.h is made of.
TEST(Technology, AreMacrosAsMuchLargerThanTheirBitsAsAPublishedCompilers) {
  struct Macro {
    int64_t words;
    double um2;
  };
  constexpr Macro kLargest{2048, 491633.62};
  for (const Macro& m :
       {Macro{64, 50489.13}, Macro{256, 93180.53}, Macro{512, 150102.40}, Macro{1024, 263946.14}})
    for (const Technology t : kFinerAndFiner) {
      const double expected = sram_bit_um2(t) * m.um2 / (kLargest.um2 / (kLargest.words * 64));
      EXPECT_NEAR(sram_um2(t, m.words * 8, 1), expected, 1e-4 * expected) << m.words;
    }
  const double bit = sram_bit_um2(Technology::nm28);
  EXPECT_DOUBLE_EQ(sram_um2(Technology::nm28, kLargest.words * 8, 1), 128 * kKib * bit);
  EXPECT_DOUBLE_EQ(sram_um2(Technology::nm28, 100 * kLargest.words * 8, 1), 12800 * kKib * bit);
  EXPECT_EQ(sram_um2(Technology::nm28, 0, 8), 0);
}

TEST(Technology, IsAMemoryOfMoreBytesOrMacrosNeverLess) {
  for (const double macros : {1.0, 2.5, 64.0})
    for (int64_t bytes = 1; bytes < (int64_t{1} << 31); bytes = bytes * 3 / 2 + 1) {
      const double um2 = sram_um2(Technology::nm16, bytes, macros);
      EXPECT_GT(sram_um2(Technology::nm16, bytes + 1, macros), um2) << bytes;
      EXPECT_GE(sram_um2(Technology::nm16, bytes, macros + 1), um2) << bytes;
    }
}

TEST(Technology, IsEverythingSmallerAtAFinerNode) {
  for (size_t i = 1; i < kFinerAndFiner.size(); ++i) {
    const Technology t = kFinerAndFiner[i], before = kFinerAndFiner[i - 1];
    SCOPED_TRACE(name(t));
    EXPECT_LT(gate_um2(t), gate_um2(before));
    EXPECT_LT(sram_bit_um2(t), sram_bit_um2(before));
    for (const int64_t kib : {1, 8, 100, 1024, 20000})
      EXPECT_LT(sram_pj_per_byte(t, kib * kKib, 8), sram_pj_per_byte(before, kib * kKib, 8));
    for (const DType type : {DType::int8, DType::int16, DType::bfloat16, DType::float32})
      EXPECT_LT(mac_pj(t, type, type), mac_pj(before, type, type));
  }
}

TEST(Technology, DoesAByteOfALargerMemoryNeverTakeLess) {
  for (const Technology t : kFinerAndFiner)
    for (const double width : {1.0, 3.0, 8.0, 100.0, 4096.0})
      for (int64_t bytes = 1; bytes < (int64_t{1} << 31); bytes = bytes * 3 / 2 + 1)
        EXPECT_GE(sram_pj_per_byte(t, bytes + bytes / 2 + 1, width),
                  sram_pj_per_byte(t, bytes, width))
            << bytes;
}

/// Wider types take more, weights that are widened what they are widened to.
TEST(Technology, AreTypesInOrder) {
  for (const Technology t : kFinerAndFiner) {
    const auto mac = [&](DType type) { return mac_pj(t, type, type); };
    EXPECT_EQ(mac_pj(t, DType::int8, DType::int4), mac(DType::int8));
    EXPECT_EQ(mac_pj(t, DType::bfloat16, DType::int4), mac(DType::bfloat16));
    EXPECT_LT(mac(DType::int8), mac(DType::int16));
    EXPECT_LT(mac(DType::float8e4m3fn), mac(DType::bfloat16));
    EXPECT_LT(mac(DType::bfloat16), mac(DType::float16));
    EXPECT_LT(mac(DType::float16), mac(DType::float32));
    EXPECT_EQ(vector_op_pj(t, true), mac(DType::float32));
    EXPECT_EQ(vector_op_pj(t, false), mac(DType::int8));
  }
}

}  // namespace
}  // namespace accsim::hw
