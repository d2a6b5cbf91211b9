#include "sim/validate/row_words.h"

#include "tests/sim/validate/table_folder.h"

namespace accsim::sim {
namespace {

using test::TableFolder, test::Texts;

TableFolder products(const std::string& words, const std::string& csv) {
  return {
      "table: {file: t.csv, workload: product, places: {L2: shared}, family: rest,\n"
      "  columns: {m: 1, k: 1, n: 1, cycles: c, " +
          words + "}}\n",
      csv};
}

TEST(RowWords, AreNameAndFamilyMadeOfColumns) {
  const auto v = products("name: '{a}-{c}', family: f", "c,a,f\n1,x,g\n2,y,\n").load();
  ASSERT_TRUE(v.ok()) << v.errors().front().text();
  EXPECT_EQ(v->points[0].name, "x-1");
  EXPECT_EQ(v->points[0].family, "g");
  EXPECT_EQ(v->points[1].family, "rest");  // that of all rows, where the cell is empty
}

TEST(RowWords, AreBanksTwoNumbers) {
  const auto v = products("banks: b", "c,b\n1,31+1\n").load();
  ASSERT_TRUE(v.ok()) << v.errors().front().text();
  EXPECT_EQ(v->points.front().banks, (std::vector<int64_t>{31, 1}));
  for (const char* banks : {"31", "31+0", "31+1+1", ""})
    EXPECT_EQ(products("banks: b", std::string("c,b\n1,") + banks + "\n").errors(),
              Texts{std::string("t.csv:2:3: banks is \"") + banks +
                    "\"; it must be FEATURES+WEIGHTS, such as 31+1"});
}

TEST(RowWords, IsAPlaceAMemoryOrItsWord) {
  const auto v = products("a_place: p, b_place: dram", "c,p\n1,L2\n2,dram\n3,shared\n").load();
  ASSERT_TRUE(v.ok()) << v.errors().front().text();
  EXPECT_EQ(v->points[0].graph.on_chip.size(), 1u);
  EXPECT_EQ(v->points[1].graph.on_chip.size(), 0u);
  EXPECT_EQ(v->points[2].graph.on_chip.size(), 1u);
  EXPECT_EQ(products("a_place: p", "c,p\n1,L3\n").errors(),
            Texts{"t.csv:2:3: a_place is \"L3\"; it must be dram, shared, or a word of places"});
}

}  // namespace
}  // namespace accsim::sim
