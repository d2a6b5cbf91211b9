#include "hw/program/read_program.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/hw/program/refused.h"
#include "tests/support/programs.h"
#include "tests/support/same_programs.h"
#include "tests/support/temp_path.h"

namespace accsim::hw {
namespace {

using test::same;
using test::says;

/// A tile of a product in a loop, with a tensor whose name needs escapes.
Program product() {
  Program p = test::program({{Loop{0, "oy", 3, test::tile(8, 8, 8)}}}, 1);
  p.name = "a (b) 'c'";
  p.tensors[0].name = "it's a \\ name\twith \x01";
  return p;
}

std::string with(std::string text, std::string_view old, std::string_view other) {
  const size_t at = text.find(old);
  EXPECT_NE(at, std::string::npos) << old << " in " << text;
  return text.replace(at, old.size(), other);
}

/// The error of a text; "" when it is read.
std::string refused(const std::string& text) {
  const auto read = parse_programs(text, "p.txt");
  return read ? "" : read.errors().front().text();
}

/// Line and column, from 1, of the first byte of `part`: counted here, not by the reader.
std::string place(const std::string& text, std::string_view part, size_t further = 0) {
  size_t line = 1, column = 1;
  for (size_t i = 0; i < text.find(part) + further; ++i)
    text[i] == '\n' ? (++line, column = 1) : ++column;
  return "p.txt:" + std::to_string(line) + ":" + std::to_string(column) + ": ";
}

TEST(ReadProgram, GivesWhatWasWritten) {
  const auto read = parse_programs(program_text(product()), "p.txt");
  ASSERT_TRUE(read.ok()) << read.errors().front().text();
  EXPECT_TRUE(same(read->front(), product())) << program_text(read->front());
}

TEST(ReadProgram, GivesSeveralOneBehindTheOther) {
  Program second = product();
  second.name = "second";
  second.dataflow = Dataflow::output_stationary;
  const auto read =
      parse_programs(program_text(product()) + "\n" + program_text(second) + "\n\n", "p.txt");
  ASSERT_TRUE(read.ok()) << read.errors().front().text();
  ASSERT_EQ(read->size(), 2U);
  EXPECT_TRUE(same((*read)[0], product()));
  EXPECT_TRUE(same((*read)[1], second));
}

TEST(ReadProgram, TakesCommentsEmptyLinesAndWindowsLineEnds) {
  std::string text;
  for (const char c : "# a head\n\n" + program_text(product()) +
                          "\n  # 12 cycles, 7 commands,\n"
                          "      63 MACs\n") {
    if (c == '\n') text += "  # to the end of the line\r";
    text += c;
  }
  const auto read = parse_programs(text, "p.txt");
  ASSERT_TRUE(read.ok()) << read.errors().front().text();
  EXPECT_TRUE(same(read->front(), product()));
}

/// A terminal wraps between words.
TEST(ReadProgram, TakesWrappedLines) {
  const std::string text = program_text(product());
  for (const size_t width : {30U, 47U, 60U, 80U}) {
    std::string wrapped;
    size_t column = 0, indent = 0;
    for (size_t i = 0; i < text.size(); ++i) {
      if (column == 0) indent = text.find_first_not_of(' ', i) - i;
      const size_t next = std::min(text.find_first_of(" \n", i + 1), text.size());
      // The queue's column isn't wrapped: it is narrower than any terminal.
      const bool wraps = text[i] == ' ' && column > indent + 18 && column + next - i > width;
      wrapped += wraps ? "\n" + std::string(indent + 4, ' ') : std::string(1, text[i]);
      column = text[i] == '\n' ? 0 : wraps ? indent + 4 : column + 1;
    }
    ASSERT_NE(wrapped, text);
    const auto read = parse_programs(wrapped, "p.txt");
    ASSERT_TRUE(read.ok()) << read.errors().front().text() << "\n" << wrapped;
    EXPECT_TRUE(same(read->front().body, product().body)) << wrapped;
  }
}

TEST(ReadProgram, NamesLoopsWhateverTheyEndIn) {
  Program p = product();
  for (const char* name : {"k", "k1", "k_", "k_1", "k1_", "_"}) {
    auto& loop = std::get<Loop>(p.body[0].node);
    loop.name = name;
    loop.id = 12;
    p.loops = 13;
    const auto read = parse_programs(program_text(p), "p.txt");
    ASSERT_TRUE(read.ok()) << read.errors().front().text();
    EXPECT_TRUE(same(read->front(), p)) << name;
  }
  p.loops = 20;
  EXPECT_TRUE(says(program_text(p), "(weight_stationary), 20 loops\n"));
  EXPECT_EQ(parse_programs(program_text(p), "p.txt")->front().loops, 20);
}

TEST(ReadProgram, SumsTermsInAnyOrderAndOfEitherSign) {
  const std::string text = program_text(product());
  for (const char* sum : {"5 - 3*oy0 + 2", "-3*oy0 + 7", "7 + -3*oy0", "- 3*oy0 + 7"}) {
    const auto read = parse_programs(with(text, "%0[0]", "%0[" + std::string(sum) + "]"), "p.txt");
    ASSERT_TRUE(read.ok()) << read.errors().front().text();
    EXPECT_TRUE(says(program_text(read->front()), "%0[-3*oy0 + 7]")) << sum;
  }
}

struct Planted {
  const char *old, *other;
  const char* at;  ///< what the place of the error begins with
  size_t further;  ///< bytes from there
  const char* says;
};

TEST(ReadProgram, NamesLineAndColumnOfWhatIsWrong) {
  const std::string good = program_text(product());
  const std::vector<Planted> planted = {
      {"for oy0", "fro oy0", "fro", 0, "expected one of load, execute, post, vector, store, stage"},
      {"< 3:", "< x:", "x:", 0, "expected a whole number, found \"x\""},
      {"oy0 < 3:", "oy < 3:", "oy <", 0, "expected a loop's name with its number"},
      {"%0[0]", "%7[0]", "7[0]", 0, "expected a number from 0 to"},
      {"%0[0]", "%0[k3]", "k3]", 0, "expected a whole number or a loop around this line"},
      {"%0[0]", "%0[oy0 + 2*oy0]", "2*oy0]", 0, "a loop stands once in a sum"},
      {"%0[0]", "%0[99999999999999999999]", "9999", 0, "doesn't fit into 64 bits"},
      {"wait_full weight", "wait_ful weight", "wait_ful ", 0,
       "expected a command, a token or a mark, found \"wait_ful\""},
      {"wait_full weight", "wait_full wait", "wait\n", 0, "expected one of activation, weight"},
      {"execute gemm", "post    gemm", "post    gemm", 8, "the execute queue runs this command"},
      {"acc[0] = ", "acc[0] ~ ", "~", 0, "expected \"=\" or \"+=\", found \"~\""},
      {"rows 1x1x8 stride", "rows 1x1 stride", "stride", 0, "expected \"x\", found \"stride\""},
      {"8x8x8: rows", "8x8x8 rows", "rows", 0, "expected \":\""},
      {"'it\\'s", "it\\'s", "it\\'s", 0, "expected a name in quotes"},
      {"\\x01'", "\\x1'", "\\x1'", 0, "expected two digits behind \\x"},
      {"(weight_stationary)", "(weight stationary)", "a (b)", 0, "expected a program's name"},
      {"tensor %1", "tensor %2", "2 ", 0, "the next tensor is %1"},
      {"dram", "dräm", "dräm", 0, "expected one of dram, shared, found \"dr\""},
      {"program ", " program ", "program ", 0, "begins at the line's first column"},
  };
  for (const Planted& p : planted) {
    const std::string text = with(good, p.old, p.other);
    EXPECT_TRUE(says(refused(text), p.says));
    const std::string where = place(text, p.at, p.further);
    EXPECT_TRUE(refused(text).starts_with(where)) << refused(text) << " isn't at " << where;
  }
}

TEST(ReadProgram, SaysThatALineEndsTooSoon) {
  const std::string good = program_text(product());
  const size_t gemm = good.find("; weights[");
  const std::string cut = good.substr(0, gemm) + good.substr(good.find('\n', gemm));
  EXPECT_TRUE(says(refused(cut), "expected \";\", but the line ends"));
  EXPECT_TRUE(refused(cut).starts_with(place(cut, good.substr(gemm - 9, 9), 9))) << refused(cut);
  EXPECT_TRUE(says(refused(with(good, " <- output", " output")), "expected \"<- output[\""));
}

TEST(ReadProgram, RefusesLinesOfNoBody) {
  const std::string good = program_text(product());
  EXPECT_TRUE(says(refused(""), "expected a program"));
  EXPECT_TRUE(says(refused("# nothing\n"), "expected a program"));
  EXPECT_TRUE(says(refused(good + "   store   wait_full output\n"), "spaces before them"));
  EXPECT_TRUE(says(refused(good + "  tensor %9 dram 1 bytes 'x'\n"), "tensors stand before"));
  EXPECT_TRUE(says(refused(good + "nothing\n"), "expected \"program\", found \"nothing\""));
  EXPECT_TRUE(says(refused(good + "  store   wait_full output too\n"), "the end of the line"));
}

TEST(ReadProgram, HasLimits) {
  std::string deep = "program deep (weight_stationary)\n";
  for (size_t i = 0; i <= kMostLoopDepth; ++i)
    deep += std::string(2 * i + 2, ' ') + "for l" + std::to_string(i) + " < 2:\n";
  EXPECT_TRUE(says(refused(deep), "more than 16 loops in one another"));
  const std::string head = "program p (weight_stationary)\n";
  EXPECT_TRUE(says(refused(head + "  for l1048576 < 2:\n"), "0 to 1048575"));
  EXPECT_TRUE(says(refused(head + "  for l1 < 2:\n    for m1 < 2:\n"), "has number 1, too"));
  std::string nested = "  load    load weight[0] <- %0[0], ";
  for (int i = 0; i < 9; ++i) nested += "2 (stride 1) x ";
  EXPECT_TRUE(says(refused(head + "  tensor %0 dram 1 bytes 'x'\n" + nested + "1 bytes\n"),
                   "at most 8 levels of a walk"));
}

TEST(ReadProgram, ReadsFiles) {
  const std::string path = test::temp_path("program.txt");
  std::ofstream(path) << program_text(product());
  const auto read = read_programs(path);
  ASSERT_TRUE(read.ok()) << read.errors().front().text();
  EXPECT_TRUE(same(read->front(), product()));
  EXPECT_TRUE(says(read_programs("no/file").errors().front().text(), "no/file: can't be opened"));
  EXPECT_TRUE(
      says(read_programs(test::TempFolder().path()).errors().front().text(), "is a directory"));
}

}  // namespace
}  // namespace accsim::hw
