#pragma once
#include "hw/config/hw_config.h"

namespace accsim {

/// Silicon of a machine in square millimetres of a 45 nm process: a proxy to rank machines by, not
/// a floorplan. The sum of
///  - rows x cols processing elements: a multiplier, an adder and registers for a streaming
///  operand, a
///    partial sum, and a stationary operand with the next one behind it;
///  - vector lanes: a 32-bit multiplier and adder each;
///  - on-chip memories: bits / 0.5 x 0.346 um2;
///  - the DRAM interface: 0.58 mm2 for each GB/s, reads and writes together.
/// Sources: arithmetic, M. Horowitz, "Computing's energy problem", ISSCC 2014, 45 nm (um2: int8 add
/// 36, int32 add 137, int8 multiply 282, int32 multiply 3495, fp16 multiply 1640 and add 1360, fp32
/// multiply 7700 and add 4184; int16 multiply taken as four of int8). Registers: 4.52 um2 a
/// flip-flop, DFF_X1 of the NanGate FreePDK45 library. Memory: 0.346 um2 a bit cell, K. Mistry et
/// al., IEDM 2007, at an array efficiency of a half, a customary figure. Interface: N. Jouppi et
/// al., ISCA 2017, two DDR3 ports of 3 % of 331 mm2 each for 34 GB/s; newer interfaces are denser.
/// Never less when a field grows.
double area_mm2(const HwConfig& hw);

/// Bytes of all buffers and the shared memory.
int64_t sram_bytes(const HwConfig& hw);

}  // namespace accsim
