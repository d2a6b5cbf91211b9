#pragma once
#include <random>

#include "hw/golden/golden.h"

namespace accsim::hw {

/// Bytes of all tensors together that random_contents() draws, at most.
inline constexpr int64_t kMostDrawnBytes = int64_t{2} << 30;

/// What a verified program's tensors hold when it begins: any bytes, but where the text lets see
/// that bytes become parameters. Those are whole words of 0 .. 24, which serve as bias, multiplier,
/// shift and index alike, or the tables of a softmax. The text doesn't always let see it: golden
/// refuses what it can't compute with. Errc::capacity: more than `most` bytes.
Result<MemoryImage> random_contents(const Program& program, std::mt19937& random,
                                    int64_t most = kMostDrawnBytes);

}  // namespace accsim::hw
