#include <gtest/gtest.h>

#include <set>
#include <string>

#include "sim/elaborate/fused_forms.h"
#include "sim/operators/op_table.h"
#include "tests/sim/operators/known_operators.h"

namespace accsim::sim {
namespace {

std::set<std::string_view> names_of(const KnownOperators& known) {
  std::set<std::string_view> out;
  for (size_t from = 0; from < known.names.size();) {
    const size_t to = std::min(known.names.find(' ', from), known.names.size());
    out.insert(known.names.substr(from, to - from));
    from = to + 1;
  }
  return out;
}

TEST(KnownOperators, HasEachARuleOrARefusalAndNotBoth) {
  for (const KnownOperators& known : kKnownOperators)
    for (const std::string_view name : names_of(known)) {
      const int entries = static_cast<int>(find_op(known.domain, name) != nullptr) +
                          static_cast<int>(find_refused(known.domain, name) != nullptr);
      EXPECT_EQ(entries, 1) << known.domain << " " << name;
    }
}

TEST(KnownOperators, IsEveryRefusalOfAKnownOperatorWithItsTexts) {
  std::set<std::pair<std::string_view, std::string_view>> refused;
  for (const RefusedOp& r : refused_ops()) {
    EXPECT_TRUE(refused.emplace(r.domain, r.name).second) << r.name << " is refused twice";
    EXPECT_GT(r.stands_for.size(), 10U) << r.name;
    EXPECT_GT(r.instead.size(), 10U) << r.name;
    bool known = false;
    for (const KnownOperators& of : kKnownOperators)
      known = known || (of.domain == r.domain && names_of(of).contains(r.name));
    EXPECT_TRUE(known) << r.domain << " " << r.name;
  }
  EXPECT_EQ(find_refused("ai.onnx", "ImageDecoder"), find_refused("", "ImageDecoder"));
  EXPECT_EQ(find_refused("", "Relu"), nullptr);
}

TEST(SpelledOperators, HasEachItsSpelling) {
  for (const OpRow* row : all_ops())
    if (row->control_flow == ControlFlow::spelled) {
      EXPECT_NE(find_spelling(row->domain, row->name), nullptr) << row->domain << " " << row->name;
    }
}

}  // namespace
}  // namespace accsim::sim
