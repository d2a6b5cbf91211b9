#include "hw/cosim/mark_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/support/programs.h"

namespace accsim::hw {
namespace {

constexpr int kIn = 0, kOut = 1, kNear = 2;
constexpr size_t kLoaded = rtl::marks::kLoaded, kStored = rtl::marks::kStored,
                 kStoredShared = rtl::marks::kStoredShared, kStaged = rtl::marks::kStaged;

Mark mark(Queue q, int tensor) { return {false, q, tensor}; }
const Command& command(const Item& item) { return std::get<Command>(item.node); }

Command load() { return command(test::load(Buffer::activation, 8)); }
Command store(int to) { return command(test::store(8, to)); }
Command stage() { return StageCommand{kIn, kNear, 0, 0, test::walk(8)}; }

/// Counts of loads, of stores to DRAM and to the shared buffer, of stages.
MarkOrder::Counts counts(uint32_t loaded, uint32_t stored, uint32_t shared, uint32_t staged) {
  MarkOrder::Counts out{};
  out[kLoaded] = loaded;
  out[kStored] = stored;
  out[kStoredShared] = shared;
  out[kStaged] = staged;
  return out;
}

TEST(MarkOrder, CountsEachKindByItself) {
  const Program p = test::program({});
  MarkOrder order(p);
  EXPECT_EQ(order.counts_wanted(kOut), counts(0, 0, 0, 0));
  order.note_command(load());
  order.note_mark(mark(Queue::load, kOut));
  order.note_command(stage());
  order.note_mark(mark(Queue::stage, kOut));
  order.note_command(store(kOut));
  order.note_mark(mark(Queue::store, kOut));
  EXPECT_EQ(order.counts_wanted(kOut), counts(1, 1, 0, 1));
  order.note_command(store(kNear));
  order.note_mark(mark(Queue::store, kOut));
  EXPECT_EQ(order.counts_wanted(kOut), counts(1, 1, 1, 1));
  EXPECT_EQ(order.counts_wanted(kIn), counts(0, 0, 0, 0)) << "another tensor";
}

/// The memory is that of the store, not that of the mark's tensor.
TEST(MarkOrder, CountsStoresByWhereTheyGo) {
  const Program p = test::program({});
  MarkOrder order(p);
  order.note_command(store(kOut));
  order.note_mark(mark(Queue::store, kNear));
  EXPECT_EQ(order.counts_wanted(kNear), counts(0, 1, 0, 0));
  order.note_command(store(kNear));
  order.note_command(load());
  order.note_mark(mark(Queue::store, kIn));
  EXPECT_EQ(order.counts_wanted(kIn), counts(0, 0, 1, 0));
}

TEST(MarkOrder, CountsACommandOnce) {
  const Program p = test::program({});
  MarkOrder order(p);
  order.note_command(load());
  order.note_mark(mark(Queue::load, kOut));
  order.note_mark(mark(Queue::load, kNear));
  order.note_mark(mark(Queue::load, kOut));
  EXPECT_EQ(order.counts_wanted(kOut), counts(1, 0, 0, 0));
  EXPECT_EQ(order.counts_wanted(kNear), counts(1, 0, 0, 0));
  order.note_command(stage());  // of another queue
  order.note_mark(mark(Queue::load, kIn));
  EXPECT_EQ(order.counts_wanted(kIn), counts(1, 0, 0, 0));
  order.note_command(load());
  order.note_command(load());
  order.note_mark(mark(Queue::load, kNear));
  EXPECT_EQ(order.counts_wanted(kNear), counts(2, 0, 0, 0)) << "those with a mark only";
}

TEST(MarkOrder, WantsTheLastOfATensor) {
  const Program p = test::program({});
  MarkOrder order(p);
  for (const int tensor : {kIn, kOut, kIn, kNear}) {
    order.note_command(load());
    order.note_mark(mark(Queue::load, tensor));
  }
  EXPECT_EQ(order.counts_wanted(kIn), counts(3, 0, 0, 0));
  EXPECT_EQ(order.counts_wanted(kOut), counts(2, 0, 0, 0));
  EXPECT_EQ(order.counts_wanted(kNear), counts(4, 0, 0, 0));
}

/// A core that counts the commands of each kind with a mark behind them, in their order: the counts
/// that a wait wants are those at which all marks before it are reached, and no smaller ones.
TEST(MarkOrder, AreAllMarksReachedAtTheCountsAndNotBefore) {
  const Program p = test::program({});
  std::mt19937 random(5);
  struct Done {
    size_t kind;
    std::vector<int> marked;  ///< tensors
  };
  for (int trial = 0; trial < 200; ++trial) {
    MarkOrder order(p);
    std::vector<Done> done;          // in the order of the text
    PerQueue<size_t> last_of_queue;  // command before, index in `done`
    std::ranges::fill(last_of_queue, SIZE_MAX);
    for (int i = 0; i < 60; ++i) {
      const int what = static_cast<int>(random() % 8);
      const Queue queues[] = {Queue::load, Queue::store, Queue::stage};
      if (what < 4) {
        const Command c = what == 0   ? load()
                          : what == 3 ? stage()
                                      : store(what == 1 ? kOut : kNear);
        order.note_command(c);
        const size_t kinds[] = {kLoaded, kStored, kStoredShared, kStaged};
        last_of_queue[queue_of(c)] = done.size();
        done.push_back({kinds[what], {}});
      } else {
        const Queue q = queues[random() % 3];
        const int tensor = static_cast<int>(random() % 3);
        const size_t before = last_of_queue[q];
        if (before == SIZE_MAX) continue;
        order.note_mark(mark(q, tensor));
        done[before].marked.push_back(tensor);
      }
      for (const int tensor : {kIn, kOut, kNear}) {
        MarkOrder::Counts reached{}, wanted{};
        for (const Done& d : done) {
          if (d.marked.empty()) continue;
          ++reached[d.kind];
          if (std::ranges::find(d.marked, tensor) != d.marked.end())
            wanted[d.kind] = reached[d.kind];
        }
        ASSERT_EQ(order.counts_wanted(tensor), wanted);
      }
    }
  }
}

TEST(MarkOrder, RaisesEachCountToTheOthers) {
  MarkOrder::Counts to = counts(3, 0, 7, 2);
  raise_counts(to, counts(1, 5, 7, 4));
  EXPECT_EQ(to, counts(3, 5, 7, 4));
}

}  // namespace
}  // namespace accsim::hw
