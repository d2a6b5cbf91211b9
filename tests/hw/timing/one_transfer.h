#pragma once
#include <cstdint>
#include <vector>

#include "hw/timing/simulator.h"
#include "hw/timing/timing.h"

namespace accsim::hw::test_steps {

/// A load from DRAM into activations, or a store to it, of so many bytes.
inline Step transfer(const HwConfig& hw, bool write, int64_t bytes) {
  StepWriter w;
  w.start_program(hw, Dataflow::weight_stationary);
  if (write)
    w.store(MemoryId::dram, {{}, bytes});
  else
    w.load(Buffer::activation, MemoryId::dram, {{}, bytes});
  return w.steps()[0];
}

/// Cycles of all steps, one by one.
inline int64_t total(const HwConfig& hw, const std::vector<Step>& steps) {
  return Simulator().run(steps, hw, TimingMode::step).total.count();
}

}  // namespace accsim::hw::test_steps
