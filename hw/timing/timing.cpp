#include "hw/timing/timing.h"

#include "hw/timing/simulator.h"

namespace accsim::hw {

std::string_view name(Wait w) {
  constexpr std::array<std::string_view, kWaits> kNames = {"dram_read", "dram_write", "shared",
                                                           "array",     "post",       "slot"};
  return kNames[static_cast<size_t>(w)];
}

Timing simulate(const Program& program, const HwConfig& hw, TimingMode mode,
                const CommandObserver& observer) {
  StepWriter writer;
  write_steps(program, hw, writer);
  return Simulator().run(writer.steps(), hw, mode, observer ? &observer : nullptr);
}

}  // namespace accsim::hw
