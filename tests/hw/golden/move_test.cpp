#include <gtest/gtest.h>

#include "tests/hw/golden/draws.h"
#include "tests/hw/golden/tiny_program.h"
#include "tests/support/index.h"

namespace accsim::hw {
namespace {

using test::as_index;
using test::TinyProgram;

enum MovedTensor { kMovedRows, kMovedList, kMovedOut };

/// A load into an output slot, and a store of what it brought; a gathered one with its list in
/// front, in a parameter slot of `list` bytes.
Program move_program(const LoadCommand& load, int64_t tensor_bytes, int64_t list, int64_t out) {
  Program p;
  p.name = "moved";
  p.tensors = {{"rows", MemoryId::dram, tensor_bytes},
               {"list", MemoryId::shared, std::max<int64_t>(1, list)},
               {"out", MemoryId::dram, out}};
  const auto add = [&](SyncKind kind, Queue q, Buffer b) {
    p.body.push_back(TinyProgram::sync(kind, q, b));
  };
  if (list > 0) {
    for (Item& i :
         TinyProgram::filled({Buffer::parameter, kMovedList, 0, 0, {{}, list}, std::nullopt}))
      p.body.push_back(std::move(i));
    add(SyncKind::wait_full, Queue::load, Buffer::parameter);
  }
  for (Item& i : TinyProgram::filled(load)) p.body.push_back(std::move(i));
  if (list > 0) add(SyncKind::signal_free, Queue::load, Buffer::parameter);
  add(SyncKind::wait_full, Queue::store, Buffer::output);
  p.body.push_back({Command{StoreCommand{kMovedOut, 0, load.slot_offset, {{}, out}}}});
  add(SyncKind::signal_free, Queue::store, Buffer::output);
  return p;
}

MemoryImage image_of(const Program& p, test::Draws& draws) {
  MemoryImage image;
  for (const ProgramTensor& t : p.tensors) {
    image.emplace_back(as_index(t.bytes));
    for (uint8_t& b : image.back()) b = static_cast<uint8_t>(draws.pick(0, 255));
  }
  return image;
}

std::vector<uint8_t> left_by(const Program& p, MemoryImage image) {
  const HwConfig hw = test::small_machine();
  if (const Status s = verify(p, hw); !s) ADD_FAILURE() << s.errors().front().text();
  if (const Status s = run_golden(p, hw, image); !s) ADD_FAILURE() << s.errors().front().text();
  return image[kMovedOut];
}

LoadCommand gathered(int64_t items, int64_t run, int64_t pitch, int64_t limit) {
  LoadCommand c{Buffer::output, kMovedRows, 0, 0, {{{items, 0}}, run}, std::nullopt};
  c.gather = Gather{0, pitch, limit};
  return c;
}

TEST(Move, DoesAGatheredLoadReadTheRowsThatItsListNames) {
  // Rows 10, 20, ... of two bytes; index 0x1_0000 lies beyond them and its low half isn't read.
  const Program p = move_program(gathered(5, 2, 2, 4), 8, 20, 10);
  MemoryImage image(3);
  image[kMovedRows] = {10, 11, 20, 21, 30, 31, 40, 41};
  image[kMovedList] = {2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2, 0, 0, 0, 0xff, 0xff, 0xff, 0xff};
  image[kMovedOut].resize(10);
  EXPECT_EQ(left_by(p, image), (std::vector<uint8_t>{30, 31, 10, 11, 40, 41, 30, 31, 40, 41}));
}

/// Section "Gathered loads" of rtl/README.md, byte by byte: of the slot's byte, the item, the place
/// in each level within it and in the run.
std::vector<uint8_t> defined(const LoadCommand& c, const MemoryImage& image) {
  std::vector<uint8_t> out(as_index(c.walk.bytes()));
  for (int64_t n = 0; n < c.walk.bytes(); ++n) {
    int64_t left = n, address = c.source.base;
    address += left % c.walk.run;
    left /= c.walk.run;
    for (size_t l = c.walk.levels.size(); l-- > 1; left /= c.walk.levels[l].count)
      address += left % c.walk.levels[l].count * c.walk.levels[l].stride;
    const size_t at = as_index(c.gather->index_offset.base + 4 * left);
    const std::vector<uint8_t>& list = image[kMovedList];
    const int64_t index =
        list[at] + 256 * list[at + 1] + 65536 * list[at + 2] + int64_t{16777216} * list[at + 3];
    const int64_t last = c.gather->limit - 1;
    address += (index > last ? last : index) * c.gather->pitch;
    out[as_index(n)] = image[kMovedRows][as_index(address)];
  }
  return out;
}

TEST(Move, IsARandomGatheredLoadWhatTheContractSays) {
  test::Draws draws(5);
  for (int round = 0; round < 300; ++round) {
    LoadCommand c = gathered(draws.pick(1, 9), draws.pick(1, 20), draws.pick(0, 60), 1);
    for (int64_t levels = draws.pick(0, 2); levels > 0; --levels)
      c.walk.levels.push_back({draws.pick(1, 4), draws.pick(-20, 40)});
    if (c.walk.bytes() > 1500) continue;
    int64_t low = 0, high = c.walk.run;
    for (const Walk::Level& l : c.walk.levels)
      (l.stride < 0 ? low : high) += (l.count - 1) * l.stride;
    c.gather->limit = draws.pick(1, 12);
    c.source = Affine(-low + draws.pick(0, 5));
    c.gather->index_offset = Affine(draws.pick(0, 7));
    const int64_t list = c.gather->index_offset.base + 4 * c.walk.levels[0].count;
    const Program p = move_program(
        c, c.source.base + (c.gather->limit - 1) * c.gather->pitch + high, list, c.walk.bytes());
    MemoryImage image = image_of(p, draws);
    for (size_t at = as_index(c.gather->index_offset.base); at < image[kMovedList].size(); at += 4)
      if (!draws.one_in(4)) {  // small ones
        image[kMovedList][at] = static_cast<uint8_t>(draws.pick(0, 13));
        image[kMovedList][at + 1] = image[kMovedList][at + 2] = image[kMovedList][at + 3] = 0;
      }
    EXPECT_EQ(left_by(p, image), defined(c, image)) << program_text(p);
  }
}

TEST(Move, GoesAGatheredLoadIntoAnotherParameterSlotThanItReads) {
  LoadCommand c = gathered(3, 4, 4, 6);
  c.buffer = Buffer::parameter;
  Program p = move_program(c, 24, 12, 12);
  // The vector unit copies what the second slot holds: 0 x activation + parameter.
  p.body.resize(p.body.size() - 3);
  for (Item& i :
       TinyProgram::filled({Buffer::activation, kMovedRows, 0, 0, {{}, 12}, std::nullopt}))
    p.body.push_back(std::move(i));
  LaneCommand lane;
  lane.op = LaneOp::add;
  lane.run = 12;
  lane.a.multiplier = 0;
  lane.b.emplace();
  lane.b->buffer = Buffer::parameter;
  const auto add = [&](SyncKind kind, Queue q, Buffer b) {
    p.body.push_back(TinyProgram::sync(kind, q, b));
  };
  for (const Buffer b : {Buffer::activation, Buffer::parameter})
    add(SyncKind::wait_full, Queue::vector, b);
  add(SyncKind::wait_free, Queue::vector, Buffer::output);
  p.body.push_back({Command{lane}});
  for (const Buffer b : {Buffer::activation, Buffer::parameter})
    add(SyncKind::signal_free, Queue::vector, b);
  add(SyncKind::signal_full, Queue::vector, Buffer::output);
  add(SyncKind::wait_full, Queue::store, Buffer::output);
  p.body.push_back({Command{StoreCommand{kMovedOut, 0, 0, {{}, 12}}}});
  add(SyncKind::signal_free, Queue::store, Buffer::output);
  test::Draws draws(6);
  MemoryImage image = image_of(p, draws);
  image[kMovedList] = {5, 0, 0, 0, 9, 9, 9, 9, 1, 0, 0, 0};
  std::vector<uint8_t> want;
  for (const size_t row : {5, 5, 1})
    for (size_t i = 0; i < 4; ++i) want.push_back(image[kMovedRows][4 * row + i]);
  EXPECT_EQ(left_by(p, image), want);
}

TEST(Move, TurnsATransposedLoadIntoAnOutputSlotAMatrixInMemory) {
  test::Draws draws(7);
  for (int round = 0; round < 100; ++round) {
    const int64_t matrices = draws.pick(1, 3), rows = draws.pick(1, 24), cols = draws.pick(1, 24);
    const int64_t element = draws.pick(1, 4), pitch = cols * element + draws.pick(0, 9);
    LoadCommand c{Buffer::output,
                  kMovedRows,
                  3,
                  draws.pick(0, 40),
                  {{{matrices, rows * pitch}, {rows, pitch}}, cols * element},
                  std::nullopt};
    c.transposed = element;
    if (c.walk.bytes() > 1500) continue;
    const Program p = move_program(c, 3 + matrices * rows * pitch, 0, c.walk.bytes());
    const MemoryImage image = image_of(p, draws);
    std::vector<uint8_t> want;
    for (int64_t m = 0; m < matrices; ++m)
      for (int64_t col = 0; col < cols; ++col)
        for (int64_t row = 0; row < rows; ++row)
          for (int64_t b = 0; b < element; ++b)
            want.push_back(
                image[kMovedRows][as_index(3 + (m * rows + row) * pitch + col * element + b)]);
    EXPECT_EQ(left_by(p, image), want);
  }
}

TEST(Move, AreIndicesOutsideTheSlotOrTheTensorErrors) {
  const HwConfig hw = test::small_machine();
  test::Draws draws(8);
  Program p = move_program(gathered(5, 2, 2, 4), 8, 20, 10);
  MemoryImage image = image_of(p, draws);
  auto& load = std::get<LoadCommand>(std::get<Command>(p.body[5].node));
  load.gather->index_offset = Affine(hw.buffer(Buffer::parameter).slot_bytes() - 19);
  EXPECT_FALSE(run_golden(p, hw, image).ok());
  load.gather->index_offset = Affine(0);
  EXPECT_TRUE(run_golden(p, hw, image).ok());
  load.gather->limit = 5;
  image[kMovedList] = {4, 0, 0, 0};
  image[kMovedList].resize(20);
  EXPECT_FALSE(run_golden(p, hw, image).ok());
}

}  // namespace
}  // namespace accsim::hw
