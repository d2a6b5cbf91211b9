#include <gtest/gtest.h>

#include "tests/hw/golden/lane_program.h"

namespace accsim::hw {
namespace {

using test::all_bytes;
using test::LaneProgram;
using test::outputs;

size_t index(int64_t i) { return static_cast<size_t>(i); }

// ---- tables -------------------------------------------------------------------------------------

TEST(LaneTables, DoCommandsUseTheTableThatWasSetLast) {
  LaneProgram lanes;
  lanes.a = all_bytes();
  for (int v = 0; v < 256; ++v) lanes.p.push_back(127 - v);                    // -1 - v
  for (int v = 0; v < 256; ++v) lanes.p.push_back((v * 37 + 11) % 256 - 128);  // another order
  LaneCommand c;
  c.run = 256;
  c.epilogue.table = true;
  lanes.commands = {{SetTableCommand{Queue::vector, Affine(0)}},
                    {c},
                    {SetTableCommand{Queue::post, Affine(0)}},
                    {SetTableCommand{Queue::vector, Affine(256)}}};
  c.slot_offset = Affine(256);
  lanes.commands.push_back({c});
  c.epilogue.table = false;
  c.slot_offset = Affine(512);
  lanes.commands.push_back({c});
  const std::vector<int> y = outputs(lanes, 768);
  for (int v = -128; v < 128; ++v) {
    ASSERT_EQ(y[index(v + 128)], -1 - v);
    ASSERT_EQ(y[index(v + 384)], ((v + 128) * 37 + 11) % 256 - 128);
    ASSERT_EQ(y[index(v + 640)], v);
  }
}

TEST(LaneTables, IsATableThatWasNeverSetGarbage) {
  LaneProgram lanes;
  lanes.a = all_bytes();
  lanes.p = all_bytes();  // the other unit's table: the bytes themselves
  LaneCommand c;
  c.run = 256;
  c.epilogue.table = true;
  for (const bool other : {false, true}) {
    lanes.commands.clear();
    if (other) lanes.commands.push_back({SetTableCommand{Queue::post, Affine(0)}});
    lanes.commands.push_back({c});
    const std::vector<int> y = outputs(lanes, 256);
    EXPECT_NE(y, all_bytes());
    EXPECT_NE(y, std::vector<int>(256, 0));
    EXPECT_NE(y, std::vector<int>(256, y[0]));
  }
}

// ---- slots and errors ---------------------------------------------------------------------------

TEST(BadLanes, IsAnOperandThatIsNotHeldGarbage) {
  LaneProgram lanes;
  lanes.a = lanes.p = all_bytes();
  LaneCommand c;
  c.op = LaneOp::max;
  c.run = 256;
  c.b.emplace();
  c.b->buffer = Buffer::parameter;
  lanes.commands = {Command{c}};
  ASSERT_EQ(outputs(lanes, 256), all_bytes());
  for (const Buffer b : {Buffer::activation, Buffer::parameter}) {
    Program p = lanes.program();
    std::erase_if(p.body, [&](const Item& i) {
      const auto* s = std::get_if<Sync>(&i.node);
      return s && s->buffer == b && s->queue == Queue::vector;
    });
    MemoryImage image = lanes.image();
    ASSERT_TRUE(run_golden(p, LaneProgram::machine(), image).ok());
    image[2].resize(256);
    EXPECT_NE(test::signed_values(image[2]), all_bytes()) << name(b);
  }
}

TEST(BadLanes, IsWhatTheVerifierRefusesAnError) {
  const HwConfig hw = LaneProgram::machine();
  LaneCommand good;
  good.op = LaneOp::add;
  good.run = 8;
  good.b.emplace();
  using Bend = void (*)(LaneCommand&);
  const std::vector<Bend> bends = {
      [](LaneCommand&) {},  // fits
      [](LaneCommand& c) { c.run = 0; },
      [](LaneCommand& c) { c.rows[2] = 0; },
      [](LaneCommand& c) { c.taps[1] = -1; },
      [](LaneCommand& c) { c.shift = -1; },
      [](LaneCommand& c) { c.shift = 63; },
      [](LaneCommand& c) { c.epilogue.low = -129; },
      [](LaneCommand& c) { c.epilogue.high = 128; },
      [](LaneCommand& c) { c.epilogue.low = 1, c.epilogue.high = 0; },
      [](LaneCommand& c) { c.epilogue.relu = true; },
      [](LaneCommand& c) { c.epilogue.residual.emplace(); },
      [](LaneCommand& c) { c.b.reset(); },
      [](LaneCommand& c) { c.op = LaneOp::copy; },
      [](LaneCommand& c) { c.a.buffer = Buffer::parameter; },
      [](LaneCommand& c) { c.a.splat = true; },
      [](LaneCommand& c) { c.b->buffer = Buffer::weight; },
      [](LaneCommand& c) { c.across = true; },
      [](LaneCommand& c) { c.a.offset = Affine(4096 - 7); },
      [](LaneCommand& c) { c.a.offset = Affine(-1); },
      [](LaneCommand& c) { c.rows[3] = 2, c.a.row_stride[3] = -1; },
      [](LaneCommand& c) { c.rows[0] = 2, c.a.row_stride[0] = 4096 - 7; },
      [](LaneCommand& c) { c.taps[0] = 2, c.tap_stride[0] = 4096 - 7; },
      [](LaneCommand& c) { c.taps[1] = 2, c.tap_stride[1] = -1; },
      [](LaneCommand& c) { c.b->offset = Affine(4096 - 7); },
      [](LaneCommand& c) { c.b->splat = true, c.b->offset = Affine(4096); },
      [](LaneCommand& c) { c.rows[1] = 2, c.b->row_stride[1] = -1; },
      [](LaneCommand& c) { c.slot_offset = Affine(2048 - 7); },
      [](LaneCommand& c) { c.rows[1] = 2, c.out_stride[1] = -1; },
      [](LaneCommand& c) { c.slot_offset.add_term(0, 1); },
  };
  for (size_t i = 0; i < bends.size(); ++i) {
    LaneProgram lanes;
    lanes.a = all_bytes();
    LaneCommand c = good;
    bends[i](c);
    lanes.commands = {Command{c}};
    EXPECT_EQ(verify(lanes.program(), hw).ok(), i == 0) << i;
    MemoryImage image = lanes.image();
    const Status s = run_golden(lanes.program(), hw, image);
    ASSERT_EQ(s.ok(), i == 0) << i;
    if (i > 0) {
      EXPECT_EQ(s.errors().front().code, Errc::invalid) << i;
    }
  }
}

TEST(BadLanes, IsATableOutsideItsSlotAnError) {
  const HwConfig hw = LaneProgram::machine();
  for (const int64_t offset : {-1, 1024 - 255}) {
    LaneProgram lanes;
    lanes.p = all_bytes();
    lanes.commands = {{SetTableCommand{Queue::vector, Affine(offset)}}};
    EXPECT_FALSE(verify(lanes.program(), hw).ok());
    MemoryImage image = lanes.image();
    const Status s = run_golden(lanes.program(), hw, image);
    ASSERT_FALSE(s.ok());
    EXPECT_EQ(s.errors().front().code, Errc::invalid);
  }
}

TEST(LaneHook, DoesItSeeRowsAndTables) {
  LaneProgram lanes;
  lanes.a = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  lanes.p = all_bytes();
  LaneCommand c;
  c.rows = {1, 3, 1, 2};
  c.run = 2;
  c.a.row_stride = {0, 4, 0, 2};
  c.out_stride = {0, -5, 0, 2};  // the last rows first
  c.slot_offset = Affine(30);
  lanes.commands = {{SetTableCommand{Queue::vector, Affine(0)}}, {c}};
  MemoryImage image = lanes.image();
  std::vector<RetiredCommand> seen;
  ASSERT_TRUE(
      run_golden(lanes.program(), LaneProgram::machine(), image, [&](const RetiredCommand& r) {
        seen.push_back(r);
      }).ok());
  ASSERT_EQ(seen.size(), 5u);  // two loads, table, lanes, store
  EXPECT_EQ(test::signed_values(seen[2].bytes), all_bytes());
  EXPECT_EQ(test::signed_values(seen[3].bytes), lanes.a);
  EXPECT_EQ(seen[3].address, 30);
  EXPECT_EQ(test::signed_values({image[2].begin() + 20, image[2].begin() + 24}),
            (std::vector<int>{9, 10, 11, 12}));
}

}  // namespace
}  // namespace accsim::hw
