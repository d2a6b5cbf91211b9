#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "sim/base/dtype.h"

namespace accsim::hw {

/// Silicon technologies of which sizes and energies are known, by the name of the node. `custom`: a
/// machine file says all energies itself.
///
/// What the figures rest on:
/// - [H] M. Horowitz, "Computing's energy problem", ISSCC 2014: 45 nm, 0.9 V;
/// - [J] N. Jouppi et al., "Ten lessons from three generations shaped Google's TPUv4i", ISCA 2021,
///   table 2: the same operations at 45 nm (those of [H]) and 7 nm, memories of 8 KiB, 32 KiB and 1
///   MiB, and DRAM;
/// - [S] A. Stillmaker and B. Baas, "Scaling equations for the accurate prediction of CMOS device
///   performance from 180 nm to 7 nm", Integration 58, 2017, table 2: energy of an inverter that
///   drives four, at nominal voltage, fJ: 1.05 at 45 nm, 0.51 at 32, 0.179 at 16, 0.111 at 7;
/// - [A] Y. Shao et al., "Aladdin", ISCA 2014, with its table common/power_func.h of a commercial
///   library of 40 nm: what a bit of a register takes in a cycle;
/// - [I] the data sheets of IHP's compiler for single-port memories, SG13G2, in its open PDK
///   (RM_IHPSG13_1P_*.txt): macros by words and width;
/// - cells and bits: in the rows of technology.cpp.
///
/// Energies of 45 and 7 nm are those of [J]. In between an operation takes E45 x (E7 / E45)^w, w
/// being how far [S]'s inverter has come from 45 to 7 nm, on a scale of logarithms: both ends are
/// published for the operation itself, and [S] says where a node lies between. 28 and 22 nm lie
/// between [S]'s 32 and 16, 10 between 16 and 7, on lines in log-log. (By [S] alone an operation
/// would take 9.5 times less at 7 than at 45 nm, by [J] it takes 2.1 to 4.3 times less.)
enum class Technology : uint8_t { custom, nm45, nm28, nm22, nm16, nm10, nm7, nm5 };
inline constexpr size_t kTechnologies = 8;
/// As machine files spell it: "custom", "45nm", ...
std::string_view name(Technology t);

/// Kinds of DRAM whose energy is known; `custom`: a machine file says its energies itself.
enum class DramKind : uint8_t { custom, ddr3, ddr4, lpddr4, hbm2 };
inline constexpr size_t kDramKinds = 5;
/// As machine files spell it: "custom", "ddr3", ...
std::string_view name(DramKind kind);

/// Picojoules of one multiplication in `operand`. Precondition: not custom.
/// - int4 takes what int8 does: the array widens it before it multiplies;
/// - int16 multiplies as four of int8;
/// - float8 multiplies as int8: significands of 3 and 4 bits, and a small sum of exponents;
/// - bfloat16 at 45 nm: float16 by their ratio at 7 nm, where [J] has both.
double multiply_pj(Technology t, DType operand);
/// Picojoules of one addition of a sum of that type: int32 or float32. Precondition: not custom.
double add_pj(Technology t, DType sum);

/// Picojoules of one multiply-accumulate: a multiplication in the dearer of both types, and an
/// addition in int32 or, with float activations, float32. Precondition: not custom.
double mac_pj(Technology t, DType activation, DType weight);

/// Picojoules of one operation of a vector lane, which has a multiplier and an adder: for integers
/// as an int8 MAC, for floats as one of float32. Precondition: not custom.
double vector_op_pj(Technology t, bool real);

/// Picojoules that so many bits of registers take in a cycle in which they are clocked. [A] has
/// 0.0090 pJ for each, 0.0079 of it inside the cell, at every clock rate; taken to be of 45 nm.
/// Finer nodes go as [J]'s addition of int32 does, since [J] has no registers. Precondition: not
/// custom.
double register_pj(Technology t, double bits);

/// Words of 64 bits in a macro of a memory compiler, and what an access takes, pJ.
struct MacroEnergy {
  double words, access;
};
/// "Total Typical Power" of [I]'s RM_IHPSG13_1P_*x64_c2 at 1.2 V and 25 degrees, 1 uW/MHz being 1
/// pJ. It is a compiler of 130 nm: what is taken from it is ratios.
inline constexpr std::array<MacroEnergy, 4> kMacroEnergies = {
    {{64, 56.80}, {256, 72.56}, {512, 91.42}, {1024, 118.1}}};
/// Of an access of 64 bits, the part that doesn't depend on its width. [I] has 19.70, 33.76 and
/// 118.1 pJ for 8, 16 and 64 bits of 1024 words: 5.645 pJ and 1.757 for each bit.
inline constexpr double kFixedAccess = 1 - 64 * (118.1 - 33.76) / (64 - 16) / 118.1;

/// Picojoules per byte, read or written, of one SRAM of `bytes` whose accesses have `width` bytes.
/// - 64 bits: lines in log-log go through [J]'s three sizes; above 1 MiB the upper line goes on.
///   Below 8 KiB it is as much less than at 8 KiB as [I]'s macros of 64 bits are, on lines in
///   log-log. A memory of fewer than [I]'s 64 words takes what one of 64 does.
/// - Wider memories are macros of 64 bits side by side, as their area is: each has its part of the
///   bytes, and all have an access. So a byte takes what it does in one of these macros.
/// - Narrower memories have as many words as one of 64 bits with more bytes. An access takes
///   kFixedAccess of what it takes there, and of the rest its part of the bits. At 45 nm one of 16
///   bits then takes 0.57 of one of 64 in 8 KiB, and one of 8 bits 0.43 in 4 KiB; [I] has 0.62
///   (4096x16_c3: 73.17 pJ) and 0.45 (4096x8_c3: 41.10 pJ).
/// No bytes take none. Never less when `bytes` grows, never more when `width` does. Preconditions:
/// not custom, a width.
double sram_pj_per_byte(Technology t, int64_t bytes, double width);

/// Picojoules a byte of DRAM, device and interface, whatever the technology of the machine:
/// - DDR3, DDR4: [J], 1300 pJ for 64 bits, which [H] has as the lower end of 1300 to 2600;
/// - LPDDR4: customarily put at 4 to 8 pJ a bit, 6 taken; no single publication;
/// - HBM2: 3.9 pJ a bit, M. O'Connor et al., "Fine-grained DRAM", MICRO 2017, which is also the
///   lower end of [J]'s 250 to 450 pJ for 64 bits.
/// Precondition: not custom.
double dram_pj_per_byte(DramKind kind);

/// Leakage and clock tree a cycle, as a part of what the array takes at full load. An assumption,
/// as in the machine files of configs/, and not a publication: replace it where you know better.
inline constexpr double kStaticPart = 0.1;

/// Square micrometres of a NAND2 gate, in which synthesis counts. Precondition: not custom.
double gate_um2(Technology t);
/// Square micrometres of one bit in a memory of large macros, what is around the cells included.
/// Precondition: not custom.
double sram_bit_um2(Technology t);

/// Bytes of a large macro: the largest of 64 bits that kMacroBits rests on.
inline constexpr int64_t kMacroBytes = 16 * 1024;
/// What a macro has around its cells whatever its size, in bits of large macros. Of IHP's compiler
/// for single-port memories, SG13G2, as the data sheets of its open PDK say (RM_IHPSG13_1P_*x64_c2,
/// "Area"): 50489, 93181, 150102, 263946 and 491634 um2 for 64, 256, 512, 1024 and 2048 words of 64
/// bits are 3.474 um2 for each bit and 36260 for each macro. That is a compiler of 130 nm: what is
/// taken from it is the ratio, not a size. A macro of 0.5 KiB so takes 3.3 times a large one's area
/// for each bit, one of 4 KiB 1.2 times.
inline constexpr double kMacroBits = [] {
  constexpr double kWords[] = {1024, 2048}, kArea[] = {263946.14, 491633.62};
  constexpr double kBit = (kArea[1] - kArea[0]) / (64 * (kWords[1] - kWords[0]));
  return (kArea[1] / kBit - 64 * kWords[1]) * kBit / (kArea[1] / (64 * kWords[1]));
}();

/// Square micrometres of a memory of so many bytes that is at least so many macros: as many as
/// kMacroBytes ask for, if those are more. Never less when either grows; nothing of no bytes.
/// Precondition: not custom.
double sram_um2(Technology t, int64_t bytes, double least_macros);

}  // namespace accsim::hw
