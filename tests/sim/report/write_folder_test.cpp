#include "sim/report/write_folder.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "tests/support/temp_path.h"

namespace accsim::sim {
namespace {

namespace fs = std::filesystem;

class WriteFolder : public ::testing::Test {
 protected:
  /// Names below the test's folder.
  size_t entries() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  static void put(const fs::path& file) { std::ofstream(file) << "x"; }
  Result<FolderWriter> writer(const std::string& name) const {
    return FolderWriter::create((folder_ / name).string(), "mark.json");
  }

 private:
  const test::TempFolder temporary_;

 protected:
  const fs::path folder_ = temporary_.path();
};

TEST_F(WriteFolder, IsAllOfItThereWhenItIsDone) {
  auto made = writer("new/out/");
  ASSERT_TRUE(made);
  put(made->temporary_folder() / "mark.json");
  EXPECT_FALSE(fs::exists(folder_ / "new" / "out"));
  ASSERT_TRUE(made->commit());
  EXPECT_TRUE(fs::exists(folder_ / "new" / "out" / "mark.json"));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "new"), fs::directory_iterator()), 1);
}

TEST_F(WriteFolder, IsNothingLeftOfOneThatIsNotDone) {
  {
    auto made = writer("out");
    ASSERT_TRUE(made);
    put(made->temporary_folder() / "mark.json");
  }
  EXPECT_EQ(entries(), 0U);
}

TEST_F(WriteFolder, IsOneThatWasWrittenSoReplacedAndNoOther) {
  fs::create_directory(folder_ / "out");
  put(folder_ / "out" / "mark.json");
  put(folder_ / "out" / "old");
  auto made = writer("out");
  ASSERT_TRUE(made);
  put(made->temporary_folder() / "mark.json");
  ASSERT_TRUE(made->commit());
  EXPECT_FALSE(fs::exists(folder_ / "out" / "old"));
  EXPECT_EQ(entries(), 1U);
  fs::remove(folder_ / "out" / "mark.json");
  EXPECT_TRUE(writer("out")) << "an empty one";
  put(folder_ / "out" / "mine");
  const auto refused = writer("out");
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.errors().front().code, Errc::usage);
  EXPECT_TRUE(fs::exists(folder_ / "out" / "mine"));
}

TEST_F(WriteFolder, IsAFileInItsPlaceAnError) {
  put(folder_ / "out");
  EXPECT_FALSE(writer("out"));
  EXPECT_FALSE(writer("out/below"));
  EXPECT_EQ(entries(), 1U);
}

}  // namespace
}  // namespace accsim::sim
