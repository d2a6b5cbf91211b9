#pragma once
#include "hw/config/hw_config.h"

namespace accsim::hw {

/// Bits of arithmetic and registers.
struct CoreCells {
  int64_t registers = 0, adders = 0;
  int64_t multipliers = 0;  ///< products of the two operands' bits
};

/// What the core of rtl/ has beside the processing elements and the memories, whatever the types of
/// the machine:
/// - a vector lane (the most that a class has): vector_lane and row_lane, their share of pipeline
///   and trees; products of 32 x 16, 9 x 16, 48 x 16, 17 x 8, 9 x 9, 18 x 8 and twice 32 x 32 bits;
///   what exponentials take beside it, in as many of them as are for special operations; what
///   weighing taps takes beside it, in vector.mac_lanes of them: products of 9 x 9 bits and 16 bits
///   more of both factors behind it, and the scale on its way; the walk over scales, once;
/// - a post lane (array columns, at most the output port): bias, multiplier of channel or group of
///   32 x 32 bits, sum of groups, residual;
/// - a root and a division of a row, as many as there are special lanes, at most 8;
/// - a row and a column of the array: skews, operands and accumulators on their way;
/// - a row of weights that goes in per cycle (array.fill_rows): its skew and its walk;
/// - transposers: two memories, two blocks of side x side elements each;
/// - tables of the post and the vector unit, 256 bytes each, and those of exponentials;
/// - the same on every machine: queues of descriptors, walks of all six queues (stages and indices
///   of gathered loads too), tokens of buffers and regions.
/// The constants are what Yosys counts in rtl/ (scripts/rtl_cells): of the lanes by module, the
/// rest between 4x4 and 8x8. Registers and adders are then within 1 % of it on three other shapes
/// as well, multipliers exact (tests/hw/area). Selectors (alignment, widening of 4-bit weights,
/// look-ups, where results go) count as little as wiring and control do.
CoreCells core_cells(const HwConfig& hw);

/// The silicon of a machine by what it is.
struct Area {
  double cells_um2 = 0;     ///< gates and registers of array, lanes and the rest of the core
  double memories_um2 = 0;  ///< buffers and the shared memory
  /// To DRAM, on the same die but of no core: a DDR3 port of 28 nm for as many GB/s, whatever kind
  /// of DRAM the machine has. Denser ones are of another order.
  double interface_mm2 = 0;
  double utilisation = 1;  ///< part of the area of placed cells that is cells

  /// What synthesis reports: cells and memories, before they are placed.
  double synthesis_mm2() const { return (cells_um2 + memories_um2) / 1e6; }
  double core_mm2() const { return (cells_um2 / utilisation + memories_um2) / 1e6; }
  double die_mm2() const { return core_mm2() + interface_mm2; }
};

/// A machine with energy.technology: in square millimetres of that node,
/// - cells: gate equivalents times hw/technology's area of one. An element of the array and a
///   lane of the vector and of the post unit are what Yosys makes of rtl/ (kArrayGates, ... in
///   area.cpp, of tests/hw/area/gates.txt), elements of other types than int8, or without a sum of
///   their own (dot products), in proportion to the areas of arithmetic below; the rest of
///   core_cells() by the cells that gates.txt is in: a flip-flop and its enable are 6 gates, an
///   adder's bit 8.67, a bit of a product 10. Yosys maps to simple gates without choosing among a
///   library's, so a synthesis for a technology ends smaller;
/// - lanes that something feeds. Of int8, lanes that have commands are at most as many as bytes of
///   the activation port, as in rtl/. What normalises rows (row_lane) is in as many of them as rows
///   have elements a cycle: vector.lanes.elementwise, and for int8 the activation and output ports;
/// - memories: bits times hw/technology's area of one, and what macros have around their cells: a
///   memory is as many macros as its size asks for, at least one for each slot and each 8 bytes of
///   its widest port (hw/config's slot_memory(), hw/technology's sram_um2()). Weights have as many
///   copies of theirs as rows go into the array per cycle;
/// - utilisation: 0.7, an assumption; blocks are usually placed with 60 to 80 % of cells;
/// - beside them the DRAM interface as below.
/// A machine without: textbook_area().
/// No field makes it less when it grows.
Area machine_area(const HwConfig& hw);

/// core_mm2() of machine_area(): what sweeps and advice rank machines by. The interface to DRAM
/// isn't in it: at 0.58 mm2 per GB/s every choice by area would be one by bandwidth.
double area_mm2(const HwConfig& hw);

/// A proxy at 45 nm for machines that name no technology, to rank them by: the parts that
/// grow with the fields, from published areas of their kind, without wiring, control, clock and
/// pads. Never less when a field grows. The core is the sum of
/// - rows x cols processing elements: a multiplier, an adder and registers for a streaming operand,
///   a partial sum, and a stationary operand with the next one behind it;
///   Of several modes (types.modes) each of these parts is the one of the mode that takes the most,
///   a MAC of rate r being r multipliers and adders with r operands;
/// - core_cells(), by the bit: an int32 multiply / 1024, an int32 add / 32, a register;
/// - on-chip memories: bits / 0.5 x 0.346 um2.
/// The DRAM interface beside it has 0.58 mm2 for each GB/s, reads and writes together.
/// What the figures rest on:
/// - arithmetic, um2: int8 add 36, int32 add 137, int8 multiply 282, int32 multiply 3495, fp16 add
///   1360 and multiply 1640, fp32 add 4184 and multiply 7700; synthesised for TSMC 45 nm, in J.
///   Hennessy and D. Patterson, "Computer Architecture", 6th edition, figure 1.13. int16 multiply
///   is assumed to be four of int8, bfloat16 to be like fp16, float8 to multiply like int8;
/// - registers: 4.52 um2 a flip-flop, DFF_X1 of the NanGate 45 nm open cell library;
/// - memories: the bit cell of Intel's 45 nm process, K. Mistry et al., IEDM 2007. Half of a memory
///   is assumed to be cells; of the 119 mm2 of that process's 153 Mbit test chip they are 47 %;
/// - interface: N. Jouppi et al., ISCA 2017: two DDR3 ports of 3 % each of a die of at most 331 mm2
///   for 34 GB/s. That die is of 28 nm, and newer interfaces are denser.
/// For the array, memories and interface of that chip (65,536 elements, 28 MiB, 34 GB/s) it gives
/// 235 mm2 at 45 nm, where the real one has up to 331 mm2 at 28 nm: use it for ratios, not for
/// dies. The areas of single operations are quoted from the book's table, not measured here.
Area textbook_area(const HwConfig& hw);

/// Bytes of all buffers (buffer_bytes()) and the shared memory.
int64_t sram_bytes(const HwConfig& hw);

}  // namespace accsim::hw
