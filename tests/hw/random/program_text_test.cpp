#include <gtest/gtest.h>

#include "hw/program/read_program.h"
#include "hw/random/random_marks.h"
#include "hw/random/random_network.h"
#include "hw/random/random_regions.h"
#include "tests/support/machines.h"
#include "tests/support/same_programs.h"

namespace accsim::hw {
namespace {

HwConfig machine(bool narrow) {
  HwConfig hw = test::small_machine(8, 8);
  hw.shared.kib = 64;
  hw.vector.mac_lanes = 5;
  if (narrow) hw.types.weight = DType::int4;
  return hw;
}

/// The first line of a text, tensors left out, of which the program read isn't the same; -1: none.
int first_other(const std::vector<Item>& a, const std::vector<Item>& b, int& line) {
  for (size_t i = 0; i < a.size(); ++i, ++line) {
    const auto* x = std::get_if<Loop>(&a[i].node);
    const auto* y = std::get_if<Loop>(&b[i].node);
    if (!x || !y) {
      if (!test::same(a[i], b[i])) return line;
      continue;
    }
    ++line;
    if (const int inner = first_other(x->body, y->body, line); inner >= 0) return inner;
    --line;
  }
  return -1;
}

/// Is what text says of it the same program?
void expect_read_back(const Program& p) {
  const std::string text = program_text(p);
  const auto read = parse_programs(text, "p");
  ASSERT_TRUE(read.ok()) << read.errors().front().text() << "\n" << text;
  ASSERT_EQ(read->size(), 1U);
  const Program& again = read->front();
  ASSERT_EQ(program_text(again), text);
  ASSERT_EQ(again.body.size(), p.body.size());
  int line = static_cast<int>(p.tensors.size()) + 1;
  ASSERT_EQ(first_other(p.body, again.body, line), -1) << text;
  ASSERT_TRUE(test::same(again, p)) << text;
}

TEST(ProgramText, IsReadBackAsTheProgram) {
  for (const bool narrow : {false, true}) {
    const HwConfig hw = machine(narrow);
    std::mt19937 random(3);
    for (int i = 0; i < 150; ++i) {
      const auto dataflow = static_cast<Dataflow>(i % static_cast<int>(kDataflows));
      if (const auto drawn = random_program(hw, dataflow, random)) expect_read_back(drawn->program);
      if (i % 5 > 0) continue;
      if (const auto drawn = random_network(hw, dataflow, random)) expect_read_back(drawn->program);
    }
  }
}

}  // namespace
}  // namespace accsim::hw
