#pragma once
#include <cstdint>
#include <vector>

#include "hw/timing/timing.h"

namespace accsim {

/// A program reduced to what time depends on: durations and token operations, in text order.
struct Step {
  enum class Kind : uint8_t { loop, load, gemm, drain, post, store, wait, signal };
  Kind kind = Kind::wait;
  // loop
  int64_t count = 0;
  int32_t end = 0;           ///< index behind the last step of the body
  int64_t work = 0;          ///< steps that all its iterations run, up to kMuchWork
  // commands
  int64_t occupancy = 0;     ///< of the queue
  int64_t fill = 0;          ///< gemm: preload cycles; drain: drain cycles
  int64_t latency = 0;       ///< from the end of the occupancy to the visible result
  Wait memory = Wait::array; ///< load, store: the tag of the memory
  // tokens
  Queue queue = Queue::load;
  Buffer buffer = Buffer::activation;
  bool full = false;         ///< full or free token
  bool stationary = false;   ///< execute queue: token of the operand that is preloaded
};

inline constexpr int64_t kMuchWork = 1'000'000;

std::vector<Step> compile(const Program& program, const HwConfig& hw);

}  // namespace accsim
