#include "sim/report/operators.h"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "tests/support/source.h"

namespace accsim::sim {
namespace {

TEST(Operators, IsTheDocumentedTableTheRealOne) {
  std::ifstream in(kSource + "/docs/operators.md");
  const std::string text(std::istreambuf_iterator<char>(in), {});
  EXPECT_EQ(text, operators_markdown()) << "run: build/dev/accsim ops > docs/operators.md";
}

TEST(Operators, NamesTheFatesOfWellKnownOnes) {
  const std::string text = operators_markdown();
  for (const char* row : {"| Conv | 1 | 2 to 3 | gemm |", "| Reshape | 1 |", "| Softmax | 1 |"})
    EXPECT_NE(text.find(row), std::string::npos) << row;
}

}  // namespace
}  // namespace accsim::sim
