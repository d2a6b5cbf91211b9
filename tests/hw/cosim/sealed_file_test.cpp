#include "hw/cosim/sealed_file.h"

#include <gtest/gtest.h>

#include <fstream>

#include "tests/support/temp_path.h"

namespace accsim::hw {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary) << text;
}

TEST(SealedFile, IsIntactUntilAByteChanges) {
  const test::TempFolder folder;
  const fs::path file = folder.path("core.so");
  EXPECT_FALSE(is_intact(file)) << "there is none";
  EXPECT_FALSE(seal_file(file));
  const std::string bytes(100'000, 'x');
  write(file, bytes);
  EXPECT_FALSE(is_intact(file)) << "nobody has sealed it";
  ASSERT_TRUE(seal_file(file));
  EXPECT_TRUE(is_intact(file));
  std::string flipped = bytes;
  flipped[54'321] ^= 1;
  for (const std::string& other : {flipped, bytes.substr(1), bytes + "x", std::string()}) {
    write(file, other);
    EXPECT_FALSE(is_intact(file)) << other.size();
  }
  write(file, bytes);
  EXPECT_TRUE(is_intact(file));
}

TEST(SealedFile, OfNothingIsNone) {
  const test::TempFolder folder;
  write(folder.path("empty"), "");
  EXPECT_FALSE(seal_file(folder.path("empty")));
}

TEST(SealedFile, IsRenamedWithItsSeal) {
  const test::TempFolder folder;
  write(folder.path("a"), "text");
  ASSERT_TRUE(seal_file(folder.path("a")));
  EXPECT_TRUE(rename_sealed(folder.path("a"), folder.path("b")));
  EXPECT_TRUE(is_intact(folder.path("b")));
  EXPECT_FALSE(is_intact(folder.path("a")));
  EXPECT_FALSE(rename_sealed(folder.path("a"), folder.path("c")));
}

}  // namespace
}  // namespace accsim::hw
