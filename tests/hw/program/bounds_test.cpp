#include <gtest/gtest.h>

#include <functional>
#include <limits>

#include "hw/program/reach.h"
#include "tests/hw/program/refused.h"
#include "tests/support/programs.h"

namespace accsim::hw {
namespace {

using test::error;
using test::says;
using test::sync;

constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kTensor = int64_t{1} << 20;  ///< bytes of program()'s "in" and "out"

/// What verify() says of a tile of 8x8x8 with one of its commands bent.
template <class C>
std::string bent(const std::function<void(C&)>& bend) {
  std::vector<Item> body = test::tile(8, 8, 8);
  for (Item& i : body)
    if (auto* command = std::get_if<Command>(&i.node))
      if (auto* c = std::get_if<C>(command)) {
        bend(*c);
        return error(test::program(body));
      }
  return "no such command";
}
template <class C>
void refuses(const std::function<void(C&)>& bend, const char* part) {
  EXPECT_TRUE(says(bent<C>(bend), part));
}

/// A command of the vector unit between slots that hold 64 bytes.
std::string in_vector_unit(const Command& c) {
  std::vector<Item> body;
  for (const Buffer b : {Buffer::activation, Buffer::parameter}) {
    test::append(body, test::fill(b, 64));
    body.push_back(sync(SyncKind::wait_full, Queue::vector, b));
  }
  test::append(body, {sync(SyncKind::wait_free, Queue::vector, Buffer::output), Item{c},
                      sync(SyncKind::signal_full, Queue::vector, Buffer::output),
                      sync(SyncKind::signal_free, Queue::vector, Buffer::activation),
                      sync(SyncKind::signal_free, Queue::vector, Buffer::parameter),
                      sync(SyncKind::wait_full, Queue::store, Buffer::output), test::store(64),
                      sync(SyncKind::signal_free, Queue::store, Buffer::output)});
  return error(test::program(std::move(body)));
}

TEST(Reach, StaysAtTheEndsOf64Bits) {
  EXPECT_EQ(multiply_far(int64_t{1} << 32, int64_t{1} << 32), kMost);
  EXPECT_EQ(multiply_far(int64_t{1} << 32, -(int64_t{1} << 32)), kLeast);
  EXPECT_EQ(multiply_far(kLeast, -1), kMost);
  EXPECT_EQ(add_far(kMost, 1), kMost);
  EXPECT_EQ(add_far(kLeast, -1), kLeast);
  const Reach both = Reach{}.add_index(4, 10).add_index(3, -7).add_index(1, kLeast);
  EXPECT_EQ(both.low, -14);
  EXPECT_EQ(both.high, 30);
  EXPECT_EQ(bytes_of({{{1 << 30, 0}, {1 << 30, 0}}, 16}), kMost);
  EXPECT_EQ(bytes_of({{{-2, 0}, {-2, 0}}, 16}), 0);
  EXPECT_EQ(bytes_of({{{3, 0}, {2, 0}}, 16}), 96);
}

TEST(VerifyWalk, KnowsHowFarNegativeStridesReach) {
  const auto store = [](int64_t target, Walk walk) {
    return bent<StoreCommand>([&](StoreCommand& c) {
      c.target = target;
      c.walk = walk;
    });
  };
  // Runs of 8 at 0, -8, .. -56 from the first one.
  const Walk down{{{8, -8}}, 8};
  EXPECT_EQ(store(56, down), "");
  EXPECT_TRUE(says(store(55, down), "store to 'out' reaches [-1, 63)"));
  EXPECT_EQ(store(kTensor - 8, down), "");
  EXPECT_TRUE(says(store(kTensor - 7, down), "store to 'out' reaches"));
  // What one level takes back the other doesn't give.
  EXPECT_TRUE(says(store(0, {{{2, -64}, {4, 64}}, 8}), "store to 'out' reaches [-64, 200)"));
  EXPECT_TRUE(says(store(kTensor - 8, {{{2, -64}, {4, 8}}, 8}), "store to 'out' reaches"));
}

TEST(VerifyWalk, RefusesCountsAndStridesBeyond64Bits) {
  for (const int64_t n : {int64_t{0}, int64_t{-1}, kLeast})
    refuses<LoadCommand>([&](LoadCommand& c) { c.walk = {{{n, 8}}, 8}; }, "load of nothing");
  // Whose product is 64 in 64 bits.
  refuses<LoadCommand>([](LoadCommand& c) { c.walk = {{{-1, 0}, {-1, 0}}, 64}; }, "of nothing");
  refuses<LoadCommand>(
      [](LoadCommand& c) {
        c.walk = {{{kMost, 0}, {kMost, 0}}, 64};
      },
      "load into weight reaches");
  for (const int64_t stride : {kMost, kLeast, int64_t{1} << 62, -(int64_t{1} << 62)})
    refuses<LoadCommand>(
        [&](LoadCommand& c) {
          c.walk = {{{2, stride}, {3, stride}}, 8};
        },
        "load from 'in' reaches");
  refuses<LoadCommand>([](LoadCommand& c) { c.source = kMost; }, "load from 'in' reaches");
  EXPECT_EQ(bent<LoadCommand>([](LoadCommand& c) {
              c.walk = {{{1, kLeast}}, 64};
            }),
            "")
      << "the stride of one iteration says nothing";
}

TEST(VerifyWalk, RefusesLoopsBeyond64Bits) {
  std::vector<Item> body = test::tile(8, 8, 8);
  std::get<LoadCommand>(std::get<Command>(body[1].node)).source.add_term(0, kMost / 2);
  EXPECT_TRUE(says(error(test::program({{Loop{0, "l", 5, body}}}, 1)), "load from 'in' reaches"));
  body = test::tile(8, 8, 8);
  body = {{Loop{0, "i", 1 << 20, {{Loop{1, "j", 1 << 20, body}}}}}};
  EXPECT_EQ(error(test::program(body, 2)), "");
  std::get<Loop>(body[0].node).count = kMost;
  EXPECT_FALSE(error(test::program(body, 2)).empty());
}

TEST(VerifyTensors, RefusesBytesThatTakeFromOthers) {
  Program p = test::program(test::tile(8, 8, 8));
  p.tensors.push_back({"less", MemoryId::shared, -(int64_t{1} << 40)});
  EXPECT_TRUE(says(error(p), "tensor 'less' has -1099511627776 bytes"));
  p.tensors.back() = {"more", MemoryId::dram, kMost};
  EXPECT_TRUE(says(error(p), "tensor 'more' has"));
}

TEST(VerifyGemm, RefusesWindowsThatCountBackwardsOrOverflow) {
  refuses<GemmCommand>([](GemmCommand& c) { c.window.line = 0; }, "bytes of a kernel line");
  refuses<GemmCommand>([](GemmCommand& c) { c.window.line = -8; }, "bytes of a kernel line");
  refuses<GemmCommand>([](GemmCommand& c) { c.window.offset = -1; },
                       "first of the gemm's elements");
  refuses<GemmCommand>([](GemmCommand& c) { c.window.offset = kMost; }, "first of the gemm's");
  refuses<GemmCommand>([](GemmCommand& c) { c.window.line_step = kMost; }, "lines between");
  refuses<GemmCommand>([](GemmCommand& c) { c.window.tile = {-1, -1, 8}; }, "the gemm's tile");
  refuses<GemmCommand>(
      [](GemmCommand& c) {
        c.window.tile = {int64_t{1} << 21, int64_t{1} << 21, int64_t{1} << 22};
      },
      "the gemm's tile");
  refuses<GemmCommand>([](GemmCommand& c) { c.window.pixel = kMost; }, "gemm window reaches");
  refuses<GemmCommand>(
      [](GemmCommand& c) {
        c.window.count = {int64_t{1} << 32, int64_t{1} << 32, 8};
      },
      "gemm window");
  refuses<GemmCommand>([](GemmCommand& c) { c.window.origin[1] = kLeast; }, "origin of the gemm's");
  refuses<GemmCommand>([](GemmCommand& c) { c.window.stride[2] = kMost; }, "gemm window from");
  refuses<GemmCommand>([](GemmCommand& c) { c.window.pad_value = 1000; }, "padding");
  refuses<GemmCommand>([](GemmCommand& c) { c.first_of = {7}; }, "first of loop 7");
}

TEST(VerifyGemm, RefusesWeightsThatCountBackwards) {
  refuses<GemmCommand>([](GemmCommand& c) { c.weights.pitch = -8; }, "pitch of the gemm's weights");
  refuses<GemmCommand>(
      [](GemmCommand& c) {
        c.weights.pitch = -8;
        c.weights.offset = 56;
      },
      "pitch of the gemm's weights");
  refuses<GemmCommand>([](GemmCommand& c) { c.weights.pitch = kMost; }, "pitch of the gemm's");
  refuses<GemmCommand>([](GemmCommand& c) { c.weights.groups = 0; }, "weights of 0 groups");
  refuses<GemmCommand>(
      [](GemmCommand& c) {
        c.weights.groups = int64_t{1} << 32;
        c.weights.group_k = c.weights.group_n = int64_t{1} << 32;
      },
      "its weights are");
  refuses<GemmCommand>(
      [](GemmCommand& c) {
        c.weights.groups = 2;
        c.weights.group_k = c.weights.group_n = 4;
        c.weights.first_k = kMost;
      },
      "gemm weights' first row");
}

TEST(VerifyPost, RefusesRowsAndPitchesOutOfBounds) {
  for (const int64_t rows : {int64_t{0}, int64_t{-1}, kLeast, int64_t{129}})  // 4 KiB of 8 x 4
    refuses<PostCommand>([&](PostCommand& c) { c.rows = rows; }, "post rows");
  refuses<PostCommand>([](PostCommand& c) { c.pitch = -1; }, "pitch of the post's pixels");
  refuses<PostCommand>(
      [](PostCommand& c) {
        c.pitch = -8;
        c.slot_offset = 56;
      },
      "pitch of the post's pixels");
  refuses<PostCommand>([](PostCommand& c) { c.pitch = kMost; }, "pitch of the post's pixels");
  refuses<PostCommand>([](PostCommand& c) { c.epilogue.zero = 40000; }, "zero point of the post");
  refuses<PostCommand>([](PostCommand& c) { c.groups = kLeast; }, "post groups");
}

/// Two rows of 8 bytes, from and to where slots begin.
LaneCommand two_rows() {
  LaneCommand c;
  c.rows = {1, 1, 1, 2};
  c.run = 8;
  c.a.row_stride = c.out_stride = {0, 0, 0, 8};
  return c;
}

TEST(VerifyLaneBounds, RefusesMoreElementsThanACounterHolds) {
  LaneCommand c = two_rows();
  c.a.row_stride = c.out_stride = {};
  c.rows = {1 << 14, 1 << 14, 1, 1};
  EXPECT_TRUE(says(in_vector_unit({c}), "elements of the rows is 2147483648 of 2147483647"));
  c.rows[0] -= 1;
  EXPECT_EQ(in_vector_unit({c}), "");
  c.rows = {kMostElements, kMostElements, kMostElements, kMostElements};
  EXPECT_TRUE(says(in_vector_unit({c}), "elements of the rows"));
}

TEST(VerifyLaneBounds, RefusesStridesBeyond64Bits) {
  for (const int64_t far : {kMost, kLeast, int64_t{1} << 62, -(int64_t{1} << 62)}) {
    LaneCommand c = two_rows();
    c.rows[0] = 5;
    c.a.row_stride[0] = far;
    EXPECT_TRUE(says(in_vector_unit({c}), "first operand reaches")) << far;
    c = two_rows();
    c.rows[0] = 3;
    c.out_stride = {far, 0, 0, far};
    EXPECT_TRUE(says(in_vector_unit({c}), "output of the lane command reaches")) << far;
    c = two_rows();
    c.taps = {3, 3};
    c.tap_stride = {far, -(far / 2)};
    EXPECT_TRUE(says(in_vector_unit({c}), "first operand reaches")) << far;
  }
  LaneCommand c = two_rows();
  c.a.row_stride[0] = kLeast;
  c.tap_stride[1] = kMost;
  EXPECT_EQ(in_vector_unit({c}), "") << "the stride of one iteration says nothing";
}

TEST(VerifyRowBounds, RefusesElementsAndStridesBeyondTheirCounters) {
  RowCommand c;
  c.op = RowOp::rms_norm;
  c.run = 16;
  c.unit_bits = 28;
  EXPECT_EQ(in_vector_unit({c}), "");
  c.rows = {1 << 14, 1 << 13, 1, 1};
  EXPECT_TRUE(says(in_vector_unit({c}), "elements of the rows is 2147483648 of 2147483647"));
  c.rows = {kMostElements, kMostElements, kMostElements, 3};
  EXPECT_TRUE(says(in_vector_unit({c}), "elements of the rows"));
  c.rows = {3, 3, 1, 1};
  for (const int64_t far : {kMost, kLeast}) {
    RowCommand bent = c;
    bent.in.row_stride = {far, far, 0, 0};
    EXPECT_TRUE(says(in_vector_unit({bent}), "rows reaches")) << far;
    bent = c;
    bent.out.row_stride = {far, far, 0, 0};
    EXPECT_TRUE(says(in_vector_unit({bent}), "output of the rows reaches")) << far;
    bent = c;
    bent.parameter_stride = {far, far, 0, 0};
    EXPECT_TRUE(says(in_vector_unit({bent}), "channels of the rows reaches")) << far;
  }
}

TEST(VerifyVector, RefusesLessThanNothing) {
  VectorCommand c;
  c.ops[0] = -1;
  EXPECT_TRUE(says(in_vector_unit({c}), "operations of a vector command"));
  c.ops[0] = 1;
  c.in_bytes = -1;
  EXPECT_TRUE(says(in_vector_unit({c}), "vector input reaches"));
}

/// 4 positions and 3 taps of a line of 4 pixels, a byte of padding on either side: an im2col load.
LoadCommand window_load() {
  LoadCommand c{Buffer::activation, 0, Affine(-1), 0, {{{4, 1}}, 3}, {}};
  PaddedWindow w;
  w.extent = {1, 1, 4};
  w.count = {1, 1, 4};
  w.kernel = {1, 1, 3};
  w.origin[2] = Affine(-1);
  w.pitch = {4, 4, 1};
  w.tap = 1;
  c.padded = w;
  return c;
}

std::string padded(const std::function<void(LoadCommand&, PaddedWindow&)>& bend) {
  LoadCommand c = window_load();
  bend(c, *c.padded);
  return error(test::program({sync(SyncKind::wait_free, Queue::load, Buffer::activation),
                              {Command{c}},
                              sync(SyncKind::signal_full, Queue::load, Buffer::activation),
                              sync(SyncKind::wait_full, Queue::execute, Buffer::activation),
                              sync(SyncKind::signal_free, Queue::execute, Buffer::activation)}));
}

TEST(VerifyPadded, RefusesWalksThatGoElsewhere) {
  EXPECT_EQ(padded([](LoadCommand&, PaddedWindow&) {}), "");
  const char* elsewhere = "a padded window on a walk that goes elsewhere";
  EXPECT_TRUE(
      says(padded([](LoadCommand& c, PaddedWindow&) { c.walk.levels[0].stride = 2; }), elsewhere));
  EXPECT_TRUE(says(padded([](LoadCommand& c, PaddedWindow&) {
                     c.walk = {{{3, 1}}, 4};
                   }),
                   elsewhere));
  EXPECT_TRUE(says(padded([](LoadCommand&, PaddedWindow& w) { w.dilation[2] = 2; }), elsewhere));
  // The same steps, cut another way.
  EXPECT_EQ(padded([](LoadCommand& c, PaddedWindow&) { c.walk = {{{2, 2}, {2, 1}}, 3}; }), "");
}

TEST(VerifyPadded, RefusesSizesThatOverflow) {
  for (const int64_t n : {int64_t{0}, int64_t{-1}, kLeast, kMost}) {
    EXPECT_FALSE(padded([&](LoadCommand&, PaddedWindow& w) { w.extent[2] = n; }).empty()) << n;
    EXPECT_FALSE(padded([&](LoadCommand&, PaddedWindow& w) { w.kernel[2] = n; }).empty()) << n;
    EXPECT_FALSE(padded([&](LoadCommand&, PaddedWindow& w) { w.count[0] = n; }).empty()) << n;
    EXPECT_FALSE(padded([&](LoadCommand&, PaddedWindow& w) { w.images = n; }).empty()) << n;
    EXPECT_FALSE(padded([&](LoadCommand&, PaddedWindow& w) { w.tap = n; }).empty()) << n;
    EXPECT_FALSE(padded([&](LoadCommand&, PaddedWindow& w) { w.pitch[2] = n; }).empty()) << n;
  }
  for (const int64_t n : {int64_t{0}, kLeast, kMost})
    EXPECT_FALSE(padded([&](LoadCommand&, PaddedWindow& w) { w.origin[2] = n; }).empty()) << n;
  EXPECT_FALSE(padded([](LoadCommand&, PaddedWindow& w) { w.pad_value = 128; }).empty());
}

}  // namespace
}  // namespace accsim::hw
