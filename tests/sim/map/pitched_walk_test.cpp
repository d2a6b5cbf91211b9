#include "sim/map/pitched_walk.h"

#include <gtest/gtest.h>

#include <random>

namespace accsim::sim {
namespace {

/// Bytes that a walk from an address visits, in order.
std::vector<int64_t> bytes_of(const hw::Walk& walk, int64_t from) {
  std::vector<int64_t> starts{from};
  for (const hw::Walk::Level& l : walk.levels) {
    std::vector<int64_t> next;
    for (const int64_t at : starts)
      for (int64_t i = 0; i < l.count; ++i) next.push_back(at + i * l.stride);
    starts = std::move(next);
  }
  std::vector<int64_t> out;
  for (const int64_t at : starts)
    for (int64_t i = 0; i < walk.run; ++i) out.push_back(at + i);
  return out;
}

std::vector<int64_t> moved(std::vector<int64_t> bytes, const Pitch& pitch) {
  for (int64_t& at : bytes) at = at / pitch.run * pitch.pitch + at % pitch.run;
  return bytes;
}

TEST(PitchedWalk, VisitsTheSameBytesInTheSameOrder) {
  std::mt19937 random(1);
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  for (int i = 0; i < 2000; ++i) {
    const int64_t part = pick(1, 5), parts = pick(1, 4);
    const Pitch pitch{part * parts, part * parts + pick(1, 9)};
    hw::Walk walk;
    walk.levels.push_back({pick(1, 3), pitch.run * pick(1, 7)});
    walk.levels.push_back({pick(1, 3), pitch.run * pick(1, 3)});
    walk.run = part;
    int64_t first = 0;
    switch (pick(0, 3)) {
      case 0:  // parts of one row after another
        walk.levels.push_back({parts * pick(1, 3), part});
        break;
      case 1: {  // some of a row, side by side or apart
        const int64_t step = part + pick(0, 2);
        walk.levels.push_back({pick(1, (pitch.run - part) / step + 1), step});
        break;
      }
      case 2:
        walk.run = pitch.run * pick(1, 3);
        break;
      default:
        first = pick(0, pitch.run - part);
    }
    const int64_t from = pitch.run * pick(0, 5) + first;
    const hw::Walk there = pitched(walk, pitch);
    EXPECT_EQ(bytes_of(there, pitched(hw::Affine(from), pitch).base),
              moved(bytes_of(walk, from), pitch));
    EXPECT_EQ(there.bytes(), walk.bytes());
  }
}

TEST(PitchedWalk, StepsFromRowToRowInLoops) {
  hw::Affine at(100);
  at.add_term(0, 32);
  at.add_term(1, 8);
  at.add_term(2, -64);
  const hw::Affine there = pitched(at, {32, 96});
  for (int64_t i = 0; i < 4; ++i)
    for (int64_t k = 0; k < 3; ++k)
      for (int64_t n = 0; n < 2; ++n) {
        const auto value = [&](const hw::Affine& a) {
          return a.base + a.terms[0].coeff * i + a.terms[1].coeff * k + a.terms[2].coeff * n;
        };
        EXPECT_EQ(value(there), (Pitch{32, 96}).offset_of(value(at)));
      }
}

TEST(PitchedWalk, MovesPaddedWindows) {
  hw::PaddedWindow w;
  w.pitch = {0, 160, 32};
  w.image_pitch = 1600;
  const hw::PaddedWindow there = pitched(w, {32, 96});
  EXPECT_EQ(there.pitch, (std::array<int64_t, 3>{0, 480, 96}));
  EXPECT_EQ(there.image_pitch, 4800);
}

TEST(Pitch, CountsWholeRowsBelowZeroToo) {
  const Pitch p{4, 10};
  for (int64_t i = -12; i < 12; ++i) {
    const int64_t row = i >= 0 ? i / 4 : -((3 - i) / 4);
    EXPECT_EQ(p.offset_of(i), row * 10 + (i - row * 4)) << i;
  }
  EXPECT_EQ(p.extent_of(8), 14);
  EXPECT_EQ(p.extent_of(0), 0);
  EXPECT_EQ(Pitch{}.extent_of(8), 8);
}

}  // namespace
}  // namespace accsim::sim
