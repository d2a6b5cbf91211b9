#include "hw/vectors/number_file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tests/support/temp_path.h"

namespace accsim::hw {
namespace {

namespace fs = std::filesystem;

std::string content(const fs::path& file) {
  std::ostringstream out;
  out << std::ifstream(file, std::ios::binary).rdbuf();
  return out.str();
}

TEST(NumberFile, HasALineOfHexThatBeginsWithTheLastNumber) {
  const test::TempFolder folder;
  NumberFile file(fs::path(folder.path()) / "x", {}, NumberType::int8, 3);
  file.write_row(std::array<int8_t, 3>{1, -1, 16});
  file.write_row(std::array<int8_t, 1>{-128});
  EXPECT_EQ(file.size(), 2);
  ASSERT_TRUE(file.close());
  EXPECT_EQ(content(fs::path(folder.path()) / "x.hex"), "10ff01\n000080\n");
}

TEST(NumberFile, HasAHeaderOfNumPyWithAllOfItsRows) {
  const test::TempFolder folder;
  NumberFile file(fs::path(folder.path()) / "x", {}, NumberType::int32, 2);
  for (int i = 0; i < 12; ++i) file.write_row(std::array<int32_t, 2>{i, -2});
  ASSERT_TRUE(file.close());
  const std::string text = content(fs::path(folder.path()) / "x.npy");
  ASSERT_EQ(text.size(), 128U + 12 * 2 * 4);
  EXPECT_EQ(text.substr(0, 10), std::string("\x93NUMPY\x01\x00\x76\x00", 10));
  EXPECT_TRUE(text.substr(10).starts_with(
      "{'descr': '<i4', 'fortran_order': False, 'shape': (12, 2), }  "));
  EXPECT_EQ(text[127], '\n');
  EXPECT_EQ(text.substr(136, 8), std::string("\x01\0\0\0\xfe\xff\xff\xff", 8));
}

TEST(NumberFile, HasNumbersWithoutRowsOneBehindTheOther) {
  const test::TempFolder folder;
  NumberFile file(fs::path(folder.path()) / "x", {.npy = false, .hex = true}, NumberType::uint8, 0);
  file.write_bytes(std::array<uint8_t, 2>{7, 255});
  EXPECT_EQ(file.size(), 2);
  ASSERT_TRUE(file.close());
  EXPECT_EQ(content(fs::path(folder.path()) / "x.hex"), "07\nff\n");
  EXPECT_FALSE(fs::exists(fs::path(folder.path()) / "x.npy"));
}

TEST(NumberFile, IsAFolderThatIsNotThereAnError) {
  const test::TempFolder folder;
  NumberFile file(fs::path(folder.path()) / "none" / "x", {}, NumberType::int8, 1);
  file.write_row(std::array<int8_t, 1>{1});
  const Status closed = file.close();
  ASSERT_FALSE(closed);
  EXPECT_EQ(closed.errors().front().code, Errc::io);
  EXPECT_NE(closed.errors().front().where.find("x.npy"), std::string::npos);
}

}  // namespace
}  // namespace accsim::hw
