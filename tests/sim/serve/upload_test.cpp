#include "sim/serve/upload.h"

#include <gtest/gtest.h>

namespace accsim::sim {
namespace {

TEST(UploadName, IsAPlainLastPart) {
  EXPECT_EQ(upload_name("a%20b.onnx"), "a b.onnx");
  EXPECT_EQ(upload_name("..%2F..%2Fetc%2Fpasswd"), "passwd");
  EXPECT_EQ(upload_name("C:\\x\\y.onnx"), "y.onnx");
  EXPECT_EQ(upload_name(""), "upload.onnx");
  EXPECT_EQ(upload_name(".."), "upload.onnx");
  EXPECT_EQ(upload_name("a%00%0a%zz%"), "a??%zz%");
  EXPECT_EQ(upload_name(std::string(300, 'x')).size(), 80u);
}

}  // namespace
}  // namespace accsim::sim
