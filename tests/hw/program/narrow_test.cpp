#include <gtest/gtest.h>

#include "hw/program/program.h"
#include "tests/support/machines.h"
#include "tests/support/programs.h"

namespace accsim::hw {
namespace {

GemmCommand& narrowed(Item& item) {
  auto& c = std::get<GemmCommand>(std::get<Command>(item.node));
  c.weights.encoding = kPackedWeights;
  return c;
}

Bytes read_of(const Item& item, Buffer b, Dataflow d = Dataflow::weight_stationary) {
  Program p = test::program({item});
  p.dataflow = d;
  return count_program(p, test::small_machine()).buffer_read[static_cast<size_t>(b)];
}

TEST(CountNarrow, IsEachRowOfWeightsReadWhole) {
  Item item = test::gemm(4, 3, 5);
  EXPECT_EQ(read_of(item, Buffer::weight), Bytes(3 * 5));
  narrowed(item);
  EXPECT_EQ(read_of(item, Buffer::weight), Bytes(3 * 3));
  EXPECT_EQ(read_of(item, Buffer::weight, Dataflow::output_stationary), Bytes(3 * 3));
  EXPECT_EQ(read_of(item, Buffer::weight, Dataflow::input_stationary), Bytes(5 * 2));
}

TEST(CountNarrow, AreOnlyTheBlocksOfPackedGroupsRead) {
  Item item = test::gemm(4, 4, 6);
  GemmCommand& c = narrowed(item);
  c.weights = {
      .offset = 0, .pitch = 2, .groups = 2, .group_k = 2, .group_n = 3, .encoding = kPackedWeights};
  c.useful_macs /= 2;
  EXPECT_EQ(read_of(item, Buffer::weight), Bytes(4 * 2));
}

TEST(CountNarrow, HasEachGroupOfAPostItsSumsAndMultipliers) {
  Item item = test::post(7, 5);
  auto& c = std::get<PostCommand>(std::get<Command>(item.node));
  c.has_parameters = true;
  c.groups = 3;
  EXPECT_EQ(read_of(item, Buffer::accumulator), Bytes(3 * 7 * 5 * 4));
  EXPECT_EQ(read_of(item, Buffer::parameter), Bytes(5 * (12 + 2 * 2)));
  c.transposed = true;
  EXPECT_EQ(read_of(item, Buffer::parameter), Bytes(7 * (12 + 2 * 2)));
}

TEST(PrintNarrow, ShowsBitsAndGroups) {
  Item product = test::gemm(4, 3, 5), sums = test::post(7, 5);
  narrowed(product);
  auto& c = std::get<PostCommand>(std::get<Command>(sums.node));
  c.groups = 3;
  c.group_rows = 8;
  c.group_offset = Affine(60);
  const std::string text = program_text(test::program({product, sums}));
  EXPECT_NE(text.find("weights[0] of 4 bits"), std::string::npos) << text;
  EXPECT_NE(text.find(", 3 groups of 8 rows by parameters[60]"), std::string::npos) << text;
}

}  // namespace
}  // namespace accsim::hw
