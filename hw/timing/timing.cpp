#include "hw/timing/timing.h"

#include "hw/timing/simulator.h"

namespace accsim::hw {

std::string_view name(Wait w) {
  constexpr std::array<std::string_view, kWaits> kNames = {
      "dram_read", "dram_write", "shared", "weight_load", "array", "post", "slot"};
  return kNames[static_cast<size_t>(w)];
}

Timing& Timing::operator+=(const Timing& o) {
  total += o.total;
  for (const Queue q : Queue::all()) {
    QueueTiming& to = queues[q];
    const QueueTiming& from = o.queues[q];
    to.busy += from.busy;
    to.hidden += from.hidden;
    to.free_at += from.free_at;
    for (size_t w = 0; w < kWaits; ++w) to.waits[w] += from.waits[w];
  }
  return *this;
}

namespace {

class Observed : public Watcher {
 public:
  explicit Observed(const CommandObserver& observer) : observer_(observer) {}
  void on_command(const TimedStep& c) override { observer_({c.queue, c.start, c.finish, c.end}); }

 private:
  const CommandObserver& observer_;
};

}  // namespace

Timing simulate(const Program& program, const HwConfig& hw, TimingMode mode,
                const CommandObserver& observer) {
  StepWriter writer;
  write_steps(program, hw, writer);
  if (!observer) return Simulator().run(writer.steps(), hw, mode, nullptr, writer.regions());
  Observed watcher(observer);
  return Simulator().run(writer.steps(), hw, mode, &watcher, writer.regions());
}

}  // namespace accsim::hw
