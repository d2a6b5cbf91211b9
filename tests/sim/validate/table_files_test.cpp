#include "sim/validate/table_files.h"

#include "tests/sim/validate/table_folder.h"

namespace accsim::sim {
namespace {

using test::TableFolder, test::Texts;

/// Sections that ask for columns which the other table lacks are about other tables.
TEST(TableFiles, WhichSectionsTakeAnotherTable) {
  const TableFolder files(
      "table:\n"
      "  - {file: t.csv, workload: product, where: {kind: p},\n"
      "     columns: {m: M, k: 1, n: 1, us: t}}\n"
      "  - {file: u.csv, workload: product, where: {unit: q},\n"
      "     columns: {m: R, k: 1, n: 1, us: t}}\n",
      "kind,M,t\np,2,3\n");
  files.write("u.csv", "unit,R,t\nq,4,5\n");
  EXPECT_EQ(files.load()->points.size(), 2u);
  files.write("other.csv", "unit,R,t\nq,6,7\nq,8,9\n");
  const auto other = files.load(files.path("other.csv"));
  ASSERT_TRUE(other.ok());
  ASSERT_EQ(other->points.size(), 2u);
  EXPECT_EQ(other->points[1].measured, 9);
  files.write("none.csv", "sort,R,t\nq,6,7\n");
  const Texts errors = files.errors(files.path("none.csv"));
  ASSERT_GE(errors.size(), 2u);  // of both sections
  EXPECT_TRUE(errors[0].starts_with("none.csv:1:1: no column")) << errors[0];
}

TEST(TableFiles, IsATableThatCantBeReadNamedOnce) {
  const std::string section =
      "{file: t.csv, workload: product, columns: {m: 1, k: 1, n: 1, us: t}}";
  const TableFolder files("table: [" + section + ", " + section + "]\n", "\"t");
  EXPECT_EQ(files.errors().size(), TableFolder("table: " + section + "\n", "\"t").errors().size());
}

}  // namespace
}  // namespace accsim::sim
