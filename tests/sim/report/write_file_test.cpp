#include "sim/report/write_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/support/temp_path.h"

namespace accsim::sim {
namespace {

namespace fs = std::filesystem;

class WriteFile : public ::testing::Test {
 protected:
  static std::string read(const fs::path& path) {
    std::ostringstream out;
    out << std::ifstream(path, std::ios::binary).rdbuf();
    return out.str();
  }
  size_t entries() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }

 private:
  const test::TempFolder temporary_;

 protected:
  const fs::path folder_ = temporary_.path();
};

TEST_F(WriteFile, IsTheTextThereAndNothingElse) {
  const fs::path path = folder_ / "report.json";
  const std::string text("a\0b\n", 4);
  EXPECT_TRUE(write_file_atomically(path, text).ok());
  EXPECT_EQ(read(path), text);
  EXPECT_EQ(entries(), 1u);
}

TEST_F(WriteFile, IsAnOldFileReplacedAndItsModeKept) {
  const fs::path path = folder_ / "report.json";
  std::ofstream(path) << "something much longer than the new content";
  fs::permissions(path, fs::perms::owner_read | fs::perms::owner_write);
  EXPECT_TRUE(write_file_atomically(path, "new").ok());
  EXPECT_EQ(read(path), "new");
  EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

TEST_F(WriteFile, SeesNoPartOfWhatIsWrittenInPieces) {
  const fs::path path = folder_ / "trace.json";
  std::ofstream(path) << "old";
  {
    auto file = FileWriter::create(path);
    ASSERT_TRUE(file.ok());
    EXPECT_TRUE(file->write("dropped").ok());
    EXPECT_EQ(read(path), "old");
  }
  EXPECT_EQ(read(path), "old");
  EXPECT_EQ(entries(), 1u);
  auto file = FileWriter::create(path);
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE(file->write("one ").ok());
  FileWriter moved = std::move(*file);
  EXPECT_TRUE(moved.write("two").ok());
  EXPECT_TRUE(moved.commit().ok());
  EXPECT_EQ(read(path), "one two");
  EXPECT_FALSE(moved.write("more").ok());
  EXPECT_EQ(entries(), 1u);
}

TEST_F(WriteFile, IsASymbolicLinkFollowed) {
  std::ofstream(folder_ / "real") << "old";
  fs::create_symlink(folder_ / "real", folder_ / "link");
  EXPECT_TRUE(write_file_atomically(folder_ / "link", "new").ok());
  EXPECT_TRUE(fs::is_symlink(folder_ / "link"));
  EXPECT_EQ(read(folder_ / "real"), "new");
}

TEST_F(WriteFile, IsALinkToNothingFollowedToo) {
  fs::create_directory(folder_ / "there");
  fs::create_symlink("there/target", folder_ / "relative");
  fs::create_symlink(folder_ / "relative", folder_ / "chain");
  EXPECT_TRUE(write_file_atomically(folder_ / "chain", "new").ok());
  EXPECT_TRUE(fs::is_symlink(folder_ / "chain") && fs::is_symlink(folder_ / "relative"));
  EXPECT_EQ(read(folder_ / "there" / "target"), "new");
  fs::create_symlink("gone/target", folder_ / "lost");
  const Status lost = write_file_atomically(folder_ / "lost", "new");
  ASSERT_FALSE(lost.ok()) << "the folder that it leads to isn't there";
  EXPECT_NE(lost.errors().front().message.find("gone"), std::string::npos);
  fs::create_symlink("ring", folder_ / "ring");
  EXPECT_FALSE(write_file_atomically(folder_ / "ring", "new").ok());
  EXPECT_TRUE(fs::is_symlink(folder_ / "ring"));
}

TEST_F(WriteFile, IsAMissingFolderAnErrorThatNamesIt) {
  const fs::path path = folder_ / "missing" / "report.json";
  const Status status = write_file_atomically(path, "x");
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.errors()[0].code, Errc::io);
  EXPECT_EQ(status.errors()[0].where, path.string());
  EXPECT_NE(status.errors()[0].message.find("No such file or directory"), std::string::npos);
  EXPECT_NE(status.errors()[0].message.find("missing/"), std::string::npos);
}

TEST_F(WriteFile, IsAFolderAsTargetAnError) {
  const Status status = write_file_atomically(folder_, "x");
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.errors()[0].message.find("is a folder"), std::string::npos);
  EXPECT_FALSE(write_file_atomically("", "x").ok());
}

TEST_F(WriteFile, IsAFileInTheWayOfAFolderAnError) {
  std::ofstream(folder_ / "file") << "x";
  EXPECT_FALSE(write_file_atomically(folder_ / "file" / "report.json", "x").ok());
}

TEST_F(WriteFile, IsNothingLeftBehindWhenTheNameIsTooLong) {
  EXPECT_FALSE(write_file_atomically(folder_ / std::string(300, 'n'), "x").ok());
  EXPECT_EQ(entries(), 0u);
}

TEST_F(WriteFile, IsAFolderWithoutPermissionAnError) {
  if (::geteuid() == 0) GTEST_SKIP() << "the superuser may write anywhere";
  fs::permissions(folder_, fs::perms::owner_read | fs::perms::owner_exec);
  const Status status = write_file_atomically(folder_ / "report.json", "x");
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.errors()[0].message.find("Permission denied"), std::string::npos);
}

TEST_F(WriteFile, IsAFullDiskAnErrorAndADeviceNotReplaced) {
  struct stat info {};
  if (::stat("/dev/full", &info) != 0) GTEST_SKIP() << "there is no /dev/full";
  const Status status = write_file_atomically("/dev/full", "x");
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.errors()[0].message.find("No space left"), std::string::npos);
  ASSERT_EQ(::stat("/dev/full", &info), 0);
  EXPECT_TRUE(S_ISCHR(info.st_mode));
}

}  // namespace
}  // namespace accsim::sim
