#include "sim/validate/row_fields.h"

#include "hw/config/load.h"
#include "tests/sim/validate/table_folder.h"

namespace accsim::sim {
namespace {

using test::TableFolder, test::Texts;

/// A table of products whose rows set fields of the machine, as the columns say.
TableFolder products(const std::string& fields, const std::string& csv) {
  return {"table: {file: t.csv, workload: product, columns: {m: 1, k: 1, n: 1, cycles: c,\n" +
              fields + "}}\n",
          csv};
}

TEST(RowFields, IsAnExpressionRoundedAsSizesAre) {
  ASSERT_NE(1000 * 2.01, 2010);
  const auto v = products("engines.latency: 1000 * s", "c,s\n1,2.01\n").load();
  ASSERT_TRUE(v.ok()) << v.errors().front().text();
  ASSERT_EQ(v->points.front().set.size(), 1u);
  EXPECT_EQ(v->points.front().set.front().field->path, "engines.latency");
  EXPECT_EQ(v->points.front().set.front().value, "2010");
  EXPECT_EQ(products("engines.latency: 1000 * s", "c,s\n1,2.0101\n").errors(),
            Texts{"t.csv:2:3: engines.latency is \"2010.1\"; it must be a whole number "
                  "(1..1048576)"});
}

TEST(RowFields, IsATextNoNumberOfAnExpression) {
  EXPECT_EQ(products("engines.latency: 2 * s", "c,s\n1,fast\n").errors(),
            Texts{"t.csv:2:3: s is \"fast\"; it must be a number"});
}

TEST(RowFields, IsAWordThatIsMissingSaidOfItsCell) {
  const std::string words = "engines.reads_overlap: {column: mode, words: {serial: 0, both: 1}}";
  const auto v = products(words, "c,mode\n1,serial\n1,both\n").load();
  ASSERT_TRUE(v.ok()) << v.errors().front().text();
  EXPECT_EQ(v->points[0].set.front().value, "0");
  EXPECT_EQ(v->points[1].set.front().value, "1");
  EXPECT_EQ(products(words, "c,mode\n1,serial\n1,none\n").errors(),
            Texts{"t.csv:3:3: mode is \"none\"; valid: serial, both"});
}

TEST(RowFields, IsWhatIsNoScalarSaidInTheSection) {
  const auto error = [](const std::string& value) {
    const Texts all = products("  engines.latency: " + value, "c,s\n1,a\n").errors();
    EXPECT_EQ(all.size(), 1u) << value;
    return all.front();
  };
  EXPECT_EQ(error("{column: [s], words: {a: 1}}"),
            "v.yaml:6:29: column of engines.latency must be a text or a number");
  EXPECT_EQ(error("{column: s, words: {a: [1]}}"),
            "v.yaml:6:43: a of engines.latency must be a text or a number");
  EXPECT_EQ(error("{column: s}"),
            "v.yaml:6:3: engines.latency needs column, and words with a value each");
}

TEST(RowFields, WhereErrorsOfASecondSettingStand) {
  const std::string fields = "clock_mhz: f, engines.latency: l";
  EXPECT_EQ(products(fields, "c,f,l\n1,100,slow\n").errors().front().substr(0, 10), "t.csv:2:7:");
  const TableFolder files = products(fields, "c,f,l\n1,100,33\n");
  const auto v = files.load();
  ASSERT_TRUE(v.ok()) << v.errors().front().text();
  hw::HwConfig without = *hw::load_hw(kSource + "/configs/64x64.yaml");
  const Status wrong = apply_row(v->points.front(), without);
  ASSERT_FALSE(wrong.ok());
  EXPECT_EQ(wrong.errors().front().where, files.path("t.csv") + ":2:7");
}

}  // namespace
}  // namespace accsim::sim
