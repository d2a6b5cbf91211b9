#include "hw/golden/accumulator_writes.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/hw/golden/tiny_program.h"

namespace accsim::hw {
namespace {

using test::TinyProgram;

const std::vector<int> kLeft = {1, 2, 3, 4, 5, 6}, kRight = {1, -2, 3, -4, 5, -6};
// Rows of A by columns of W: 1 + 6 + 15, -2 - 8 - 18; 4 + 15 + 30, -8 - 20 - 36.
const std::vector<int32_t> kSums = {22, -28, 49, -64};

TEST(AccumulatorWrites, AreThoseOfEveryGemmWithItsPlace) {
  TinyProgram tiny(2, 3, 2);
  Program p = tiny.program();
  const auto gemm = std::ranges::find_if(p.body, [](const Item& item) {
    const auto* c = std::get_if<Command>(&item.node);
    return c && std::holds_alternative<GemmCommand>(*c);
  });
  ASSERT_NE(gemm, p.body.end());
  Item again = *gemm;
  std::get<GemmCommand>(std::get<Command>(again.node)).accumulate = true;
  p.body.insert(std::next(gemm), again);
  const HwConfig hw = test::small_machine();
  const auto run = golden_run(p, hw, tiny.image(kLeft, kRight));
  ASSERT_TRUE(run.ok());
  std::vector<int32_t> twice;
  for (const int32_t sum : kSums) twice.push_back(2 * sum);
  EXPECT_EQ(run->writes, (std::vector<AccumulatorWrite>{{0, 0, 2, 2, digest_of(kSums)},
                                                        {1, 0, 2, 2, digest_of(twice)}}));
  MemoryImage image = tiny.image(kLeft, kRight);
  ASSERT_TRUE(run_golden(p, hw, image).ok());
  EXPECT_EQ(run->image, image);
  EXPECT_EQ(*golden_sums(p, hw, tiny.image(kLeft, kRight), 1), twice);
  EXPECT_TRUE(golden_sums(p, hw, tiny.image(kLeft, kRight), 2)->empty());
}

TEST(AccumulatorWrites, AreThoseOfDrainsWhereSumsStayInTheArray) {
  const TinyProgram tiny(2, 3, 2, Dataflow::output_stationary);
  const auto run = golden_run(tiny.program(), test::small_machine(), tiny.image(kLeft, kRight));
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run->writes, (std::vector<AccumulatorWrite>{{1, 0, 2, 2, digest_of(kSums)}}));
}

TEST(AccumulatorWrites, HasEverySumItsShareOfTheDigest) {
  for (size_t i = 0; i < kSums.size(); ++i)
    for (const int32_t less : {1, 256, 1 << 30}) {
      std::vector<int32_t> other = kSums;
      other[i] -= less;
      EXPECT_NE(digest_of(other), digest_of(kSums)) << i;
    }
}

}  // namespace
}  // namespace accsim::hw
