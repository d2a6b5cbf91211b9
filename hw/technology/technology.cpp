#include "hw/technology/technology.h"

#include <algorithm>
#include <cmath>

#include "sim/base/check.h"

namespace accsim::hw {
namespace {

constexpr std::array<std::string_view, kTechnologies> kNames = {"custom", "45nm", "28nm", "22nm",
                                                                "16nm",   "10nm", "7nm",  "5nm"};
constexpr std::array<std::string_view, kDramKinds> kDramNames = {"custom", "ddr3", "ddr4", "lpddr4",
                                                                 "hbm2"};

/// A figure at both ends of what [J] has, pJ.
struct Ends {
  double nm45, nm7;
};

// [J] table 2; the column of 45 nm is [H]'s.
constexpr Ends kInt8Multiply{0.20, 0.07}, kInt32Add{0.10, 0.03};
constexpr Ends kFp16Multiply{1.10, 0.34}, kFp32Multiply{3.70, 1.31}, kFp32Add{0.90, 0.38};
constexpr Ends kBf16Multiply{1.10 * 0.21 / 0.34, 0.21};

/// An SRAM's size in KiB, and 64 bits of it, read.
struct SramPoint {
  double kib;
  Ends word;
};
constexpr std::array<SramPoint, 3> kSram = {{{8, {10, 7.5}}, {32, {20, 8.5}}, {1024, {100, 14}}}};

// [A], a bit in a cycle, pJ.
constexpr double kRegisterBit = 8.999495e-3;

// Of an access of 64 bits.
constexpr double kWordBytes = 8;

// [S] table 2, femtojoules.
constexpr double kInverter45 = 1.05, kInverter32 = 0.51, kInverter16 = 0.179, kInverter7 = 0.111;

/// A node: cells, bits, and what its energies are computed with.
struct Row {
  double gate = 0;        ///< um2, NAND2 of the smallest drive
  double bit_cell = 0;    ///< um2, six transistors, the dense one
  double efficiency = 0;  ///< part of a memory that is cells
  double inverter = 0;    ///< fJ, [S]
  double beyond = 1;      ///< of an energy at 7 nm, for nodes after it
};

/// A node and what its inverter takes, of [S].
struct Inverter {
  double nm, energy;
};

/// On the line between two of [S]'s nodes in log-log.
double inverter_between(double nm, Inverter a, Inverter b) {
  const double part = std::log(a.nm / nm) / std::log(a.nm / b.nm);
  return a.energy * std::pow(b.energy / a.energy, part);
}
double inverter_above_16(double nm) {
  return inverter_between(nm, {32, kInverter32}, {16, kInverter16});
}

/// Sources by node. A NAND2 is three gate pitches wide; libraries say pitch and height in their
/// names (bwp9t30p140: 9 tracks, pitch of 140 nm). This width times height is also what designs in
/// 22FDX (3 x 104 nm x 640 nm) and GF12 (3 x 84 nm x 480 nm) take for a gate equivalent, 0.199 and
/// 0.121 um2.
/// - 45 nm: gate NAND2_X1 of the NanGate open cell library; bit cell Intel, K. Mistry et al., IEDM
///   2007; half of a memory is taken to be cells: of the 119 mm2 of that process's 153 Mbit chip
///   they are 47 %;
/// - 28 nm: TSMC's tcbn28 library of 9 tracks of 100 nm, pitch 140 nm: 3 x 0.14 x 0.9; bit cell
///   0.127, TSMC 28 nm, S.-Y. Wu et al., IEDM 2009; efficiency as at 45 nm;
/// - 22 nm: gate of 22FDX as above; bit cell 0.092, the dense one of Intel's P1270 (WikiChip,
///   "22 nm lithography process"): of another process than the gate's, whose own wasn't found;
///   efficiency as at 45 nm;
/// - 16 nm: TSMC's tcbn16 library of 9 tracks of 64 nm, pitch 90 nm: 3 x 0.09 x 0.576; bit cell
///   0.07, S.-Y. Wu et al., IEDM 2013; efficiency as at 45 nm;
/// - 10 nm: gate pitch 64 nm and metal pitch 42 nm of TSMC's 10 nm (WikiChip, "10 nm lithography
///   process"), the 9 tracks assumed as at 16 nm: 3 x 0.064 x 0.378; bit cell 0.040, Samsung 10 nm,
///   T. Song et al., ISSCC 2016; efficiency as at 45 nm;
/// - 7 nm: TSMC's tcbn07 library of 240 nm, pitch 57 nm; bit cell 0.027, S.-Y. Wu et al., IEDM
///   2016; efficiency as at 5 nm;
/// - 5 nm: TSMC's tcbn05 library of 210 nm, pitch 51 nm; bit cell 0.021, G. Yeap et al., IEDM 2019;
///   with what is around the cells 31.8 Mibit/mm2 (WikiChip, IEDM 2022, for the same cell), of
///   which cells are 70 %; energy: TSMC puts N5 at 30 % less power than N7 at equal speed.
const Row& technology_row(Technology t) {
  static const std::array<Row, kTechnologies> kRows = {{
      {},
      {0.798, 0.346, 0.5, kInverter45, 1},
      {3 * 0.14 * 0.9, 0.127, 0.5, inverter_above_16(28), 1},
      {3 * 0.104 * 0.64, 0.092, 0.5, inverter_above_16(22), 1},
      {3 * 0.09 * 0.576, 0.07, 0.5, kInverter16, 1},
      {3 * 0.064 * 0.378, 0.04, 0.5, inverter_between(10, {16, kInverter16}, {7, kInverter7}), 1},
      {3 * 0.057 * 0.24, 0.027, 0.7, kInverter7, 1},
      {3 * 0.051 * 0.21, 0.021, 0.7, kInverter7, 0.7},
  }};
  check(t != Technology::custom, "a technology that has figures");
  return kRows[static_cast<size_t>(t)];
}

double scaled_energy(Technology t, Ends ends) {
  const Row& r = technology_row(t);
  const double w = std::log(kInverter45 / r.inverter) / std::log(kInverter45 / kInverter7);
  return ends.nm45 * std::pow(ends.nm7 / ends.nm45, w) * r.beyond;
}

/// A point of a line in log-log.
struct LogPoint {
  double x, y;
};
double on_line(LogPoint a, LogPoint b, double x) {
  return a.y * std::pow(x / a.x, std::log(b.y / a.y) / std::log(b.x / a.x));
}

/// A macro of 64 bits, as a part of one of [J]'s smallest memory: 1024 words. At most that many.
double small_macro(double words) {
  size_t i = 0;
  while (kMacroEnergies[i + 1].words < words) ++i;
  const MacroEnergy a = kMacroEnergies[i], b = kMacroEnergies[i + 1];
  const double access = on_line({a.words, a.access}, {b.words, b.access}, std::max(words, a.words));
  return access / kMacroEnergies.back().access;
}

/// Picojoules of 64 bits of an SRAM of so many bytes, more than 0.
double word_pj(Technology t, double bytes) {
  const double kib = bytes / 1024;
  const auto of = [&](const SramPoint& p) { return LogPoint{p.kib, scaled_energy(t, p.word)}; };
  if (kib <= kSram[0].kib) return of(kSram[0]).y * small_macro(bytes / kWordBytes);
  const size_t i = kib <= kSram[1].kib ? 0 : 1;
  return on_line(of(kSram[i]), of(kSram[i + 1]), kib);
}

}  // namespace

std::string_view name(Technology t) { return kNames[static_cast<size_t>(t)]; }
std::string_view name(DramKind kind) { return kDramNames[static_cast<size_t>(kind)]; }

double multiply_pj(Technology t, DType operand) {
  switch (operand) {
    case DType::int16:
      return 4 * scaled_energy(t, kInt8Multiply);
    case DType::float16:
      return scaled_energy(t, kFp16Multiply);
    case DType::bfloat16:
      return scaled_energy(t, kBf16Multiply);
    case DType::float32:
      return scaled_energy(t, kFp32Multiply);
    default:
      return scaled_energy(t, kInt8Multiply);
  }
}

double add_pj(Technology t, DType sum) {
  return scaled_energy(t, is_float(sum) ? kFp32Add : kInt32Add);
}

double mac_pj(Technology t, DType activation, DType weight) {
  return std::max(multiply_pj(t, activation), multiply_pj(t, weight)) +
         add_pj(t, is_float(activation) ? DType::float32 : DType::int32);
}

double vector_op_pj(Technology t, bool real) {
  const DType type = real ? DType::float32 : DType::int8;
  return mac_pj(t, type, type);
}

double register_pj(Technology t, double bits) {
  return bits * scaled_energy(t, {kRegisterBit, kRegisterBit * kInt32Add.nm7 / kInt32Add.nm45});
}

double sram_pj_per_byte(Technology t, int64_t bytes, double width) {
  check(width > 0, "an access of some bytes");
  if (bytes <= 0) return 0;
  const double across = width / kWordBytes;
  const double word = word_pj(t, static_cast<double>(bytes) / across);
  return word * (kFixedAccess / std::min(across, 1.0) + 1 - kFixedAccess) / kWordBytes;
}

double dram_pj_per_byte(DramKind kind) {
  constexpr std::array<double, kDramKinds> kEnergies = {0, 1300.0 / 8, 1300.0 / 8, 6.0 * 8,
                                                        3.9 * 8};
  check(kind != DramKind::custom, "a kind of DRAM that has figures");
  return kEnergies[static_cast<size_t>(kind)];
}

double gate_um2(Technology t) { return technology_row(t).gate; }

double sram_bit_um2(Technology t) {
  return technology_row(t).bit_cell / technology_row(t).efficiency;
}

double sram_um2(Technology t, int64_t bytes, double least_macros) {
  if (bytes <= 0) return 0;
  const double large = static_cast<double>(bytes) / static_cast<double>(kMacroBytes);
  const double more = std::max(least_macros, large) - large;
  return sram_bit_um2(t) * (8 * static_cast<double>(bytes) + kMacroBits * more);
}

}  // namespace accsim::hw
