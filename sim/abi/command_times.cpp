#include "sim/abi/command_times.h"

#include "sim/base/check.h"

namespace accsim::abi {

CommandTimes::CommandTimes(const hw::Program& program, const hw::HwConfig& hw) {
  const auto keep = [this](const hw::CommandTime& t) {
    spans_[t.queue].push_back({t.start, t.finish});
    ++commands_;
  };
  total_ = hw::simulate(program, hw, hw::TimingMode::step, keep).total.count();
}

const CommandTimes::Span& CommandTimes::span_of(hw::Queue queue, int64_t ordinal) const {
  const std::vector<Span>& all = spans_[queue];
  check(ordinal >= 0 && ordinal < std::ssize(all), "a command that the timing model doesn't know");
  return all[static_cast<size_t>(ordinal)];
}

}  // namespace accsim::abi
