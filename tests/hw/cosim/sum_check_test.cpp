#include "hw/cosim/sum_check.h"

#include <gtest/gtest.h>

#include <array>

namespace accsim::hw {
namespace {

constexpr size_t kColumns = 9;  // more than a byte of bits

/// One cycle of the accumulators' ports.
struct Ports {
  std::array<uint8_t, 2> write{};
  std::array<uint32_t, kColumns> row{};
  std::array<int32_t, kColumns> sum{};

  void take(size_t column, int64_t r, int32_t s) {
    write[column / 8] = static_cast<uint8_t>(write[column / 8] | 1U << column % 8);
    row[column] = static_cast<uint32_t>(r);
    sum[column] = s;
  }
  rtl::Cycle cycle() const {
    rtl::Cycle out;
    out.acc_write = write.data();
    out.acc_row = row.data();
    out.acc_sum = sum.data();
    return out;
  }
};

int32_t sum_of(int64_t command, int64_t row, int64_t column) {
  return static_cast<int32_t>(1000 * command + 10 * row + column);
}

/// Two commands of three rows and one of one row: of 9, 2 and 9 columns, in rows 4, 20 and 0.
std::vector<AccumulatorWrite> writes() {
  std::vector<AccumulatorWrite> out = {{0, 4, 3, 9}, {2, 20, 3, 2}, {5, 0, 1, 9}};
  for (size_t i = 0; i < out.size(); ++i) {
    std::vector<int32_t> sums;
    for (int64_t r = 0; r < out[i].rows; ++r)
      for (int64_t c = 0; c < out[i].columns; ++c)
        sums.push_back(sum_of(static_cast<int64_t>(i), r, c));
    out[i].digest = digest_of(sums);
  }
  return out;
}

/// All cycles of a core that takes a row per cycle, each column a cycle behind the one before. What
/// columns beyond a command's have is nobody's business.
std::vector<Ports> core(bool upwards = false) {
  struct Row {
    int64_t command, row, address, columns;
  };
  std::vector<Row> rows;
  const auto all = writes();
  for (size_t i = 0; i < all.size(); ++i)
    for (int64_t r = 0; r < all[i].rows; ++r) {
      const int64_t row = upwards ? all[i].rows - 1 - r : r;
      rows.push_back({static_cast<int64_t>(i), row, all[i].first_row + row, all[i].columns});
    }
  std::vector<Ports> out(rows.size() + kColumns);
  for (size_t t = 0; t < rows.size(); ++t)
    for (size_t c = 0; c < kColumns; ++c) {
      const bool used = static_cast<int64_t>(c) < rows[t].columns;
      out[t + c].take(c, rows[t].address,
                      used ? sum_of(rows[t].command, rows[t].row, static_cast<int64_t>(c)) : -7);
    }
  return out;
}

std::optional<SumCheck::Difference> check(const std::vector<Ports>& cycles, bool upwards = false) {
  const std::vector<AccumulatorWrite> golden = writes();
  SumCheck sums(golden, kColumns, upwards);
  for (const Ports& p : cycles) sums.take_sums(p.cycle());
  sums.finish();
  return sums.difference();
}

TEST(SumCheck, AreEqualSumsNoDifference) {
  EXPECT_FALSE(check(core()));
  EXPECT_FALSE(check(core(true), true));
}

TEST(SumCheck, IsTheOrderOfRowsThatOfTheArray) {
  const auto d = check(core(true));
  ASSERT_TRUE(d);
  EXPECT_EQ(d->ordinal, 0);
  EXPECT_EQ(d->text, "column 0 takes row 6 of the accumulators, golden 4");
}

/// Wherever it is, by however little.
TEST(SumCheck, IsAnySumThatDiffersSeen) {
  const std::vector<AccumulatorWrite> all = writes();
  int64_t first = 0;  // cycle in which a command's first row comes
  for (int64_t i = 0; i < std::ssize(all); ++i) {
    const AccumulatorWrite& w = all[static_cast<size_t>(i)];
    for (int64_t at = 0; at < w.rows * w.columns; ++at) {
      const int64_t r = at / w.columns, c = at % w.columns;
      std::vector<Ports> cycles = core();
      --cycles[static_cast<size_t>(first + r + c)].sum[static_cast<size_t>(c)];
      const auto d = check(cycles);
      ASSERT_TRUE(d) << i << " " << r << " " << c;
      EXPECT_EQ(d->ordinal, w.ordinal);
      EXPECT_EQ(d->columns, w.columns);
      EXPECT_EQ(d->text, "");
      ASSERT_EQ(std::ssize(d->sums), w.rows * w.columns);
      EXPECT_EQ(d->sums[static_cast<size_t>(at)], sum_of(i, r, c) - 1);
    }
    first += w.rows;
  }
}

TEST(SumCheck, IsARowElsewhereSeen) {
  std::vector<Ports> cycles = core();
  cycles[4 + 4].row[4] = 22;  // column 4, row 1 of the second command
  const auto d = check(cycles);
  ASSERT_TRUE(d);
  EXPECT_EQ(d->ordinal, 2);
  EXPECT_EQ(d->text, "column 4 takes row 22 of the accumulators, golden 21");
}

TEST(SumCheck, AreSumsThatNoCommandHasSeen) {
  std::vector<Ports> cycles = core();
  cycles.emplace_back().take(8, 3, 1);
  const auto d = check(cycles);
  ASSERT_TRUE(d);
  EXPECT_EQ(d->ordinal, 5);
  EXPECT_EQ(d->text, "column 8 takes a sum in row 3 that no command has");
}

TEST(SumCheck, AreSumsThatNeverComeSeen) {
  std::vector<Ports> cycles = core();
  cycles[6 + 8].write = {};  // the last column of the last command
  const auto d = check(cycles);
  ASSERT_TRUE(d);
  EXPECT_EQ(d->ordinal, 5);
  EXPECT_EQ(d->text, "sums of it are missing");
}

}  // namespace
}  // namespace accsim::hw
