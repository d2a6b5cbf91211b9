#include "hw/program/cut_program.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/hw/program/refused.h"
#include "tests/support/programs.h"

namespace accsim::hw {
namespace {

using test::error;
using test::says;
using test::sync;

constexpr int kRead = 0, kWritten = 1, kHeld = 3, kHeldToo = 4;
constexpr int64_t kTiles = 3;

/// Copies from tensor to tensor, `kTiles` times.
Item copies(Program& p, int from, int to) {
  return {Loop{
      p.loops++,
      "tile",
      kTiles,
      {sync(SyncKind::wait_free, Queue::load, Buffer::output), test::load(Buffer::output, 64, from),
       sync(SyncKind::signal_full, Queue::load, Buffer::output),
       sync(SyncKind::wait_full, Queue::store, Buffer::output), test::store(64, to),
       sync(SyncKind::signal_free, Queue::store, Buffer::output)}}};
}

/// Three layers of copies by way of two tensors with addresses; the second layer sets the mark of
/// what the first has stored, too.
Program layers() {
  Program p = test::program({});
  p.tensors[2].bytes = 0;
  p.tensors.push_back({"first", MemoryId::shared, 500, 0, 0});
  p.tensors.push_back({"second", MemoryId::shared, 300, 0, 500});
  const auto mark = [&](bool waits, Queue queue, int tensor) {
    p.body.push_back({Mark{waits, queue, tensor}});
  };
  p.body.push_back({LayerHead{"a"}});
  p.body.push_back(copies(p, kRead, kHeld));
  p.body.push_back({LayerHead{"b"}});
  mark(false, Queue::store, kHeld);
  mark(true, Queue::load, kHeld);
  p.body.push_back(copies(p, kHeld, kHeldToo));
  mark(false, Queue::store, kHeldToo);
  p.body.push_back({LayerHead{"c"}});
  mark(true, Queue::load, kHeldToo);
  p.body.push_back(copies(p, kHeldToo, kWritten));
  return p;
}

size_t head(const Program& p, const std::string& layer) {
  const auto found = std::ranges::find_if(p.body, [&](const Item& item) {
    const auto* head = std::get_if<LayerHead>(&item.node);
    return head && head->name == layer;
  });
  return static_cast<size_t>(found - p.body.begin());
}

bool given(const Program& p, int tensor) { return p.tensors[static_cast<size_t>(tensor)].given; }

TEST(CutProgram, BeginsWithWhatWasStoredBefore) {
  const Program p = layers();
  ASSERT_EQ(error(p), "");
  Program rest = cut_program(p, head(p, "b"), p.body.size());
  EXPECT_EQ(error(rest), "");
  EXPECT_TRUE(given(rest, kHeld));
  EXPECT_FALSE(given(rest, kHeldToo)) << "it is written behind the cut";
  EXPECT_FALSE(given(rest, kRead)) << "it has no address";
  EXPECT_NE(program_text(rest).find("'first', at 0, given"), std::string::npos);
  rest.tensors[kHeld].given = false;
  EXPECT_TRUE(says(error(rest), "'first', which has an address, is read before it is written"));

  const Program last = cut_program(p, head(p, "c"), p.body.size());
  EXPECT_EQ(error(last), "");
  EXPECT_FALSE(given(last, kHeld)) << "it isn't used any more";
  EXPECT_TRUE(given(last, kHeldToo));
}

TEST(CutProgram, HasMarksOfItsOwnCommandsOnly) {
  const Program p = layers();
  const Program rest = cut_program(p, head(p, "b"), p.body.size());
  const size_t items = p.body.size() - head(p, "b");
  EXPECT_EQ(rest.body.size(), items - 1);
  for (const Item& item : rest.body) {
    const auto* mark = std::get_if<Mark>(&item.node);
    EXPECT_TRUE(!mark || mark->waits || mark->tensor == kHeldToo);
  }
}

TEST(CutProgram, IsTheWholeOneFromEndToEnd) {
  const Program p = layers();
  EXPECT_EQ(program_text(cut_program(p, 0, p.body.size())), program_text(p));
  EXPECT_EQ(error(cut_program(p, 0, 0)), "");
}

TEST(CutProgram, HasItsShareOfTheCommands) {
  const Program p = layers();
  const HwConfig hw = test::shared_machine();
  const size_t b = head(p, "b"), c = head(p, "c"), end = p.body.size();
  EXPECT_EQ(commands_of(p, 0, b), 2 * kTiles);
  EXPECT_EQ(commands_of(p, b, end), 4 * kTiles);
  EXPECT_EQ(commands_of(p, b, c), count_program(cut_program(p, b, c), hw).commands);
}

TEST(Verifier, RefusesGivenTensorsThatCannotBe) {
  Program p = cut_program(layers(), 0, 0);
  p.tensors[kRead].given = true;
  EXPECT_TRUE(says(error(p), "tensor 'in' is given and has no address"));
  p.tensors[kRead].given = false;
  p.tensors[kHeld].given = p.tensors[kHeldToo].given = true;
  EXPECT_EQ(error(p), "");
  p.tensors[kHeldToo].address = 499;
  EXPECT_TRUE(says(error(p), "'first' and 'second' are given and have bytes in common"));
}

}  // namespace
}  // namespace accsim::hw
