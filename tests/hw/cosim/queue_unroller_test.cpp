#include "hw/cosim/queue_unroller.h"

#include <gtest/gtest.h>

#include "hw/cosim/rtl_layout.h"

namespace accsim::hw {
namespace {

constexpr uint32_t kWait = 1, kSignal = 2;

LoadCommand load(Affine source) {
  LoadCommand c;
  c.source = std::move(source);
  c.walk = {{{2, 100}}, 8};
  return c;
}

Item sync(SyncKind kind, Queue queue, Buffer b) { return {Sync{kind, queue, b}}; }

/// for i < 2 { wait; load; for j < 3 { load }; signal; store }
Program nest() {
  Program p;
  p.name = "nest";
  p.loops = 2;
  p.tensors = {{"a", Memory::dram, 10000}};
  Loop inner{1, "j", 3, {}};
  Affine address(5);
  address.terms = {{0, 1000}, {1, 10}};
  inner.body.push_back({Command{load(address)}});
  Loop outer{0, "i", 2, {}};
  outer.body.push_back(sync(SyncKind::wait_free, Queue::load, Buffer::activation));
  outer.body.push_back({Command{load(Affine(7))}});
  outer.body.push_back({inner});
  outer.body.push_back(sync(SyncKind::signal_full, Queue::load, Buffer::activation));
  outer.body.push_back(sync(SyncKind::wait_full, Queue::execute, Buffer::activation));
  outer.body.push_back({Command{StoreCommand{0, 0, 0, {{}, 4}}}});
  p.body.push_back({outer});
  return p;
}

TEST(QueueUnroller, AreCommandsUnrolledInOrderWithTheirTokens) {
  const Program p = nest();
  QueueUnroller cursor(p, Queue::load);
  for (int64_t i = 0; i < 2; ++i)
    for (int64_t j = -1; j < 3; ++j) {
      const auto next = cursor.next();
      ASSERT_TRUE(next.ok());
      ASSERT_TRUE(next->has_value());
      const QueueUnroller::Entry& e = **next;
      EXPECT_EQ(e.ordinal, i * 4 + j + 1);
      EXPECT_EQ(e.indices, (std::vector<int64_t>{i, j}));
      EXPECT_EQ(e.descriptor.words[0] & 3, (j < 0 ? kWait : 0) | (j == 2 ? kSignal : 0));
      EXPECT_EQ(e.descriptor.words[1], j < 0 ? 7 : 5 + 1000 * i + 10 * j);
    }
  const auto end = cursor.next();
  ASSERT_TRUE(end.ok());
  EXPECT_FALSE(end->has_value());
}

TEST(QueueUnroller, DoesAPlaceNameTheLoops) {
  const Program p = nest();
  EXPECT_EQ(place(p, Queue::load, 6), "load command 6 at i=1 j=1");
  EXPECT_EQ(place(p, Queue::store, 1), "store command 1 at i=1");
}

TEST(QueueUnroller, IsASignalWithoutACommandAnError) {
  Program p = nest();
  p.body.insert(p.body.begin(), sync(SyncKind::signal_full, Queue::load, Buffer::weight));
  const auto next = QueueUnroller(p, Queue::load).next();
  ASSERT_FALSE(next.ok());
  EXPECT_EQ(next.errors()[0].code, Errc::invalid);
}

TEST(Descriptor, AreTheFlagsOfBuffersApart) {
  // Word 0 of the structs in rtl/accsim_pkg.sv.
  Descriptor gemm, post;
  gemm.wait(rtl::kGemm, Buffer::weight);
  gemm.signal(rtl::kGemm, Buffer::accumulator);
  EXPECT_EQ(gemm.words[0], 0b100010u);
  post.wait(rtl::kPost, Buffer::accumulator);
  post.signal(rtl::kPost, Buffer::output);
  EXPECT_EQ(post.words[0], 0b010001u);
}

TEST(Descriptor, AreSegmentsOfAWindowCutAtKernelLines) {
  // Kernel lines of 6 bytes, 10 elements from byte 8: 4 from line 1, 6 from line 2.
  GemmCommand c;
  c.m = 4, c.k = 10, c.n = 3;
  c.window.tile = {1, 5, 7};
  c.window.pixel = 2;
  c.window.count = {1, 2, 2};
  c.window.origin[2] = Affine(-1);
  c.window.line = 6;
  c.window.line_step = 2;
  c.window.offset = Affine(8);
  const Program p;
  const Result<Descriptor> d = describe(p, Command{c}, {});
  ASSERT_TRUE(d.ok());
  const auto at = [&](size_t i) { return static_cast<int32_t>(d->words[7 + i]); };
  EXPECT_EQ(at(1), -2 + 2);      // x: one pixel left of the tile, 2 bytes into line 1
  EXPECT_EQ(at(2), 2);           // y: line 1 is two tile lines down
  EXPECT_EQ(at(0), 2 * 14 + 0);  // address
  EXPECT_EQ(at(4), 14);          // bytes of a tile line
  EXPECT_EQ(at(14), 2);          // tile lines from segment to segment
  EXPECT_EQ(at(15), -6);
  EXPECT_EQ(at(16), 2 * 14 - 6);
  EXPECT_EQ(at(17), 4);  // lanes end here: segment 0
  EXPECT_EQ(at(18), 10);
  c.window.line = 2;  // ten elements would need five lines
  EXPECT_EQ(describe(p, Command{c}, {}).errors()[0].code, Errc::unsupported);
}

TEST(Descriptor, DoesAWindowBeginInTheMiddleOfALine) {
  // 2 x 3 x 4 positions two pixels of 3 bytes and two lines apart, in a 2 x 9 x 10 tile, from
  // (0, -1, -2) on. Position 12 + 2 * 4 + 3 in the second iteration: plane 1, line 2, pixel 3.
  GemmCommand c;
  c.m = 1, c.k = 3, c.n = 1;
  c.window.tile = {2, 9, 10};
  c.window.pixel = c.window.line = 3;
  c.window.count = {2, 3, 4};
  c.window.stride = {1, 2, 2};
  c.window.origin = {Affine(0), Affine(-1), Affine(-2)};
  c.window.first = Affine(11);
  c.window.first.add_term(0, 12);
  const std::array<int64_t, 1> second = {1};
  const Result<Descriptor> d = describe(Program{}, Command{c}, second);
  ASSERT_TRUE(d.ok());
  const auto at = [&](size_t field) {
    return static_cast<int32_t>(d->words[rtl::gemm_cmd::kWindow + field]);
  };
  namespace window = rtl::window;
  constexpr int32_t kPixel = 3, kLine = 10 * kPixel, kPlane = 9 * kLine;
  const auto address = [](int32_t z, int32_t y, int32_t x) {
    return z * kPlane + (2 * y - 1) * kLine + (2 * x - 2) * kPixel;
  };
  EXPECT_EQ(at(window::kStartZ), 1);
  EXPECT_EQ(at(window::kFirstY), 2 * 2 - 1);
  EXPECT_EQ(at(window::kFirstX), (2 * 3 - 2) * kPixel);
  EXPECT_EQ(at(window::kStartAddr), address(1, 2, 3));
  // Lines and planes begin and end where they did.
  EXPECT_EQ(at(window::kStartX), -2 * kPixel);
  EXPECT_EQ(at(window::kLastX), (2 * 3 - 2) * kPixel);
  EXPECT_EQ(at(window::kStartY), -1);
  EXPECT_EQ(at(window::kLastY), 2 * 2 - 1);
  EXPECT_EQ(at(window::kStepX), address(0, 0, 1) - address(0, 0, 0));
  EXPECT_EQ(at(window::kStepYAddr), address(0, 1, 0) - address(0, 0, 3));
  EXPECT_EQ(at(window::kStepZAddr), address(1, 0, 0) - address(0, 2, 3));
}

TEST(Descriptor, IsWhatTheCoreCannotDoRefused) {
  const Program p = nest();
  LoadCommand padded = load(0);
  padded.padded.emplace();
  LoadCommand deep = load(0);
  deep.walk.levels.assign(7, {2, 1});
  for (const Command& c : {Command{padded}, Command{deep}, Command{VectorCommand{}},
                           Command{PostCommand{}}, Command{DrainCommand{}}}) {
    const auto d = describe(p, c, {});
    ASSERT_FALSE(d.ok());
    EXPECT_EQ(d.errors()[0].code, Errc::unsupported);
  }
}

}  // namespace
}  // namespace accsim::hw
