#include "sim/validate/table_join.h"

#include "tests/sim/validate/table_folder.h"

namespace accsim::sim {
namespace {

using test::TableFolder, test::Texts;

const std::string kSection =
    "table: {file: t.csv, workload: conv, columns: {name: id, c: C, h: 8, w: 8, k: 4, cycles: t},\n"
    "  join: {file: more.csv, column: id, begins: layer}}\n";

Dims input_dims(const ValidationPoint& p) { return p.graph.tensor(p.graph.inputs.front()).dims; }

TEST(TableJoin, HasEachRowTheColumnsOfTheLongestText) {
  const TableFolder files(kSection, "id,t\nconv1_all,5\nconv12,6\nconv1,7\n");
  files.write("more.csv", "# sizes\nlayer,C\nconv1,3\nconv,1\nconv12,9\n");
  const auto v = files.load();
  ASSERT_TRUE(v.ok()) << v.errors().front().text();
  ASSERT_EQ(v->points.size(), 3u);
  EXPECT_EQ(input_dims(v->points[0]), (Dims{1, 3, 8, 8}));
  EXPECT_EQ(input_dims(v->points[1]), (Dims{1, 9, 8, 8}));
  EXPECT_EQ(input_dims(v->points[2]), (Dims{1, 3, 8, 8}));
  EXPECT_EQ(v->tables, Texts{files.path("t.csv")});  // whose rows are points
}

TEST(TableJoin, WhatIsWrongIsSaidOfItsCell) {
  const auto errors = [](const std::string& table, const std::string& more) {
    const TableFolder files(kSection, table);
    files.write("more.csv", more);
    return files.errors();
  };
  const std::string table = "id,t\nx_1,5\n";
  EXPECT_EQ(errors(table, "layer,C\ny,3\n"),
            Texts{"t.csv:2:1: \"x_1\" begins with no text of column layer in more.csv"});
  EXPECT_EQ(errors(table, "layer,C\nx,3\nx,4\n,5\n"),
            (Texts{"more.csv:3:1: a second row has \"x\"",
                   "more.csv:4:1: it is empty; a join needs a text"}));
  EXPECT_EQ(errors(table, "name,C\nx,3\n"),
            Texts{"more.csv:1:1: no column \"layer\", which a join asks for"});
  EXPECT_EQ(errors(table, "layer,C,t\nx,3,4\n"),
            Texts{"more.csv:1:9: column \"t\" is in t.csv, too"});
  EXPECT_EQ(errors(table, "layer,C\nx,many\n"),
            Texts{"t.csv:2:1: c is \"many\"; it must be a number"});
  EXPECT_EQ(errors("it,t\nx,5\n", "layer,C\nx,3\n").front(),
            "t.csv:1:1: no column \"id\", which a join asks for");
  EXPECT_EQ(TableFolder(kSection, table).errors(),
            Texts{"more.csv: no such file; give the path of a table (CSV)"});
}

TEST(TableJoin, IsWhatASectionNeedsSaid) {
  for (const char* join : {"more.csv", "{file: more.csv, column: id}", "{column: [id]}", "[]"}) {
    const TableFolder files("table: {file: t.csv, workload: product, join: " + std::string(join) +
                                ", columns: {m: 1, k: 1, n: 1, us: t}}\n",
                            "id,t\na,1\n");
    const Texts errors = files.errors();
    EXPECT_EQ(errors.back().substr(0, 42), "v.yaml:5:41: a join needs file, column and") << join;
  }
}

}  // namespace
}  // namespace accsim::sim
