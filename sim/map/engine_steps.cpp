#include "sim/map/engine_steps.h"

#include "hw/timing/simulator.h"

namespace accsim::sim {

void write_engine_steps(std::span<const Place> reads, std::span<const Place> writes, int64_t cycles,
                        const hw::HwConfig& hw, Mapping& m) {
  hw::StepWriter steps;
  steps.start_program(hw, hw::Dataflow::weight_stationary);
  const auto mark = [&](const Place& place, bool reads_it) {
    steps.mark({reads_it, hw::Queue::load, static_cast<int>(m.trace.ports.size())});
    m.trace.ports.push_back(place.port);
  };
  for (const Place& place : reads)
    if (!place.constant) mark(place, true);
  steps.engine(cycles);
  for (const Place& place : writes) mark(place, false);
  m.trace.shared.resize(m.trace.ports.size());
  m.trace.steps.assign(steps.steps().begin(), steps.steps().end());
  steps.start_program(hw, hw::Dataflow::weight_stationary);
  steps.engine(cycles);
  m.timing = hw::Simulator().run(steps.steps(), hw, hw::TimingMode::periodic, nullptr, {});
}

}  // namespace accsim::sim
