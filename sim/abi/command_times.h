#pragma once
#include <array>
#include <cstdint>
#include <vector>

#include "hw/timing/timing.h"

namespace accsim::abi {

/// When each command of a program starts and is done, by the timing model.
class CommandTimes {
 public:
  CommandTimes(const hw::Program& program, const hw::HwConfig& hw);

  struct Span {
    int64_t start, finish;
  };
  /// Of the queue's command `ordinal`.
  const Span& span_of(hw::Queue queue, int64_t ordinal) const;
  int64_t command_count() const { return commands_; }
  int64_t total_cycles() const { return total_; }  ///< cycles of the program

 private:
  hw::PerQueue<std::vector<Span>> spans_;
  int64_t commands_ = 0, total_ = 0;
};

}  // namespace accsim::abi
