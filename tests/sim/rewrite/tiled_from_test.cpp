#include "sim/rewrite/tiled_from.h"

#include <gtest/gtest.h>

namespace accsim::sim {
namespace {

TiledFrom some_conv() {
  TiledFrom t;
  t.layer = "a name, with = and % and \xC3\xA4\n";
  t.op_type = "Conv";
  t.prefix = "a name/tile";
  t.op.batch = 2;
  t.op.images = 3;
  t.op.channels = 5;
  t.op.outputs = 7;
  t.op.in = {1, 20, 30};
  t.op.out = {1, 10, 14};
  t.op.kernel = {1, 3, 5};
  t.op.stride = {1, 2, 2};
  t.op.dilation = {1, 1, 1};
  t.op.pad = {0, 1, 0};
  t.op.grouped = true;
  t.tile = {8, 16, 32};
  t.padded = true;
  t.products = 123;
  t.inputs = {"x", "w,1", ""};
  t.output = "y z";
  return t;
}

std::string with(std::string line, const std::string& field, const std::string& value) {
  const size_t at = line.find(" " + field + "=") + 1, end = line.find(' ', at);
  return line.replace(at, end - at, value.empty() ? "" : field + "=" + value);
}

TEST(TiledFrom, IsReadAsItWasWritten) {
  const TiledFrom t = some_conv();
  const std::string line = to_line(t);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const auto read = parse_tiled_from(line + "\n" + line, "m.onnx");
  ASSERT_TRUE(read);
  ASSERT_EQ(read->size(), 2u);
  const TiledFrom& r = read->at(1);
  EXPECT_EQ(r.layer, t.layer);
  EXPECT_EQ(r.prefix, t.prefix);
  EXPECT_EQ(r.inputs, t.inputs);
  EXPECT_EQ(r.output, t.output);
  EXPECT_EQ(r.op_type, t.op_type);
  EXPECT_EQ(r.op.macs(), 2 * (3 * 10 * 14) * (5 * 3 * 5) * 7);
  EXPECT_EQ(r.op.in, t.op.in);
  EXPECT_EQ(r.op.stride, t.op.stride);
  EXPECT_EQ(r.op.pad, t.op.pad);
  EXPECT_TRUE(r.op.grouped);
  EXPECT_TRUE(r.padded);
  EXPECT_EQ(r.tile.k, 16);
  EXPECT_EQ(r.products, 123);
}

TEST(TiledFrom, IsPaddingBeyondTheKernelRead) {
  const std::string line = to_line(some_conv());
  // ONNX allows windows that lie in the padding alone, in front and behind.
  const std::pair<const char*, const char*> good[] = {
      {"pad", "0x9x40"}, {"kernel", "1x99x5"}, {"out", "1x30x14"}, {"dilation", "1x50x1"}};
  for (const auto& [field, value] : good)
    EXPECT_TRUE(parse_tiled_from(with(line, field, value), "m.onnx")) << field << "=" << value;
}

TEST(TiledFrom, RefusesLinesThatCantBe) {
  const std::string line = to_line(some_conv());
  ASSERT_TRUE(parse_tiled_from(line, "m.onnx"));
  const std::pair<const char*, const char*> bad[] = {{"layer", ""},
                                                     {"batch", "0"},
                                                     {"batch", "x"},
                                                     {"channels", "-5"},
                                                     {"tile", "8x16"},
                                                     {"tile", "8x0x16"},
                                                     {"out", "1x10"},
                                                     {"stride", "1x1099511627776x2"},
                                                     {"dilation", "1x1099511627776x1"},
                                                     {"pad", "0x4294967296x0"},
                                                     {"pad", "0x-1x0"},
                                                     {"outputs", "1099511627777"},
                                                     {"images", "99999999999999999999"},
                                                     {"in", "1099511627776x1099511627776x2"},
                                                     {"inputs", ""}};
  for (const auto& [field, value] : bad) {
    const auto read = parse_tiled_from("\n" + with(line, field, value), "m.onnx");
    ASSERT_FALSE(read) << field << "=" << value;
    EXPECT_NE(read.errors()[0].text().find("m.onnx: metadata property 'accsim.tiled_from': line 2"),
              std::string::npos);
  }
}

TEST(TiledFrom, AnyBytesAreAnErrorAndNotACrash) {
  const std::string line = to_line(some_conv());
  for (size_t i = 0; i < line.size(); ++i) {
    for (const char c : {'\0', '9', 'x', '=', ' ', '%', '\xFF', '-'}) {
      std::string changed = line;
      changed[i] = c;
      const auto read = parse_tiled_from(changed, "m.onnx");
      if (read && !read->empty()) {
        EXPECT_GT(read->front().op.macs(), 0);
      }
    }
    (void)parse_tiled_from(line.substr(0, i), "m.onnx");
  }
}

}  // namespace
}  // namespace accsim::sim
