#include "hw/random/scatter_loads.h"

#include <gtest/gtest.h>

#include <set>

#include "tests/support/programs.h"

namespace accsim::hw {
namespace {

/// The bytes of a load of the first tensor, in the order in which they go into the slot.
void append_bytes(const LoadCommand& c, std::vector<int64_t>& to) {
  EXPECT_EQ(c.slot_offset.base, std::ssize(to)) << "the slot has a gap";
  for (int64_t outer = 0; outer < (c.walk.levels.empty() ? 1 : c.walk.levels[0].count); ++outer)
    for (int64_t i = 0; i < c.walk.run; ++i)
      to.push_back(c.source.base + i +
                   (c.walk.levels.empty() ? 0 : outer * c.walk.levels[0].stride));
}

TEST(ScatterLoads, TheSlotHoldsTheSameBytesOfEitherMemory) {
  std::mt19937 random(3);
  std::set<int> tensors;
  std::set<size_t> counts;
  for (int round = 0; round < 60; ++round) {
    LoadCommand whole{Buffer::activation, 0, Affine(7), Affine(0), {{}, 5}, {}};
    if (round % 2 == 0) whole.walk.levels.push_back({6, 11});
    std::vector<int64_t> want, got;
    append_bytes(whole, want);
    Program p = test::program({});
    const int before = static_cast<int>(p.tensors.size());
    p.body.push_back({Command{whole}});
    MemoryImage image = {{1, 2}, {}, {3}};
    const MemoryImage twice = {{1, 2}, {}, {3}, {1, 2}, {}, {3}};
    scatter_loads(p, image, random);
    EXPECT_EQ(image, twice);
    ASSERT_EQ(p.tensors.size(), 2U * static_cast<size_t>(before));
    EXPECT_NE(p.tensors[0].memory, p.tensors[static_cast<size_t>(before)].memory);
    for (const Item& item : p.body) {
      const auto& load = std::get<LoadCommand>(std::get<Command>(item.node));
      EXPECT_EQ(load.tensor % before, 0);
      tensors.insert(load.tensor);
      append_bytes(load, got);
    }
    EXPECT_EQ(got, want);
    counts.insert(p.body.size());
  }
  EXPECT_EQ(tensors.size(), 2U);
  EXPECT_EQ(counts, (std::set<size_t>{1, 2}));
}

}  // namespace
}  // namespace accsim::hw
