#pragma once
#include <optional>
#include <string_view>

#include "hw/program/program.h"

namespace accsim::hw {

/// What golden and the RTL core lack of a machine, of a mode of its types, or of a command. This is
/// the one place that knows; where a machine lacks several it is the first in this order.
enum class CoreLack : uint8_t {
  dot_products,       ///< of a machine: in the array's place
  types,              ///< of a machine or mode: other than int8 by int8 or int4 into int32
  banked_dram,        ///< of a machine: times of real parts
  one_bus,            ///< for reads and writes of DRAM
  kept_weights,       ///< from run to run
  wide_ports,         ///< of buffers: more bytes than co-simulation carries
  mode_rate,          ///< of a mode: other than 1
  operations,         ///< a VectorCommand
  walk_levels,        ///< more than kWalkLevels of a load, store or stage
  padded_loads,       ///< explicit im2col
  accumulator_loads,  ///< partial sums from memory
  wide_elements,      ///< a load that turns matrices of elements of several bytes
};
inline constexpr size_t kCoreLacks = 12;
/// As reports say it: "banked DRAM", "padded loads"; "" of nothing.
std::string_view name(std::optional<CoreLack> lack);

/// Of all programs on the machine.
std::optional<CoreLack> core_lacks(const HwConfig& hw);
/// Of products of the mode on a machine whose own types the core runs.
std::optional<CoreLack> core_lacks(const TypeMode& mode);
std::optional<CoreLack> core_lacks(const Command& command);
/// Of several commands the first in the text.
std::optional<CoreLack> core_lacks(const Program& program);

/// Bytes of a buffer's widest port: what co-simulation carries in a cycle, and what rtl/ counts of
/// a beat in 16 bits (*_bytes_o).
inline constexpr int64_t kMostCosimPort = 512, kMostRtlPort = 65535;
/// Does the core run the machine's programs? Errc::unsupported says what core_lacks() of it, and
/// what to do: of ports an error for each. They name the machine.
Status core_runs(const HwConfig& hw);
/// The same of the machine's array, slots and units, whatever its memory is: can rtl/ describe
/// them, and can co-simulation build such a core?
Status rtl_describes(const HwConfig& hw);
Status cosim_builds(const HwConfig& hw);

}  // namespace accsim::hw
