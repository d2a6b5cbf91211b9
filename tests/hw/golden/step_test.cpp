#include <gtest/gtest.h>

#include <random>

#include "hw/golden/machine.h"
#include "hw/random/random_program.h"
#include "tests/hw/golden/tiny_program.h"

namespace accsim::hw {
namespace {

using test::TinyProgram;

const std::vector<int> kOneToSix = {1, 2, 3, 4, 5, 6};

/// All that is said of a command, but for what only lives until the next.
struct SeenCommand {
  const Command* command;
  int64_t ordinal, address, slot;
  std::vector<int64_t> loops;
  std::vector<int32_t> sums;
  std::vector<uint8_t> bytes;
  std::vector<int8_t> a, b;
  std::vector<Requantise> scales;
  friend bool operator==(const SeenCommand&, const SeenCommand&) = default;
};
SeenCommand all_of(const RetiredCommand& r) {
  return {r.command,
          r.ordinal,
          r.address,
          r.slot,
          r.loop_indices,
          r.sums,
          r.bytes,
          {r.a.begin(), r.a.end()},
          {r.b.begin(), r.b.end()},
          r.scales};
}

TEST(Step, GivesWhatTheHookSeesOfRandomPrograms) {
  HwConfig hw = test::small_machine(8, 8);
  hw.shared.kib = 64;
  std::mt19937 random(5);
  for (int i = 0; i < 30; ++i) {
    const auto dataflow = static_cast<Dataflow>(i % static_cast<int>(kDataflows));
    auto drawn = random_program(hw, dataflow, random);
    ASSERT_TRUE(drawn);
    MemoryImage whole = drawn->image, stepped = drawn->image;
    std::vector<SeenCommand> expected, all;
    ASSERT_TRUE(run_golden(drawn->program, hw, whole,
                           [&](const RetiredCommand& r) { expected.push_back(all_of(r)); }));
    GoldenMachine machine(drawn->program, hw, stepped, true);
    for (;;) {
      const Result<bool> more = machine.step();
      ASSERT_TRUE(more);
      if (!*more) break;
      all.push_back(all_of(machine.retired()));
    }
    ASSERT_EQ(std::ssize(all), count_program(drawn->program, hw).commands);
    ASSERT_TRUE(all == expected);
    ASSERT_EQ(stepped, whole);
  }
}

TEST(Step, StopsBehindEachCommandAndStaysAtTheEnd) {
  const TinyProgram tiny(2, 3, 2);
  const Program p = tiny.program();
  MemoryImage image = tiny.image(kOneToSix, kOneToSix);
  const std::vector<uint8_t> before(4), after = {22, 28, 49, 64};
  const HwConfig hw = test::small_machine();
  GoldenMachine machine(p, hw, image, true);
  for (const Queue queue : {Queue::load, Queue::load, Queue::load, Queue::execute, Queue::post}) {
    ASSERT_TRUE(*machine.step());
    EXPECT_EQ(queue_of(*machine.retired().command), queue);
    EXPECT_EQ(image[2], before);
  }
  ASSERT_TRUE(*machine.step());
  EXPECT_EQ(queue_of(*machine.retired().command), Queue::store);
  EXPECT_EQ(image[2], after);
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(*machine.step());
}

TEST(Step, HasTheScalesOfAPost) {
  const TinyProgram tiny(2, 3, 2);
  const Program p = tiny.program();
  MemoryImage image = tiny.image(kOneToSix, kOneToSix);
  TinyProgram::parameter(image, 0, 1000, 3, 6);
  TinyProgram::parameter(image, 1, -300, -1, 2);
  std::vector<Requantise> scales;
  ASSERT_TRUE(run_golden(p, test::small_machine(), image, [&](const RetiredCommand& r) {
    if (queue_of(*r.command) == Queue::post) scales = r.scales;
  }));
  EXPECT_EQ(scales, (std::vector<Requantise>{{1000, 3, 6}, {-300, -1, 2}}));
}

TEST(Step, PassesLoopsWithoutIterationsAndNamesThoseAroundAnError) {
  const TinyProgram tiny(2, 3, 2);
  Program p = tiny.program();
  p.loops = 3;
  Loop never{0, "never", 0, p.body}, inner{2, "inner", 2, {Item{Command{VectorCommand{}}}}};
  Loop outer{1, "outer", 3, {Item{never}, Item{inner}}};
  p.body.push_back(Item{outer});
  MemoryImage image = tiny.image(kOneToSix, kOneToSix);
  const HwConfig hw = test::small_machine();
  GoldenMachine machine(p, hw, image, true);
  for (int i = 0; i < 6; ++i) ASSERT_TRUE(machine.step());
  for (int i = 0; i < 2; ++i) {  // an error stays
    const Result<bool> failed = machine.step();
    ASSERT_FALSE(failed);
    EXPECT_EQ(failed.errors().front().where, "program tiny / outer=0 / inner=0, command 6");
  }
}

}  // namespace
}  // namespace accsim::hw
