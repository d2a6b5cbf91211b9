#include "sim/validate/cell_pattern.h"

#include <gtest/gtest.h>

#include <fstream>

#include "sim/validate/predict.h"
#include "tests/support/source.h"
#include "tests/support/temp_path.h"

namespace accsim::sim {
namespace {

/// A validation file whose table has a number within a text.
class Patterns {
 public:
  Patterns(const std::string& pattern, const std::string& cell) {
    std::ofstream(folder_.path("v.yaml"))
        << "source: s\nevidence: simulation\nfitted: no\nmachine: " << kSource
        << "/configs/known/vta-16x16.yaml\n"
           "table: {file: t.csv, workload: product, columns: {cycles: c, k: 4, n: 2,\n"
           "  m: "
        << pattern << "}}\n";
    std::ofstream(folder_.path("t.csv")) << "c,op\n7,\"" << cell << "\"\n";
  }
  /// Rows of the product; 0 where the table is refused.
  int64_t rows() const {
    const auto source = load_validation(folder_.path("v.yaml"));
    EXPECT_TRUE(source.ok()) << (source ? "" : source.errors().front().text());
    if (!source) return 0;
    const Graph& graph = source->points.front().graph;
    return graph.tensor(graph.outputs.front()).dims.front();
  }
  /// The first error without the folder.
  std::string error() const {
    const auto source = load_validation(folder_.path("v.yaml"));
    if (source) return "no error";
    const std::string text = source.errors().front().text();
    return text.substr(folder_.path().size() + 1);
  }

 private:
  test::TempFolder folder_;
};

TEST(CellPatterns, IsANumberWithinAText) {
  const std::string op = "split=3 partial_in(first,last)=12,5";
  EXPECT_EQ(Patterns(R"({column: op, pattern: 'split=(\d+)'})", op).rows(), 3);
  EXPECT_EQ(Patterns(R"({column: op, pattern: '=12,(\d+)'})", op).rows(), 5);
  EXPECT_EQ(Patterns(R"({column: op, pattern: 'other=(\d+)', otherwise: 8})", op).rows(), 8);
  EXPECT_EQ(Patterns("{column: op, pattern: 'split', otherwise: 8}", op).rows(), 1);
  EXPECT_EQ(Patterns("{column: op, pattern: '^partial', otherwise: 8}", op).rows(), 8);
}

TEST(CellPatterns, AreBadCellsNamed) {
  const std::string split = R"({column: op, pattern: 'split=(\w+)'})";
  EXPECT_EQ(Patterns(split, "whole").error(), R"x(t.csv:2:3: m: "whole" has no "split=(\w+)")x");
  EXPECT_EQ(Patterns(split, "split=three").error(),
            R"x(t.csv:2:3: m: what "split=(\w+)" finds in "split=three" is "three"; it must be a )x"
            "number");
  EXPECT_EQ(Patterns(split, "split=0").error(),
            "t.csv:2:3: m is 0; it must be a whole number of 1..2147483648");
  // Without a group: 0 where it isn't found.
  EXPECT_EQ(Patterns("{column: op, pattern: split}", "whole").error(),
            "t.csv:2:3: m is 0; it must be a whole number of 1..2147483648");
  EXPECT_EQ(Patterns(split, std::string(1001, 'x')).error(),
            "t.csv:2:3: m: the cell has 1001 bytes, and a pattern is sought in 1000");
}

/// A pattern whose time would double with each byte, were it sought by trying.
TEST(CellPatterns, TakeNoLongTimeInALongCell) {
  const std::string cell(kMostCellText - 1, 'a');
  EXPECT_EQ(Patterns(R"({column: op, pattern: '(\w+)+\d$', otherwise: 3})", cell + "!").rows(), 3);
}

TEST(CellPatterns, AreBadPatternsNamed) {
  EXPECT_EQ(
      Patterns("{column: op, pattern: '(x'}", "x").error(),
      R"x(v.yaml:6:3: pattern "(x" of m isn't a regular expression without back references)x");
  const std::string twice = Patterns(R"({column: op, pattern: '(x)\1'})", "xx").error();
  EXPECT_NE(twice.find("without back references"), std::string::npos) << twice;
  EXPECT_EQ(Patterns("{column: op}", "x").error(), "v.yaml:6:3: m needs a column and a pattern");
  EXPECT_EQ(Patterns("{column: op, pattern: x, otherwise: none}", "x").error(),
            "v.yaml:6:42: otherwise of m is \"none\"; it must be a number");
  EXPECT_EQ(Patterns("{column: op, pattern: [x]}", "x").error(),
            "v.yaml:6:28: pattern of m must be a text or a number");
  const std::string none = Patterns("{column: po, pattern: x}", "x").error();
  EXPECT_TRUE(none.starts_with("t.csv:1:1: no column \"po\", which is asked for by m in ")) << none;
  EXPECT_TRUE(none.ends_with("v.yaml:6:3")) << none;
}

}  // namespace
}  // namespace accsim::sim
