#include "tests/support/regions.h"

#include <gtest/gtest.h>

#include "hw/golden/golden.h"
#include "tests/support/machines.h"

namespace accsim::hw {
namespace {

using test::region_sync;
using test::RegionProgram;

HwConfig machine() {
  HwConfig hw = test::small_machine();
  hw.shared.kib = 16;
  return hw;
}

MemoryImage image(const Program& p) {
  MemoryImage out;
  for (const ProgramTensor& t : p.tensors) out.emplace_back(static_cast<size_t>(t.bytes));
  for (size_t i = 0; i < out[0].size(); ++i) out[0][i] = static_cast<uint8_t>(i * 7 + i / 251);
  return out;
}

/// Three rounds through a ring of two: where each round's bytes lie, and what comes out.
TEST(GoldenRegions, DoSlotsGoRound) {
  RegionProgram r(10);
  r.in.source.add_term(0, 100);
  r.store.target.add_term(0, 30);
  std::vector<Item> round = r.filled();
  test::append(round, r.read());
  const Program p = r.program({{Loop{0, "i", 3, round}}}, 1);
  ASSERT_TRUE(verify(p, machine()).ok());
  MemoryImage m = image(p);
  const auto byte = [](int64_t i) { return static_cast<uint8_t>(i * 7 + i / 251); };
  ASSERT_TRUE(run_golden(p, machine(), m).ok());
  for (int64_t i = 0; i < 3; ++i)
    for (int64_t run = 0; run < 3; ++run)
      for (int64_t b = 0; b < 10; ++b) {
        const uint8_t want = byte(i * 100 + run * 17 + b);
        EXPECT_EQ(m[1][static_cast<size_t>(i * 30 + run * 10 + b)], want) << i << run << b;
        // The third round is in the first slot again; the second slot has the second round's.
        if (i > 0) {
          EXPECT_EQ(m[3][static_cast<size_t>(i % 2 * 30 + run * 10 + b)], want);
        }
      }
}

/// Out of a region the walk is of what is written.
TEST(GoldenRegions, DoesAStageToDramSpreadItsRuns) {
  const RegionProgram r(10);
  StageCommand out{3, 1, 0, 5, {{{2, 40}}, 15}};
  std::vector<Item> body = r.filled();
  test::append(body, {region_sync(SyncKind::wait_full, Queue::stage, 3),
                      {Command{out}},
                      region_sync(SyncKind::signal_free, Queue::stage, 3)});
  const Program p = r.program(body);
  ASSERT_TRUE(verify(p, machine()).ok());
  MemoryImage m = image(p);
  ASSERT_TRUE(run_golden(p, machine(), m).ok());
  std::vector<uint8_t> dense;
  for (size_t run = 0; run < 3; ++run)
    for (size_t b = 0; b < 10; ++b) dense.push_back(m[0][run * 17 + b]);
  for (size_t i = 0; i < 30; ++i) EXPECT_EQ(m[1][5 + i / 15 * 40 + i % 15], dense[i]) << i;
  EXPECT_EQ(m[1][20], 0);
}

TEST(GoldenRegions, AreTokensThatCannotComeErrors) {
  const RegionProgram r(10);
  const auto code = [&](std::vector<Item> body) {
    const Program p = r.program(std::move(body));
    MemoryImage m = image(p);
    const Status s = run_golden(p, machine(), m);
    return s ? std::string() : s.errors()[0].message;
  };
  EXPECT_EQ(code({region_sync(SyncKind::wait_full, Queue::load, 3)}),
            "wait_full on region 3: no token can come");
  EXPECT_EQ(code({region_sync(SyncKind::signal_full, Queue::stage, 3)}),
            "signal_full on region 3: no token can come");
  EXPECT_EQ(code({{Command{r.in}}}), "region 'ring' is written without a slot");
  EXPECT_EQ(code({{Command{r.load}}}), "region 'ring' is read without a slot");
  std::vector<Item> thrice = r.filled();
  test::append(thrice, r.filled());
  EXPECT_EQ(code(thrice), "");
  test::append(thrice, r.filled());
  EXPECT_EQ(code(thrice), "wait_free on region 3: no token can come");
}

}  // namespace
}  // namespace accsim::hw
