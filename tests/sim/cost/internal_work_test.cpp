#include <gtest/gtest.h>

#include "hw/config/load.h"
#include "sim/cost/cost.h"
#include "tests/support/models.h"
#include "tests/support/source.h"

namespace accsim::sim {
namespace {

using test::ModelBuilder;

hw::HwConfig machine() { return *hw::load_hw(kSource + "/configs/64x64.yaml"); }
CostedNetwork costed(const ModelDef& m) { return *cost_network(*elaborate(m, {}), machine(), {}); }

ModelDef einsum(const char* equation, const std::vector<Dims>& operands) {
  ModelBuilder m;
  std::vector<std::string> names;
  for (const Dims& dims : operands) {
    names.push_back("x" + std::to_string(names.size()));
    m.input(names.back(), dims);
  }
  m.node("Einsum", names, {"y"}, {{"equation", "", std::string(equation)}}).output("y");
  return m.model();
}

/// An operand that is summed before it is multiplied is read, one byte an element.
TEST(InternalWork, IsWhatAnEinsumSumsFirstCosted) {
  const auto c = costed(einsum("a,b->", {{20000}, {30000}}));
  EXPECT_GE(c.report.totals.dram_read, 50'000);
  EXPECT_GE(c.report.totals.compute_bound, 50'000 / 64);  // lanes that sum
}

/// Three factors without a sum: the first two are 200 x 200 products, the rest 200 times that.
TEST(InternalWork, AreAllProductsOfAnEinsumCosted) {
  const auto two = costed(einsum("a,b->ab", {{200}, {200}}));
  const auto then = costed(einsum("x,c->xc", {{200 * 200}, {200}}));
  const auto all = costed(einsum("a,b,c->abc", {{200}, {200}, {200}}));
  EXPECT_GE(all.report.totals.compute_bound,
            two.report.totals.compute_bound + then.report.totals.compute_bound);
}

}  // namespace
}  // namespace accsim::sim
