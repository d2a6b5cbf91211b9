#include "sim/onnx/external_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/support/temp_path.h"

namespace accsim::sim::onnx {
namespace {

namespace fs = std::filesystem;

/// A folder with a model, and another one beside it with what is none of its business.
class ExternalFile : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(model_.parent_path() / "weights");
    fs::create_directories(other_);
    write(model_, "model");
    write(other_ / "secret", "secret");
  }

  static void write(const fs::path& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
  }
  /// What the model gets to see of `size` bytes of a file; "" when it is nothing.
  std::string read(const std::string& name, int64_t offset, size_t size) const {
    return read(model_, name, offset, size);
  }
  static std::string read(const fs::path& model, const std::string& name, int64_t offset,
                          size_t size) {
    const auto bytes = read_external(model.string(), name, offset, size);
    return bytes ? std::string(bytes->begin(), bytes->end()) : "";
  }
  fs::path beside(const std::string& name) const { return model_.parent_path() / name; }

 private:
  const test::TempFolder temporary_;

 protected:
  const fs::path model_ = fs::path(temporary_.path()) / "model" / "net.onnx";
  const fs::path other_ = fs::path(temporary_.path()) / "other";
};

TEST_F(ExternalFile, IsReadBesideTheModelAndBelow) {
  write(beside("w.bin"), "0123456789");
  write(beside("weights/w.bin"), "abc");
  EXPECT_EQ(read("w.bin", 0, 10), "0123456789");
  EXPECT_EQ(read("w.bin", 7, 3), "789");
  EXPECT_EQ(read("weights/w.bin", 1, 2), "bc");
  EXPECT_EQ(read("./w.bin", 0, 1), "0");
}

TEST_F(ExternalFile, IsRefusedForAReason) {
  write(beside("w.bin"), "0123456789");
  const auto why = [&](const std::string& name) { return external_refusal(model_.string(), name); };
  EXPECT_EQ(why("w.bin"), "");
  EXPECT_EQ(why("gone.bin"), "");
  EXPECT_EQ(why("weights/../w.bin"), "its path has '..' in it");
  EXPECT_EQ(why((other_ / "secret").string()), "its path is absolute");
  EXPECT_EQ(why(""), "its name is missing");
  fs::create_symlink(other_ / "secret", beside("link.bin"));
  EXPECT_EQ(why("link.bin"), "a link leads out of the model's folder");
}

TEST_F(ExternalFile, HasNothingBehindItsEnd) {
  write(beside("w.bin"), "0123456789");
  EXPECT_EQ(read("w.bin", 8, 3), "");
  EXPECT_EQ(read("w.bin", 11, 1), "");
  EXPECT_EQ(read("w.bin", -1, 1), "");
  EXPECT_EQ(read("w.bin", INT64_MAX, 1), "");
  EXPECT_EQ(read("w.bin", 0, SIZE_MAX / 2), "") << "nothing is allocated for it";
  EXPECT_EQ(read("gone.bin", 0, 1), "");
}

TEST_F(ExternalFile, IsOfTheModelsFolderWhateverLinksSay) {
  EXPECT_EQ(read("../other/secret", 0, 6), "");
  EXPECT_EQ(read((other_ / "secret").string(), 0, 6), "");
  fs::create_symlink(other_ / "secret", beside("link.bin"));
  fs::create_symlink("../other/secret", beside("relative.bin"));
  fs::create_directory_symlink(other_, beside("folder"));
  fs::create_symlink("link.bin", beside("chain.bin"));
  for (const char* name : {"link.bin", "relative.bin", "folder/secret", "chain.bin"})
    EXPECT_EQ(read(name, 0, 6), "") << name;
  write(beside("w.bin"), "weights");
  fs::create_symlink("w.bin", beside("inside.bin"));
  EXPECT_EQ(read("inside.bin", 0, 7), "weights") << "a link that stays is as good as the file";
}

TEST_F(ExternalFile, LiesBesideTheFileThatTheModelIsALinkTo) {
  // As a download cache has it: all files are links to one folder.
  write(other_ / "blob1", "model");
  write(other_ / "blob2", "weights");
  fs::create_directories(beside("snapshot"));
  const fs::path model = beside("snapshot") / "net.onnx";
  fs::create_symlink(other_ / "blob1", model);
  fs::create_symlink(other_ / "blob2", beside("snapshot/w.bin"));
  EXPECT_EQ(read(model, "w.bin", 0, 7), "weights");
  fs::create_symlink(beside("net.onnx"), beside("snapshot/up.bin"));
  EXPECT_EQ(read(model, "up.bin", 0, 5), "");
}

TEST_F(ExternalFile, IsNoPipeDeviceOrFolder) {
  ASSERT_EQ(::mkfifo(beside("pipe.bin").c_str(), 0600), 0);
  fs::create_symlink("/dev/zero", beside("zero.bin"));
  EXPECT_EQ(read("pipe.bin", 0, 1), "") << "and nobody waits for a writer";
  EXPECT_EQ(read("zero.bin", 0, 1), "");
  EXPECT_EQ(read("weights", 0, 1), "");
  EXPECT_EQ(read("", 0, 1), "");
}

TEST_F(ExternalFile, OfAModelInTheCurrentFolderToo) {
  write(beside("w.bin"), "weights");
  const fs::path before = fs::current_path();
  fs::current_path(model_.parent_path());
  EXPECT_EQ(read("net.onnx", "w.bin", 0, 7), "weights");
  fs::current_path(before);
}

}  // namespace
}  // namespace accsim::sim::onnx
