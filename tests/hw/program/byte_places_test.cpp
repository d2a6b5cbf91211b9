#include "hw/program/byte_places.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <random>

namespace accsim::hw {
namespace {

constexpr int64_t kFar = std::numeric_limits<int64_t>::max();

/// No two of a step have a byte in common, none ends behind the room, and end and what was left out
/// are said as they are.
void check(const std::vector<ByteLife>& lives, int64_t room, const BytePlaces& p) {
  ASSERT_EQ(p.addresses.size(), lives.size());
  int64_t end = 0, left_out = 0;
  for (size_t i = 0; i < lives.size(); ++i) {
    const int64_t at = p.addresses[i];
    if (at < 0) {
      left_out += lives[i].bytes;
      continue;
    }
    end = std::max(end, at + lives[i].bytes);
    for (size_t k = 0; k < i; ++k) {
      const bool meet = lives[i].first <= lives[k].last && lives[k].first <= lives[i].last;
      if (p.addresses[k] < 0 || !meet) continue;
      EXPECT_TRUE(at >= p.addresses[k] + lives[k].bytes || p.addresses[k] >= at + lives[i].bytes)
          << i << " and " << k;
    }
  }
  EXPECT_EQ(p.end, end);
  EXPECT_LE(p.end, room);
  EXPECT_EQ(p.left_out, left_out);
}

int64_t most_alive(const std::vector<ByteLife>& lives) {
  int64_t most = 0;
  for (const ByteLife& at : lives) {
    int64_t sum = 0;
    for (const ByteLife& l : lives)
      if (l.first <= at.first && at.first <= l.last) sum += l.bytes;
    most = std::max(most, sum);
  }
  return most;
}

std::vector<ByteLife> random_lives(std::mt19937& random, int count, int steps) {
  std::vector<ByteLife> out;
  for (int i = 0; i < count; ++i) {
    const auto draw = [&](int below) { return static_cast<int64_t>(random()) % below; };
    const int64_t first = draw(steps), last = first + draw(5);
    out.push_back({first, last, draw(100)});
  }
  return out;
}

TEST(BytePlaces, OfNothing) {
  const BytePlaces p = place_bytes({}, 0);
  EXPECT_EQ(p.end, 0);
  EXPECT_EQ(p.left_out, 0);
}

TEST(BytePlaces, AChainTakesTwoNeighboursAtATime) {
  std::vector<ByteLife> lives;
  for (int64_t i = 0; i < 10'000; ++i) lives.push_back({i, i + 1, 1 + i % 7});
  const int64_t most = most_alive({lives.begin(), lives.begin() + 20});
  const BytePlaces p = place_bytes(lives, 3 * most);
  EXPECT_EQ(p.left_out, 0);
  EXPECT_LE(p.end, 2 * most);
}

/// What one order can't place another one can: the long one must lie beside the short ones, not
/// between them.
TEST(BytePlaces, TriesSeveralOrders) {
  const std::vector<ByteLife> lives = {{0, 1, 4}, {0, 0, 2}, {1, 3, 2}, {2, 3, 6}, {4, 5, 8}};
  const BytePlaces p = place_bytes(lives, most_alive(lives));
  check(lives, most_alive(lives), p);
  EXPECT_EQ(p.left_out, 0);
}

TEST(BytePlaces, LeavesOutWhatHasNoRoom) {
  const std::vector<ByteLife> lives = {{0, 2, 10}, {1, 2, 10}, {2, 3, 5}, {0, 9, 0}};
  const BytePlaces p = place_bytes(lives, 15);
  check(lives, 15, p);
  EXPECT_EQ(p.left_out, 10);
  const BytePlaces none = place_bytes(lives, 0);
  check(lives, 0, none);
  EXPECT_EQ(none.left_out, 25);
  const std::vector<ByteLife> large = {{0, 0, kFar}, {0, 0, kFar}, {0, 1, 3}};
  EXPECT_EQ(place_bytes(large, 1000).end, 3);
  EXPECT_EQ(place_bytes(large, 1000).left_out, kFar) << "sums stay at the end of 64 bits";
}

TEST(BytePlaces, OfRandomLivesNoneMeet) {
  std::mt19937 random(7);
  int tight = 0;
  for (int i = 0; i < 300; ++i) {
    const std::vector<ByteLife> lives = random_lives(random, 1 + i % 60, 40);
    const int64_t most = most_alive(lives);
    const BytePlaces free = place_bytes(lives, kFar);
    check(lives, kFar, free);
    EXPECT_EQ(free.left_out, 0);
    EXPECT_GE(free.end, most);
    EXPECT_LE(free.end, most + most / 2) << "far from what is alive at once";
    tight += free.end == most;
    // The same room again gives the same places: what is left of it is somebody else's.
    EXPECT_EQ(place_bytes(lives, free.end).addresses, free.addresses);
    const int64_t room = most * static_cast<int64_t>(random() % 100) / 100;
    check(lives, room, place_bytes(lives, room));
  }
  EXPECT_GE(tight, 150);
}

/// A step is one of a hundred thousand; blocks that are given back are joined.
TEST(BytePlaces, OfManyLivesTakesOneOrder) {
  std::mt19937 random(3);
  std::vector<ByteLife> lives = random_lives(random, 100'000, 20'000);
  for (ByteLife& l : lives) l.bytes += 1;
  const BytePlaces p = place_bytes(lives, kFar);
  EXPECT_EQ(p.left_out, 0);
  std::map<int64_t, int64_t> change;
  for (const ByteLife& l : lives) {
    change[l.first] += l.bytes;
    change[l.last + 1] -= l.bytes;
  }
  int64_t sum = 0, most = 0;
  for (const auto& [step, bytes] : change) most = std::max(most, sum += bytes);
  EXPECT_LE(p.end, 2 * most);
}

}  // namespace
}  // namespace accsim::hw
