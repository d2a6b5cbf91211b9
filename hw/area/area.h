#pragma once
#include "hw/config/hw_config.h"

namespace accsim::hw {

/// A proxy for the silicon of a machine, in square millimetres, to rank machines by: the parts that
/// grow with the fields, from published areas of their kind, without wiring, control, clock and
/// pads. Never less when a field grows. It is the sum of
/// - rows x cols processing elements: a multiplier, an adder and registers for a streaming operand,
///   a partial sum, and a stationary operand with the next one behind it;
/// - vector lanes: a 32-bit multiplier and adder each;
/// - on-chip memories: bits / 0.5 x 0.346 um2;
/// - the DRAM interface: 0.58 mm2 for each GB/s, reads and writes together.
/// What the figures rest on:
/// - arithmetic, um2: int8 add 36, int32 add 137, int8 multiply 282, int32 multiply 3495, fp16 add
///   1360 and multiply 1640, fp32 add 4184 and multiply 7700; synthesised for TSMC 45 nm, in J.
///   Hennessy and D. Patterson, "Computer Architecture", 6th edition, figure 1.13. int16 multiply
///   is assumed to be four of int8, bfloat16 to be like fp16;
/// - registers: 4.52 um2 a flip-flop, DFF_X1 of the NanGate 45 nm open cell library;
/// - memories: the bit cell of Intel's 45 nm process, K. Mistry et al., IEDM 2007. Half of a memory
///   is assumed to be cells; of the 119 mm2 of that process's 153 Mbit test chip they are 47 %;
/// - interface: N. Jouppi et al., ISCA 2017: two DDR3 ports of 3 % each of a die of at most 331 mm2
///   for 34 GB/s. That die is of 28 nm, and newer interfaces are denser.
/// For the array, memories and interface of that chip (65,536 elements, 28 MiB, 34 GB/s) it gives
/// 230 mm2 at 45 nm, where the real one has up to 331 mm2 at 28 nm: use it for ratios, not for
/// dies. The areas of single operations are quoted from the book's table, not measured here.
double area_mm2(const HwConfig& hw);

/// Bytes of all buffers and the shared memory.
int64_t sram_bytes(const HwConfig& hw);

}  // namespace accsim::hw
