#pragma once
#include "hw/numbers/number_format.h"

/// Formats of the numbers that golden and the core of rtl/ compute with; a machine of others runs
/// on neither. scripts/generate_rtl_layout writes their bits into rtl/accsim_pkg.sv.
namespace accsim::hw::core_formats {

inline constexpr FormatId kOperand = FormatId::int8;       ///< activations, weights, results
inline constexpr FormatId kPacked = FormatId::int4;        ///< weights, two in a byte
inline constexpr FormatId kFactor = FormatId::int16;       ///< of operands; results of two steps
inline constexpr FormatId kMultiplier = FormatId::int32;   ///< of sums
inline constexpr FormatId kAccumulator = FormatId::int32;  ///< sums

}  // namespace accsim::hw::core_formats
