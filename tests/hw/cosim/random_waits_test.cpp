#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "hw/program/contract.h"
#include "hw/random/random_marks.h"
#include "hw/random/random_network.h"
#include "hw/timing/timing.h"
#include "tests/support/machines.h"

/// Do random programs wait? Co-simulation sees only those waits without which times are others.
namespace accsim::hw {
namespace {

constexpr int kPrograms = 200;

HwConfig copying_machine() {
  HwConfig hw = test::small_machine();
  hw.dram = {{16000}, {16000}, 12};
  hw.shared = {64, {{16000}, {8000}, 5}};
  return hw;
}

std::vector<ProgramWithImage> copies(const HwConfig& hw, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<ProgramWithImage> out;
  for (int i = 0; i < kPrograms; ++i)
    out.push_back(random_marks(hw, Dataflow::input_stationary, random));
  return out;
}

std::vector<CommandTime> times(const Program& p, const HwConfig& hw) {
  std::vector<CommandTime> out;
  simulate(p, hw, TimingMode::step, [&](const CommandTime& t) { out.push_back(t); });
  return out;
}

/// How many programs take other times without the marks, or the waits for them, of a queue.
int slower_for(Queue q, bool waits) {
  const HwConfig hw = copying_machine();
  int out = 0;
  for (const ProgramWithImage& drawn : copies(hw, 2)) {
    Program without = drawn.program;
    std::erase_if(without.body, [&](const Item& item) {
      const auto* mark = std::get_if<Mark>(&item.node);
      return mark && mark->queue == q && mark->waits == waits;
    });
    const auto other = times(without, hw), all = times(drawn.program, hw);
    out += std::ranges::equal(all, other, {}, &CommandTime::finish, &CommandTime::finish) ? 0 : 1;
  }
  return out;
}

TEST(RandomWaits, DoCommandsWaitForMarks) {
  for (const Queue q : {Queue::load, Queue::store, Queue::stage}) {
    EXPECT_GE(slower_for(q, true), kPrograms / 4) << name(q) << " waits";
    EXPECT_GE(slower_for(q, false), kPrograms / 4) << name(q) << " marks";
  }
}

/// Stores with a mark behind them that come into both memories in the same cycle.
TEST(RandomWaits, AreSeveralStoresDoneAtOnce) {
  const HwConfig hw = copying_machine();
  int programs = 0;
  for (const ProgramWithImage& drawn : copies(hw, 4)) {
    const std::vector<CommandTime> all = times(drawn.program, hw);
    PerMemory<std::set<int64_t>> done;  // of stores with a mark
    const StoreCommand* store = nullptr;
    int64_t finish = 0;
    size_t commands = 0;
    for (const Item& item : drawn.program.body) {
      const auto* mark = std::get_if<Mark>(&item.node);
      if (mark && !mark->waits && mark->queue == Queue::store) {
        const auto& to = drawn.program.tensors[static_cast<size_t>(store->tensor)];
        done[to.memory].insert(finish);
      }
      const auto* command = std::get_if<Command>(&item.node);
      if (!command) continue;
      if (const auto* c = std::get_if<StoreCommand>(command)) {
        store = c;
        finish = all[commands].finish;
      }
      ++commands;
    }
    programs += std::ranges::any_of(done[MemoryId::dram],
                                    [&](int64_t t) { return done[MemoryId::shared].contains(t); })
                    ? 1
                    : 0;
  }
  EXPECT_GE(programs, kPrograms / 10);
}

/// Changes of the dataflow, and of them those that only wait for the array to be empty.
class Turns {
 public:
  Turns(const Program& p, const HwConfig& hw) : hw_(hw), dataflow_(p.dataflow) {
    simulate(p, hw, TimingMode::step, [this](const CommandTime& t) {
      if (t.queue == Queue::execute) times_.push_back(t);
    });
    body(p.body);
  }
  int all = 0, decide = 0;

 private:
  void body(const std::vector<Item>& items) {
    for (const Item& item : items) {
      if (const auto* loop = std::get_if<Loop>(&item.node))
        for (int64_t i = 0; i < loop->count; ++i) body(loop->body);
      if (const auto* head = std::get_if<LayerHead>(&item.node)) dataflow_ = head->dataflow;
      const auto* command = std::get_if<Command>(&item.node);
      if (command && std::holds_alternative<GemmCommand>(*command)) gemm();
    }
  }
  void gemm() {
    const CommandTime& now = times_[gemms_];
    if (gemms_ > 0 && dataflow_ != was_) {
      ++all;
      const int64_t empty = times_[gemms_ - 1].finish + contract::kTokenLatency;
      if (now.start ==
          empty + contract::template_of(hw_.array).preload_cycles(hw_.array, dataflow_))
        ++decide;
    }
    was_ = dataflow_;
    ++gemms_;
  }

  const HwConfig& hw_;
  std::vector<CommandTime> times_;
  Dataflow dataflow_, was_{};
  size_t gemms_ = 0;
};

TEST(RandomWaits, DoesTheArrayTurnAsSoonAsItIsEmpty) {
  HwConfig hw = copying_machine();
  hw.shared.kib = 1024;
  std::mt19937 random(6);
  int all = 0, decide = 0;
  for (int i = 0; i < kPrograms; ++i) {
    const auto drawn = random_network(hw, Dataflow::weight_stationary, random);
    ASSERT_TRUE(drawn);
    const Turns turns(drawn->program, hw);
    all += turns.all;
    decide += turns.decide;
  }
  EXPECT_GE(all, kPrograms);
  EXPECT_GE(decide, kPrograms / 10);
}

}  // namespace
}  // namespace accsim::hw
