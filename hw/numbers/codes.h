#pragma once
#include <cstdint>

#include "hw/numbers/number_format.h"

namespace accsim::hw {

/// The number that a code stands for, as a double, which holds those of every float. `code` has no
/// bits above the format's. Infinities and NaNs of IEEE formats keep sign and payload.
double decode_real(const NumberFormat& format, uint64_t code);
/// The integer that a code stands for; one of uint64 as its bit pattern.
int64_t decode_integer(const NumberFormat& format, uint64_t code);

/// What a number beyond the highest becomes.
enum class Beyond : uint8_t {
  saturates,  ///< the highest
  overflows,  ///< infinity; where the format has none, NaN; where it has no NaN either, the highest
};

/// The nearest number of a format of kind real, ties to even. Infinities are beyond the highest. A
/// NaN stays one; a format without NaN has the highest for it, as ONNX's casts do.
double round_real(const NumberFormat& format, double v, Beyond beyond);

}  // namespace accsim::hw
