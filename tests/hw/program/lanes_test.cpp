#include <gtest/gtest.h>

#include <numeric>
#include <set>

#include "hw/program/contract.h"
#include "hw/program/program.h"
#include "tests/hw/program/refused.h"
#include "tests/support/machines.h"
#include "tests/support/programs.h"

namespace accsim::hw {
namespace {

using test::error;
using test::says;
using test::sync;

/// A command between an activation and a parameter slot and an output slot.
Program around(const Command& c) {
  const auto read = [](Buffer b) {
    std::vector<Item> out = test::fill(b, 64);
    out.push_back(sync(SyncKind::wait_full, Queue::vector, b));
    return out;
  };
  std::vector<Item> body = read(Buffer::activation);
  test::append(body, read(Buffer::parameter));
  test::append(body, {sync(SyncKind::wait_free, Queue::vector, Buffer::output), Item{c},
                      sync(SyncKind::signal_full, Queue::vector, Buffer::output),
                      sync(SyncKind::signal_free, Queue::vector, Buffer::activation),
                      sync(SyncKind::signal_free, Queue::vector, Buffer::parameter),
                      sync(SyncKind::wait_full, Queue::store, Buffer::output), test::store(64),
                      sync(SyncKind::signal_free, Queue::store, Buffer::output)});
  return test::program(std::move(body));
}

LaneCommand two_operands() {
  LaneCommand c;
  c.op = LaneOp::add;
  c.rows = {2, 1, 3, 1};
  c.run = 8;
  c.a.row_stride = {24, 0, 8, 0};
  c.out_stride = {24, 0, 8, 0};
  c.b.emplace();
  c.b->buffer = Buffer::parameter;
  return c;
}

using Bend = void (*)(LaneCommand&);

std::string bent(Bend bend) {
  LaneCommand c = two_operands();
  bend(c);
  return error(around({c}));
}

struct Case {
  Bend bend;
  const char* part;
};

// small_machine(): slots of 4096 bytes of activations, 1024 of parameters, 2048 of outputs.

TEST(VerifyLanes, AcceptsWhatJustFits) {
  for (const Bend bend : {
           Bend{[](LaneCommand&) {}},
           {[](LaneCommand& c) { c.a.offset = Affine(4096 - 48); }},
           {[](LaneCommand& c) { c.b->offset = Affine(1024 - 8); }},
           {[](LaneCommand& c) { c.b->splat = true, c.b->offset = Affine(1024 - 1); }},
           {[](LaneCommand& c) { c.slot_offset = Affine(2048 - 48); }},
           {[](LaneCommand& c) { c.a.row_stride[0] = -24, c.a.offset = Affine(24); }},
           {[](LaneCommand& c) { c.out_stride[2] = -8, c.slot_offset = Affine(16); }},
           {[](LaneCommand& c) {
             c.taps = {2, 2}, c.tap_stride = {-3, 9}, c.a.offset = 3;
           }},
           {[](LaneCommand& c) {
             c.taps = {1 << 10, 1 << 10};
           }},
           {[](LaneCommand& c) {
             c.across = c.b->splat = true, c.taps = {1, 1 << 17};
           }},
           {[](LaneCommand& c) { c.op = LaneOp::copy, c.b.reset(); }},
           {[](LaneCommand& c) {
             c.shift = 62, c.epilogue.zero = -32768, c.epilogue.low = c.epilogue.high = 127;
           }},
           {[](LaneCommand& c) { c.a.zero = -128, c.b->zero = 127, c.b->multiplier = -32768; }},
       })
    EXPECT_EQ(bent(bend), "");
}

TEST(VerifyLanes, RefusesAddressesOutsideTheirSlots) {
  for (const Case& c : {
           Case{[](LaneCommand& c) { c.a.offset = Affine(4096 - 47); },
                "first operand reaches [4049, 4097) of 4096"},
           {[](LaneCommand& c) { c.a.row_stride[0] = -24, c.a.offset = Affine(23); },
            "first operand reaches [-1, "},
           {[](LaneCommand& c) {
              c.taps = {2, 1}, c.tap_stride = {-1, 0};
            },
            "first operand reaches [-1, "},
           {[](LaneCommand& c) {
              c.taps = {1, 3}, c.tap_stride = {0, 2025};
            },
            "first operand reaches [0, 4098) of 4096"},
           {[](LaneCommand& c) { c.b->offset = Affine(1024 - 7); },
            "second operand reaches [1017, 1025) of 1024"},
           {[](LaneCommand& c) { c.b->row_stride[0] = -1; }, "second operand reaches [-1, "},
           {[](LaneCommand& c) { c.b->splat = true, c.b->offset = Affine(1024); },
            "second operand reaches [1024, 1025) of 1024"},
           {[](LaneCommand& c) { c.slot_offset = Affine(2048 - 47); },
            "output of the lane command reaches [2001, 2049) of 2048"},
           {[](LaneCommand& c) { c.out_stride[2] = -8; },
            "output of the lane command reaches [-16, "},
           {[](LaneCommand& c) { c.a.offset.add_term(0, 1); }, "depends on loop 0"},
       })
    EXPECT_TRUE(says(bent(c.bend), c.part));
}

TEST(VerifyLanes, RefusesOperandsThatItHasNot) {
  for (const Case& c : {
           Case{[](LaneCommand& c) { c.b.reset(); }, "add with 1 operands"},
           {[](LaneCommand& c) { c.op = LaneOp::copy; }, "copy with 2 operands"},
           {[](LaneCommand& c) { c.a.buffer = Buffer::parameter; },
            "the first operand lies in activation slots"},
           {[](LaneCommand& c) { c.a.splat = true; }, "the first operand has a byte for each"},
           {[](LaneCommand& c) { c.b->buffer = Buffer::weight; }, "the second operand lies in"},
           {[](LaneCommand& c) { c.across = true; }, "a row across has one second operand"},
           {[](LaneCommand& c) { c.a.zero = -129; }, "zero point of the first operand is -129"},
           {[](LaneCommand& c) { c.a.zero = 128; }, "zero point of the first operand is 128"},
           {[](LaneCommand& c) { c.a.multiplier = 32768; }, "multiplier of the first operand"},
           {[](LaneCommand& c) { c.b->zero = 128; }, "zero point of the second operand is 128"},
           {[](LaneCommand& c) { c.b->multiplier = -32769; }, "multiplier of the second operand"},
       })
    EXPECT_TRUE(says(bent(c.bend), c.part));
}

TEST(VerifyLanes, RefusesCountsAndScalesOutsideTheirLimits) {
  for (const Case& c : {
           Case{[](LaneCommand& c) { c.run = 0; }, "run is 0 of 4096"},
           {[](LaneCommand& c) { c.run = 4097; }, "run is 4097 of 4096"},
           {[](LaneCommand& c) { c.rows[3] = 0; }, "a count of rows is 0"},
           {[](LaneCommand& c) { c.taps[0] = 0; }, "a count of taps is 0"},
           {[](LaneCommand& c) {
              c.taps = {1 << 10, (1 << 10) + 1};
            },
            "elements of one result is 1049600 of 1048576"},
           {[](LaneCommand& c) {
              c.across = c.b->splat = true, c.taps = {1, (1 << 17) + 1};
            },
            "elements of one result is 1048584 of 1048576"},
           {[](LaneCommand& c) { c.shift = -1; }, "shift of the lane command is -1"},
           {[](LaneCommand& c) { c.shift = 63; }, "shift of the lane command is 63"},
           {[](LaneCommand& c) { c.epilogue.zero = 32768; }, "zero point of the lane command"},
           {[](LaneCommand& c) { c.epilogue.zero = -32769; }, "zero point of the lane command"},
           {[](LaneCommand& c) { c.epilogue.low = -129; }, "lane command clips to [-129, 127]"},
           {[](LaneCommand& c) { c.epilogue.high = 128; }, "lane command clips to [-128, 128]"},
           {[](LaneCommand& c) { c.epilogue.low = 1, c.epilogue.high = 0; },
            "lane command clips to [1, 0]"},
           {[](LaneCommand& c) { c.epilogue.relu = true; }, "relu and residual are a post's"},
           {[](LaneCommand& c) { c.epilogue.residual.emplace(); },
            "relu and residual are a post's"},
       })
    EXPECT_TRUE(says(bent(c.bend), c.part));
}

TEST(VerifyLanes, RefusesTwoOperandsThroughAPortOfOneByte) {
  HwConfig hw = test::small_machine();
  LaneCommand c = two_operands();
  c.b->buffer = Buffer::activation;
  hw.buffers[static_cast<size_t>(Buffer::activation)].width = 2;
  EXPECT_EQ(error(around({c}), hw), "");
  hw.buffers[static_cast<size_t>(Buffer::activation)].width = 1;
  EXPECT_TRUE(says(error(around({c}), hw), "two operands through a port of one byte"));
  c.b->buffer = Buffer::parameter;
  EXPECT_EQ(error(around({c}), hw), "");
}

/// A program without the operations of the vector queue on a buffer.
Program without(Program p, Buffer b) {
  std::erase_if(p.body, [&](const Item& i) {
    const auto* s = std::get_if<Sync>(&i.node);
    return s && s->buffer == b && s->queue == Queue::vector;
  });
  return p;
}

TEST(VerifyLanes, RefusesSlotsThatItDoesNotHave) {
  const Program p = around({two_operands()});
  EXPECT_TRUE(says(error(without(p, Buffer::activation)),
                   "first operand reads activation without a full slot"));
  EXPECT_TRUE(says(error(without(p, Buffer::parameter)),
                   "second operand reads parameter without a full slot"));
  EXPECT_TRUE(
      says(error(without(p, Buffer::output)), "lane command writes output without a free slot"));
}

TEST(VerifyTables, RefusesWhatIsNoTable) {
  const auto table = [](Queue unit, int64_t offset) {
    return around({SetTableCommand{unit, Affine(offset)}});
  };
  EXPECT_EQ(error(table(Queue::vector, 1024 - 256)), "");
  EXPECT_TRUE(says(error(table(Queue::vector, 1024 - 255)), "table reaches [769, 1025) of 1024"));
  EXPECT_TRUE(says(error(table(Queue::vector, -1)), "table reaches [-1, 255) of 1024"));
  EXPECT_TRUE(says(error(table(Queue::load, 0)), "a table of the load queue"));
  EXPECT_TRUE(says(error(table(Queue::post, 0)), "table reads parameter without a full slot"));
  EXPECT_TRUE(says(error(without(table(Queue::vector, 0), Buffer::parameter)),
                   "table reads parameter without a full slot"));
}

// ---- queues, sums and text ----------------------------------------------------------------------

TEST(Queues, HasEachCommandItsOwn) {
  EXPECT_EQ(queue_of({LaneCommand{}}), Queue::vector);
  EXPECT_EQ(queue_of({VectorCommand{}}), Queue::vector);
  EXPECT_EQ(queue_of({PostCommand{}}), Queue::post);
  EXPECT_EQ(queue_of({SetTableCommand{Queue::post, 0}}), Queue::post);
  EXPECT_EQ(queue_of({SetTableCommand{Queue::vector, 0}}), Queue::vector);
  EXPECT_EQ(queue_of({LoadCommand{}}), Queue::load);
  EXPECT_EQ(queue_of({GemmCommand{}}), Queue::execute);
  EXPECT_EQ(queue_of({DrainCommand{}}), Queue::execute);
  EXPECT_EQ(queue_of({StoreCommand{}}), Queue::store);
}

Counts counts(const Command& c, int64_t times) {
  return count_program(test::program({{Loop{0, "t", times, {{c}}}}}, 1), test::small_machine());
}

int64_t bytes(const std::array<Bytes, kBuffers>& of, Buffer b) {
  return of[static_cast<size_t>(b)].count();
}

TEST(CountLanes, AddsUpElementsOfAllTaps) {
  LaneCommand c = two_operands();  // 2 x 3 rows of 8
  c.taps = {5, 2};
  struct Expected {
    bool across, splat;
    int64_t b_bytes, out_bytes;
    const char* lanes;
  };
  for (const Buffer b : {Buffer::parameter, Buffer::activation})
    for (const Expected& e :
         {Expected{false, false, 6 * 8, 6 * 8, "pool"}, Expected{false, true, 6, 6 * 8, "pool"},
          Expected{true, true, 6, 6, "reduce"}}) {
      c.across = e.across;
      c.b->splat = e.splat;
      c.b->buffer = b;
      const Counts n = counts({c}, 7);
      const bool parameter = b == Buffer::parameter;
      EXPECT_EQ(n.commands, 7);
      EXPECT_EQ(bytes(n.buffer_read, Buffer::activation),
                7 * (6 * 8 * 10 + (parameter ? 0 : e.b_bytes)));
      EXPECT_EQ(bytes(n.buffer_read, Buffer::parameter), parameter ? 7 * e.b_bytes : 0);
      EXPECT_EQ(bytes(n.buffer_written, Buffer::output), 7 * e.out_bytes);
      for (size_t i = 0; i < kLaneClasses; ++i)
        EXPECT_EQ(n.vector_ops[i], kLaneClassNames[i] == e.lanes ? 7 * 6 * 8 * 10 : 0);
    }
  c = LaneCommand();
  c.run = 9;
  const Counts n = counts({c}, 2);
  EXPECT_EQ(n.vector_ops[0], 18);
  EXPECT_EQ(kLaneClassNames[0], "elementwise");
  EXPECT_EQ(bytes(n.buffer_read, Buffer::activation), 18);
  EXPECT_EQ(bytes(n.buffer_read, Buffer::parameter), 0);
}

TEST(CountLanes, TakesWhatRowsThatSlideDoNotShareOnce) {
  LaneCommand c;
  c.rows = {2, 1, 3, 5};
  c.run = 8;
  c.taps = {4, 3};
  c.tap_stride = {8, 100};
  for (c.slide = 1; c.slide < 4; ++c.slide) {
    c.a.row_stride = {0, 0, 300, 8 * c.slide};
    // Columns that some row of a line has, each once.
    std::set<int64_t> columns;
    for (int64_t row = 0; row < 5; ++row)
      for (int64_t u = 0; u < 4; ++u) columns.insert(row * c.slide + u);
    const int64_t taken = 2 * 3 * std::ssize(columns);
    const Counts n = counts({c}, 7);
    EXPECT_EQ(bytes(n.buffer_read, Buffer::activation), 7 * taken * 3 * 8);
    EXPECT_EQ(bytes(n.buffer_written, Buffer::output), 7 * 30 * 8);
    EXPECT_EQ(std::accumulate(n.vector_ops.begin(), n.vector_ops.end(), int64_t{0}),
              7 * taken * 3 * 8);
    EXPECT_EQ(n.joined, 7 * taken * 3 * 8);  // three columns are kept
    EXPECT_EQ(lane_class(c), 3U);
  }
}

TEST(VerifyLanes, RefusesRowsThatCannotSlide) {
  LaneCommand good;
  good.rows = {1, 1, 2, 4};
  good.run = 8;
  good.taps = {3, 2};
  good.tap_stride = {8, 80};
  good.slide = 2;
  good.a.row_stride = {0, 0, 160, 16};
  EXPECT_EQ(error(around({good})), "");
  const auto eight = [](LaneCommand& c) {
    c.taps[0] = 8, c.slide = 7, c.tap_stride[0] = 4, c.a.row_stride[3] = 28;
  };
  LaneCommand most = good;
  eight(most);
  most.taps[1] = 256, most.tap_stride[1] = 0;
  EXPECT_EQ(error(around({most})), "");
  for (const Bend bend : {
           Bend{[](LaneCommand& c) { c.slide = 3, c.a.row_stride[3] = 24; }},
           {[](LaneCommand& c) { c.slide = -1, c.a.row_stride[3] = -8; }},
           {[](LaneCommand& c) { c.slide = 1; }},
           {[](LaneCommand& c) { c.a.row_stride[3] = 17; }},
           {[](LaneCommand& c) { c.across = true; }},
           {[](LaneCommand& c) { c.op = LaneOp::add, c.b.emplace(); }},
           {[](LaneCommand& c) { c.taps[0] = 9; }},
           {[](LaneCommand& c) { c.taps[1] = 683, c.tap_stride[1] = 0; }},
           {[](LaneCommand& c) { c.tap_stride[0] = INT64_MAX, c.a.row_stride[3] = -2; }},
       }) {
    LaneCommand bad = good;
    bend(bad);
    EXPECT_TRUE(says(error(around({bad})), "rows that slide by"));
  }
}

TEST(CountLanes, KnowsTablesAndResiduals) {
  const Counts table = counts({SetTableCommand{Queue::vector, 0}}, 3);
  EXPECT_EQ(bytes(table.buffer_read, Buffer::parameter), 3 * 256);
  EXPECT_EQ(table.commands, 3);
  PostCommand post;
  post.rows = 5;
  post.cols = post.pitch = 6;
  EXPECT_EQ(bytes(counts({post}, 3).buffer_read, Buffer::output), 0);
  post.epilogue.residual.emplace();
  const Counts added = counts({post}, 3);
  EXPECT_EQ(bytes(added.buffer_read, Buffer::output), 3 * 5 * 6);
  EXPECT_EQ(bytes(added.buffer_written, Buffer::output), 3 * 5 * 6);
}

TEST(PrintLanes, ShowsAllOfACommand) {
  LaneCommand c = two_operands();
  c.op = LaneOp::sub;
  c.a.zero = 3, c.a.multiplier = -4;
  c.b->splat = true, c.b->offset = Affine(77);
  c.taps = {5, 2}, c.tap_stride = {-9, 11}, c.tap_op = TapOp::max;
  c.shift = 13, c.epilogue.zero = -6, c.epilogue.low = -7, c.epilogue.high = 8;
  c.epilogue.table = true;
  const std::string text = program_text(around({c}));
  for (const char* part :
       {"vector  sub output[0] strides 24,0,8,0 <- activation[0] strides 24,0,8,0 (zero 3) * -4",
        " of 5x2 max taps at -9,11", " and parameter[77] strides 0,0,0,0 splat (zero 0) * 1",
        ", rows 2x1x3x1 of 8 bytes, / 2^13, zero -6 in [-7, 8], table"})
    EXPECT_TRUE(says(text, part));
  c.across = true;
  EXPECT_TRUE(says(program_text(around({c})), "of 8 bytes (max across), /"));
  c.across = false, c.slide = 2;
  EXPECT_TRUE(says(program_text(around({c})), "of 8 bytes, sliding by 2, /"));
  c = LaneCommand();
  c.run = 8;
  EXPECT_TRUE(says(program_text(around({c})),
                   "copy output[0] strides 0,0,0,0 <- activation[0] strides 0,0,0,0 (zero 0) * 1, "
                   "rows 1x1x1x1 of 8 bytes, / 2^0, zero 0 in [-128, 127]\n"));
}

TEST(PrintLanes, ShowsTablesResidualsAndPrimedSlots) {
  EXPECT_TRUE(says(program_text(around({SetTableCommand{Queue::vector, Affine(12)}})),
                   "vector  table <- parameters[12]\n"));
  EXPECT_TRUE(says(program_text(around({SetTableCommand{Queue::post, Affine(12)}})),
                   "post    table <- parameters[12]\n"));
  PostCommand post;
  post.rows = 5;
  post.cols = post.pitch = 6;
  post.epilogue.table = true;
  post.epilogue.residual = Residual{-3, 77, 5, -100, 99};
  EXPECT_TRUE(says(program_text(around({post})),
                   "5x6, pitch 6, table, residual (zero -3) * 77 / 2^5 in [-100, 99]\n"));
  const std::string text =
      program_text(test::program({sync(SyncKind::signal_primed, Queue::load, Buffer::output),
                                  sync(SyncKind::wait_primed, Queue::post, Buffer::output)}));
  EXPECT_TRUE(says(text, "load    signal_primed output\n"));
  EXPECT_TRUE(says(text, "post    wait_primed output\n"));
}

// ---- commands that weigh their taps -------------------------------------------------------------

HwConfig weighing_machine() {
  HwConfig hw = test::small_machine();
  hw.vector.mac_lanes = 5;
  return hw;
}

/// 3 x 2 taps of 8 channels: 48 weights behind 8 scales of 12 bytes.
LaneCommand weighed() {
  LaneCommand c;
  c.op = LaneOp::mac;
  c.rows = {1, 1, 2, 3};
  c.run = 8;
  c.taps = {3, 2};
  c.tap_stride = {64, 8};
  c.a.row_stride = {0, 0, 64, 8};
  c.out_stride = {0, 0, 24, 8};
  c.b.emplace().buffer = Buffer::parameter;
  c.b->offset = Affine(96);
  c.weight_stride = {16, 8};
  c.macs = 6 * 6 * 8;
  return c;
}

std::string weighed(Bend bend, const HwConfig& hw = weighing_machine()) {
  LaneCommand c = weighed();
  bend(c);
  const Status s = verify(around({c}), hw);
  return s ? "" : s.errors().front().text();
}

TEST(VerifyMacs, AcceptsWhatJustFits) {
  for (const Bend bend : {
           Bend{[](LaneCommand&) {}},
           {[](LaneCommand& c) { c.b->offset = Affine(1024 - 48); }},
           {[](LaneCommand& c) { c.channel_offset = Affine(1024 - 96); }},
           {[](LaneCommand& c) {
             c.weight_stride = {-16, -8}, c.b->offset = Affine(96 + 40);
           }},
           {[](LaneCommand& c) { c.b->row_stride[2] = -1, c.channel_offset = Affine(12); }},
           {[](LaneCommand& c) {
             c.taps = {1 << 15, 1}, c.tap_stride = c.weight_stride = {0, 0};
           }},
       })
    EXPECT_EQ(weighed(bend), "");
}

TEST(VerifyMacs, RefusesWhatTheLanesCannot) {
  for (const Case& c : {
           Case{[](LaneCommand& c) { c.b.reset(); }, "mac with 1 operands"},
           {[](LaneCommand& c) { c.b->buffer = Buffer::activation; },
            "weights of taps lie in parameter slots"},
           {[](LaneCommand& c) { c.b->splat = true; }, "a tap has a weight for each element"},
           {[](LaneCommand& c) { c.tap_op = TapOp::max; }, "weighed taps are added up"},
           {[](LaneCommand& c) { c.across = c.b->splat = true; }, "a tap has a weight"},
           {[](LaneCommand& c) { c.slide = 1, c.a.row_stride[3] = 64; }, "rows that slide"},
           {[](LaneCommand& c) { c.shift = 1; }, "the factors of their channels only"},
           {[](LaneCommand& c) { c.a.multiplier = 2; }, "the factors of their channels only"},
           {[](LaneCommand& c) { c.b->multiplier = -1; }, "the factors of their channels only"},
           {[](LaneCommand& c) {
              c.taps = {(1 << 15) + 1, 1}, c.tap_stride = c.weight_stride = {0, 0};
            },
            "weighed taps of one result is 32769"},
           {[](LaneCommand& c) { c.b->offset = Affine(1024 - 47); },
            "second operand reaches [977, 1025) of 1024"},
           {[](LaneCommand& c) { c.weight_stride[0] = -16, c.b->offset = Affine(31); },
            "second operand reaches [-1, "},
           {[](LaneCommand& c) { c.channel_offset = Affine(1024 - 95); },
            "channels of the lane command reaches [929, 1025) of 1024"},
           {[](LaneCommand& c) { c.b->row_stride[2] = -1, c.channel_offset = Affine(11); },
            "channels of the lane command reaches [-1, "},
           {[](LaneCommand& c) { c.macs = -1; }, "MACs of the lane command is -1"},
       })
    EXPECT_TRUE(says(weighed(c.bend), c.part));
}

TEST(VerifyMacs, RefusesThemOnAMachineWithoutSuchLanes) {
  EXPECT_TRUE(says(weighed([](LaneCommand&) {}, test::small_machine()), "vector.mac_lanes"));
}

TEST(Macs, TakeACycleForEachBeatAndTap) {
  const LaneCommand c = weighed();
  HwConfig hw = weighing_machine();
  // 6 rows of 6 taps, 8 bytes each: by 5 lanes in two beats, by 8 in one, whatever other lanes do.
  EXPECT_EQ(contract::lane_cycles(c, hw), 6 * 6 * 2);
  hw.vector.lanes.fill(1);
  hw.vector.mac_lanes = 8;
  EXPECT_EQ(contract::lane_cycles(c, hw), 6 * 6);
  // Any of the ports bounds the beat.
  for (const Buffer b : {Buffer::activation, Buffer::parameter, Buffer::output}) {
    HwConfig narrow = hw;
    narrow.buffers[static_cast<size_t>(b)].width = 3;
    EXPECT_EQ(contract::lane_cycles(c, narrow), 6 * 6 * 3) << name(b);
  }
}

TEST(Macs, ReadAWeightForEachTapAndAScaleForEachResult) {
  const Counts n = count_program(around({weighed()}), weighing_machine());
  const int64_t results = 6 * 8, taps = results * 6;
  const auto read = [&](Buffer b) { return n.buffer_read[static_cast<size_t>(b)].count(); };
  EXPECT_EQ(read(Buffer::activation), taps);
  EXPECT_EQ(read(Buffer::parameter), taps + 12 * results);
  EXPECT_EQ(n.weighed, taps);
  EXPECT_EQ(n.lane_macs, Macs(taps));
  EXPECT_EQ(n.macs, Macs(0));
  EXPECT_EQ(n.vector_ops, (std::array<int64_t, kLaneClasses>{}));
}

}  // namespace
}  // namespace accsim::hw
