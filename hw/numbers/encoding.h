#pragma once
#include <cstdint>

#include "hw/numbers/core_formats.h"

namespace accsim::hw {

/// How elements lie in the bytes of a row.
enum class Packing : uint8_t {
  dense,         ///< each in whole bytes of its own
  two_per_byte,  ///< of 4 bits: the first in the low half, each row from a whole byte on
};

/// What an operand in memory is: numbers of a format, packed in some way.
struct Encoding {
  FormatId format = core_formats::kOperand;
  Packing packing = Packing::dense;
  friend constexpr bool operator==(const Encoding&, const Encoding&) = default;

  constexpr bool is_packed() const { return packing != Packing::dense; }
  constexpr int bits() const { return number_format(format).bits; }
  /// Of an element that isn't packed.
  constexpr int64_t element_bytes() const { return (bits() + 7) / 8; }
  /// Of a row of so many elements.
  constexpr int64_t row_bytes(int64_t elements) const {
    return is_packed() ? number_format(format).bytes(elements) : elements * element_bytes();
  }
};
inline constexpr Encoding kPackedWeights{core_formats::kPacked, Packing::two_per_byte};

}  // namespace accsim::hw
