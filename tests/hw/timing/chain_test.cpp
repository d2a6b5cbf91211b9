#include "hw/timing/chain.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "hw/program/append_layer.h"
#include "hw/random/random_program.h"
#include "tests/support/machines.h"
#include "tests/support/programs.h"

namespace accsim::hw {
namespace {

bool stages(const std::vector<Item>& body) {
  return std::ranges::any_of(body, [](const Item& item) {
    if (const auto* loop = std::get_if<Loop>(&item.node)) return stages(loop->body);
    const auto* command = std::get_if<Command>(&item.node);
    return command != nullptr && std::holds_alternative<StageCommand>(*command);
  });
}

/// What is stored is marked, and some of what is read is waited for.
Program with_marks(Program p, std::mt19937& random) {
  std::vector<bool> stored(p.tensors.size());
  const auto look = [&](const auto& self, const std::vector<Item>& body) -> void {
    for (const Item& item : body) {
      if (const auto* loop = std::get_if<Loop>(&item.node)) self(self, loop->body);
      if (const auto* command = std::get_if<Command>(&item.node))
        if (const auto* store = std::get_if<StoreCommand>(command))
          stored[static_cast<size_t>(store->tensor)] = true;
    }
  };
  look(look, p.body);
  for (int t = 0; t < std::ssize(stored); ++t) {
    if (stored[static_cast<size_t>(t)])
      p.body.push_back({Mark{false, Queue::store, t}});
    else if (random() % 2 == 0)
      p.body.insert(p.body.begin(), {Mark{true, Queue::load, t}});
  }
  return p;
}

/// Of one layer. One that stages has other turns on DRAM's channels alone than among others that
/// don't.
Program random_layer(const HwConfig& hw, std::mt19937& random) {
  for (;;) {
    auto drawn = random_program(hw, Dataflow::weight_stationary, random);
    if (!drawn) continue;
    const Program& p = drawn->program;
    const bool regions =
        std::ranges::any_of(p.tensors, [](const ProgramTensor& t) { return t.slots > 0; });
    if (!regions && !stages(p.body)) return with_marks(p, random);
  }
}

/// Programs in random order, again and again: the shares add up to what all take as one program,
/// event by event, and each split into what its queues do is without a gap.
TEST(Chain, SharesAreThoseOfOneProgram) {
  std::mt19937 random(20261123);
  int64_t simulated = 0, programs = 0;
  for (int round = 0; round < 60; ++round) {
    const HwConfig hw = test::random_machine(random);
    std::vector<Program> kinds;
    while (kinds.size() < 3) kinds.push_back(random_layer(hw, random));
    std::vector<StepWriter> steps(kinds.size());
    for (size_t k = 0; k < kinds.size(); ++k) write_steps(kinds[k], hw, steps[k]);
    Chain chain(hw, false);
    Program whole;  // its first four tensors lie in DRAM, the others in the shared buffer
    for (int t = 0; t < 8; ++t)
      whole.tensors.push_back({"t", t < 4 ? MemoryId::dram : MemoryId::shared, 1024});
    int64_t sum = 0;
    for (int i = 0; i < 12; ++i) {
      const size_t k = random() % kinds.size();
      std::vector<int32_t> numbers;
      for (const ProgramTensor& t : kinds[k].tensors)
        numbers.push_back(static_cast<int32_t>(random() % 4) +
                          (t.memory == MemoryId::dram ? 0 : 4));
      const Timing share = chain.add_program(steps[k].steps(), numbers);
      sum += share.total.count();
      for (const QueueTiming& q : share.queues) {
        int64_t parts = (q.busy - q.hidden).count();
        for (const Cycles w : q.waits) parts += w.count();
        EXPECT_EQ(parts, q.free_at.count());
        EXPECT_LE(q.free_at, share.total);
      }
      append_layer(whole, kinds[k], "layer", numbers);
    }
    EXPECT_EQ(chain.total_cycles(), sum);
    EXPECT_EQ(simulate(whole, hw, TimingMode::step).total.count(), sum);
    simulated += chain.done().simulated;
    programs += 12;
  }
  EXPECT_LT(simulated, programs);
}

/// From a place that it goes back to it goes on as it did the first time, whatever came between.
TEST(Chain, GoesBack) {
  std::mt19937 random(5);
  for (int round = 0; round < 20; ++round) {
    const HwConfig hw = test::random_machine(random);
    std::vector<Program> kinds;
    while (kinds.size() < 4) kinds.push_back(random_layer(hw, random));
    std::vector<StepWriter> steps(kinds.size());
    std::vector<std::vector<int32_t>> numbers(kinds.size());
    for (size_t k = 0; k < kinds.size(); ++k) {
      write_steps(kinds[k], hw, steps[k]);
      for (size_t t = 0; t < kinds[k].tensors.size(); ++t)
        numbers[k].push_back(static_cast<int32_t>((k + t) % 5));
    }
    Chain chain(hw, false);
    const auto add = [&](size_t k) {
      return chain.add_program(steps[k].steps(), numbers[k]).total;
    };
    const Chain::Place begin = chain.current_place();
    const Cycles alone = add(0);
    const Chain::Place place = chain.current_place();
    const Cycles first = add(1);
    const int64_t total = chain.total_cycles();
    for (const size_t k : {2, 3, 1}) add(k);
    chain.go_back(place);
    EXPECT_EQ(add(1), first);
    EXPECT_EQ(chain.total_cycles(), total);
    chain.go_back(begin);
    EXPECT_EQ(chain.total_cycles(), 0);
    EXPECT_EQ(add(0), alone);
    EXPECT_EQ(add(1), first);
  }
}

/// So many tiles of a product, which waits for its operands' tensor and stores another one.
Program tiles(int64_t times) {
  return test::program({{Mark{true, Queue::load, 0}},
                        {Loop{0, "tile", times, test::tile(64, 8, 8)}},
                        {Mark{false, Queue::store, 1}}},
                       1);
}

/// Times near the end of 64 bits: what follows is as it is behind fewer tiles of the same.
TEST(Chain, GoesOnBehindVeryLongPrograms) {
  const HwConfig hw = test::small_machine(8, 8);
  const auto after = [&](int64_t times) {
    const Program many = tiles(times), few = tiles(3);
    StepWriter many_steps, few_steps;
    write_steps(many, hw, many_steps);
    write_steps(few, hw, few_steps);
    Chain chain(hw);
    std::vector<Cycles> out;
    const auto add = [&](const StepWriter& steps, int32_t from, int32_t to) {
      out.push_back(chain.add_program(steps.steps(), std::vector<int32_t>{from, to, to}).total);
    };
    for (int i = 0; i < 20; ++i) add(many_steps, 0, 1);
    out.clear();
    for (const int i : {1, 2, 1, 3, 2}) add(few_steps, i, i % 3 + 1);
    return std::pair(chain.total_cycles(), out);
  };
  const auto far = after(int64_t{1} << 50), near = after(int64_t{1} << 10);
  EXPECT_GT(far.first, int64_t{1} << 60);
  EXPECT_EQ(far.second, near.second);
  EXPECT_GT(near.second[0], near.second[3]) << "which doesn't wait for what has just been stored";
}

/// Chains of one memory, on machines that differ in slots or in rates or in nothing, take what they
/// take each with a memory of its own; what was found out once isn't simulated again.
TEST(ChainMemory, ChangesNoCycle) {
  std::mt19937 random(17);
  int64_t saved = 0;
  for (int round = 0; round < 20; ++round) {
    const HwConfig first = test::random_machine(random), other = test::random_machine(random);
    HwConfig slower = first;
    slower.dram.latency += 7;
    ChainMemory memory;
    using Pair = std::pair<const HwConfig*, const HwConfig*>;
    for (const auto& [hw, drawn_for] : {Pair(&first, &first), Pair(&slower, &first),
                                        Pair(&first, &first), Pair(&other, &other)}) {
      std::mt19937 same(static_cast<uint32_t>(round));
      std::vector<Program> kinds;
      while (kinds.size() < 3) kinds.push_back(random_layer(*drawn_for, same));
      std::vector<StepWriter> steps(kinds.size());
      for (size_t k = 0; k < kinds.size(); ++k) write_steps(kinds[k], *hw, steps[k]);
      Chain own(*hw, false), chain(*hw, false, &memory);
      for (int i = 0; i < 6; ++i) {
        const size_t k = same() % kinds.size();
        const std::vector<int32_t> numbers(kinds[k].tensors.size(), i % 2);
        EXPECT_EQ(chain.add_program(steps[k].steps(), numbers).total,
                  own.add_program(steps[k].steps(), numbers).total);
      }
      EXPECT_EQ(chain.total_cycles(), own.total_cycles());
      EXPECT_LE(chain.done().simulated, own.done().simulated);
      saved += own.done().simulated - chain.done().simulated;
    }
  }
  EXPECT_GT(saved, 0);
}

/// The machine as it was begun with, once more: nothing is left to be simulated.
TEST(ChainMemory, KnowsEqualProgramsOfOtherMachines) {
  std::mt19937 random(18);
  const HwConfig hw = test::random_machine(random);
  const Program program = random_layer(hw, random);
  const std::vector<int32_t> numbers(program.tensors.size(), 0);
  HwConfig other = hw;
  other.shared.kib *= 2;  // which time doesn't depend on
  ChainMemory memory;
  int64_t total = 0;
  for (const HwConfig& machine : {hw, other}) {
    StepWriter steps;
    write_steps(program, machine, steps);
    Chain chain(machine, false, &memory);
    for (int i = 0; i < 3; ++i) chain.add_program(steps.steps(), numbers);
    if (machine.shared.kib == hw.shared.kib) {
      EXPECT_GT(chain.done().simulated, 0);
      total = chain.total_cycles();
    } else {
      EXPECT_EQ(chain.done().simulated, 0);
      EXPECT_EQ(chain.total_cycles(), total);
    }
  }
}

}  // namespace
}  // namespace accsim::hw
