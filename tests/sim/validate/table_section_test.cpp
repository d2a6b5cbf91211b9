#include "sim/validate/table_section.h"

#include "tests/sim/validate/table_folder.h"

namespace accsim::sim {
namespace {

using test::TableFolder, test::Texts;

Texts errors(const std::string& keys) {
  return TableFolder(
             "table: {file: t.csv, workload: product, columns: {m: 1, k: 1, n: 1, us: t},\n" +
                 keys + "}\n",
             "t\n1\n")
      .errors();
}

TEST(TableSection, IsItsMachineAFile) {
  for (const char* machine : {"[a.yaml]", "{file: a.yaml}", "''"})
    EXPECT_EQ(errors(std::string("machine: ") + machine),
              Texts{"v.yaml:6:10: machine must be a file"})
        << machine;
}

TEST(TableSection, AreItsOtherKeysOfTheirKinds) {
  EXPECT_EQ(errors("family: [a]"), Texts{"v.yaml:6:9: family must be a text"});
  EXPECT_EQ(errors("places: []"),
            Texts{"v.yaml:6:9: places must have words of the table with their memories"});
  EXPECT_EQ(errors("where: {}"),
            Texts{"v.yaml:6:8: where must have columns with what a row has there"});
  EXPECT_EQ(errors("function: Add"),
            Texts{"v.yaml:5:8: function is of pointwise layers, and they need it"});
}

TEST(TableSection, WhichKeysAreWhat) {
  EXPECT_TRUE(is_row_text("name"));
  EXPECT_FALSE(is_row_text("banks"));
  EXPECT_EQ(bank_of_key("weight_banks"), 1u);
  EXPECT_FALSE(bank_of_key("banks"));
  EXPECT_TRUE(quantity_of_key("cycles"));
  EXPECT_FALSE(quantity_of_key("area_mm2"));  // no row has one
}

}  // namespace
}  // namespace accsim::sim
