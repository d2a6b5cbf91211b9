#include <gtest/gtest.h>

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

/// A command between an activation and a parameter slot and an output slot; without those of one
/// buffer, if it is given.
Program with_rows(const Command& c, std::optional<Buffer> without = std::nullopt) {
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
  if (without)
    std::erase_if(body, [&](const Item& i) {
      const auto* s = std::get_if<Sync>(&i.node);
      return s && s->buffer == *without && s->queue == Queue::vector;
    });
  return test::program(std::move(body));
}

/// 2 x 3 rows of 2 pieces of 10 elements.
RowCommand rows_of(RowOp op) {
  RowCommand c;
  c.op = op;
  c.rows = {2, 1, 3, 1};
  c.pieces = 2;
  c.run = 10;
  c.in = {Affine(0), {60, 0, 20, 0}, 10};
  c.out = c.in;
  c.unit_bits = 27;  // of 20 elements: 30 - ceil(5 / 2)
  c.numerator = 1 << 30;
  if (op == RowOp::softmax) c.mask = RowOperand{Affine(200), {0, 0, 0, 0}, 10};
  return c;
}

struct RowCase {
  void (*bend)(RowCommand&);
  const char* part;
};

std::string bent_rows(RowOp op, void (*bend)(RowCommand&)) {
  RowCommand c = rows_of(op);
  bend(c);
  return error(with_rows(c));
}

// small_machine(): slots of 4096 bytes of activations, 1024 of parameters, 2048 of outputs.

TEST(VerifyRows, AcceptsWhatJustFits) {
  for (const RowOp op : {RowOp::softmax, RowOp::layer_norm, RowOp::rms_norm})
    for (const auto bend : {
             +[](RowCommand&) {},
             +[](RowCommand& c) { c.in.offset = Affine(4096 - 120); },
             +[](RowCommand& c) { c.out.offset = Affine(2048 - 120); },
             +[](RowCommand& c) { c.in.row_stride[0] = -60, c.in.offset = Affine(60); },
             +[](RowCommand& c) { c.out.piece_stride = -10, c.out.offset = Affine(10); },
             +[](RowCommand& c) { c.in.piece_stride = c.in.row_stride[0] = 0; },
             +[](RowCommand& c) { c.epilogue.zero = -128; },
             +[](RowCommand& c) { c.parameter_offset = Affine(512); },
         })
      EXPECT_EQ(bent_rows(op, bend), "") << name(op);
  EXPECT_EQ(bent_rows(RowOp::rms_norm,
                      [](RowCommand& c) {
                        c.parameter_stride = {-8, 0, 16, 0}, c.parameter_offset = Affine(8);
                        c.epsilon = int64_t{1} << 62, c.epilogue.low = c.epilogue.high = 5,
                        c.per_channel = 5;
                      }),
            "");
  EXPECT_EQ(bent_rows(RowOp::softmax,
                      [](RowCommand& c) {
                        c.row_multiplier = c.mask_multiplier = 65535, c.difference_shift = 15;
                        c.numerator = INT32_MAX, c.exponent = 16;
                      }),
            "");
}

TEST(VerifyRows, RefusesAddressesOutsideTheirSlots) {
  for (const RowCase& c : {
           RowCase{[](RowCommand& r) { r.in.offset = Affine(4096 - 119); },
                   "rows reaches [3977, 4097) of 4096"},
           {[](RowCommand& r) { r.in.piece_stride = -1; }, "rows reaches [-1, "},
           {[](RowCommand& r) { r.out.offset = Affine(2048 - 119); },
            "output of the rows reaches [1929, 2049) of 2048"},
           {[](RowCommand& r) { r.parameter_offset.add_term(0, 1); }, "depends on loop 0"},
       })
    for (const RowOp op : {RowOp::softmax, RowOp::rms_norm})
      EXPECT_TRUE(says(bent_rows(op, c.bend), c.part));
  for (const RowCase& c : {
           RowCase{[](RowCommand& r) { r.mask->offset = Affine(4096 - 19); },
                   "mask of the rows reaches [4077, 4097) of 4096"},
           {[](RowCommand& r) { r.parameter_offset = Affine(513); },
            "tables of the softmax reaches [513, 1025) of 1024"},
       })
    EXPECT_TRUE(says(bent_rows(RowOp::softmax, c.bend), c.part));
  for (const RowCase& c : {
           RowCase{[](RowCommand& r) { r.parameter_offset = Affine(1024 - 79); },
                   "channels of the rows reaches [945, 1025) of 1024"},
           {[](RowCommand& r) { r.per_channel = 2, r.parameter_offset = Affine(1024 - 39); },
            "channels of the rows reaches [985, 1025) of 1024"},
           {[](RowCommand& r) { r.parameter_stride[2] = -1; },
            "channels of the rows reaches [-2, "},
       })
    EXPECT_TRUE(says(bent_rows(RowOp::layer_norm, c.bend), c.part));
}

TEST(VerifyRows, RefusesConstantsOutsideTheirLimits) {
  for (const RowCase& c : {
           RowCase{[](RowCommand& r) { r.rows[1] = 0; }, "a count of rows is 0"},
           {[](RowCommand& r) { r.run = 0; }, "run is 0"},
           {[](RowCommand& r) { r.pieces = 0; }, "pieces of a row is 0"},
           {[](RowCommand& r) { r.run = 65536; }, "elements of a row is 131072 of 65536"},
           {[](RowCommand& r) { r.epilogue.zero = 128; }, "zero point of the rows is 128"},
           {[](RowCommand& r) { r.epilogue.relu = true; }, "rows have no relu, table or residual"},
           {[](RowCommand& r) { r.epilogue.table = true; }, "rows have no relu, table or residual"},
           {[](RowCommand& r) { r.epilogue.residual.emplace(); },
            "rows have no relu, table or residual"},
       })
    for (const RowOp op : {RowOp::softmax, RowOp::layer_norm})
      EXPECT_TRUE(says(bent_rows(op, c.bend), c.part));
  for (const RowCase& c : {
           RowCase{[](RowCommand& r) { r.row_multiplier = 65536; }, "multiplier of the rows"},
           {[](RowCommand& r) { r.row_multiplier = -1; }, "multiplier of the rows is -1"},
           {[](RowCommand& r) { r.mask_multiplier = 65536; }, "multiplier of the mask is 65536"},
           {[](RowCommand& r) { r.mask.reset(), r.mask_multiplier = 1; },
            "multiplier of the mask is 1, outside [0, 0]"},
           {[](RowCommand& r) { r.difference_shift = 16; }, "difference shift is 16"},
           {[](RowCommand& r) { r.numerator = (1 << 30) - 1; }, "numerator is 1073741823"},
           {[](RowCommand& r) { r.exponent = 17; }, "exponent is 17"},
           {[](RowCommand& r) { r.logarithm.emplace().shift = 63; }, "logarithm's shift is 63"},
           {[](RowCommand& r) { r.logarithm.emplace().row_multiplier = -1; },
            "logarithm's multiplier of the rows is -1"},
           {[](RowCommand& r) { r.logarithm.emplace().sum_multiplier = -1; },
            "logarithm's multiplier of the sum is -1"},
           {[](RowCommand& r) { r.logarithm.emplace().addend = (int64_t{1} << 60) + 1; },
            "logarithm's addend is 1152921504606846977"},
           {[](RowCommand& r) { r.logarithm.emplace().offset = Affine(2048 - 5); },
            "logarithms of the rows reaches [2043, 2049)"},
           {[](RowCommand& r) { r.epilogue.low = -127; }, "a softmax has all of int8"},
           {[](RowCommand& r) { r.per_channel = 2; }, "softmax of runs of 10 with 2 elements"},
       })
    EXPECT_TRUE(says(bent_rows(RowOp::softmax, c.bend), c.part));
  for (const RowCase& c : {
           RowCase{[](RowCommand& r) { r.unit_bits = 26; }, "unit bits is 26, outside [27, 27]"},
           {[](RowCommand& r) { r.input_zero = -129; }, "zero point of what is normalised"},
           {[](RowCommand& r) { r.epsilon = -1; }, "epsilon is -1"},
           {[](RowCommand& r) { r.epsilon = (int64_t{1} << 62) + 1; }, "epsilon is 46116"},
           {[](RowCommand& r) { r.epilogue.low = 1, r.epilogue.high = 0; },
            "rms_norm clips to [1, 0]"},
           {[](RowCommand& r) { r.per_channel = 3; }, "rms_norm of runs of 10 with 3 elements"},
           {[](RowCommand& r) { r.per_channel = 0; }, "with 0 elements a channel"},
           {[](RowCommand& r) { r.mask.emplace(); }, "rms_norm with a mask"},
           {[](RowCommand& r) { r.logarithm.emplace(); }, "rms_norm with a logarithm"},
       })
    EXPECT_TRUE(says(bent_rows(RowOp::rms_norm, c.bend), c.part));
}

TEST(VerifyRows, KnowsTheUnitBitsOfEveryLength) {
  for (const auto& [length, bits] : {std::pair{1, 30}, std::pair{2, 29}, std::pair{4, 29},
                                     std::pair{5, 28}, std::pair{256, 26}, std::pair{257, 25}}) {
    RowCommand c = rows_of(RowOp::rms_norm);
    c.rows = {1, 1, 1, 1};
    c.pieces = length;
    c.run = 1;
    c.in.piece_stride = c.out.piece_stride = 1;
    c.unit_bits = bits;
    EXPECT_EQ(error(with_rows(c)), "") << length;
  }
}

TEST(VerifyRows, RefusesSlotsThatItDoesNotHave) {
  const RowCommand c = rows_of(RowOp::layer_norm);
  EXPECT_TRUE(says(error(with_rows(c, Buffer::activation)),
                   "layer_norm reads activation without a full slot"));
  EXPECT_TRUE(says(error(with_rows(c, Buffer::parameter)),
                   "layer_norm reads parameter without a full slot"));
  EXPECT_TRUE(
      says(error(with_rows(c, Buffer::output)), "layer_norm writes output without a free slot"));
}

TEST(VerifyRows, RefusesAMaskThroughAPortOfOneByte) {
  HwConfig hw = test::small_machine();
  hw.buffers[static_cast<size_t>(Buffer::activation)].width = 1;
  EXPECT_TRUE(says(error(with_rows(rows_of(RowOp::softmax)), hw), "through a port of one byte"));
  EXPECT_EQ(error(with_rows(rows_of(RowOp::rms_norm)), hw), "");
}

TEST(CountRows, AddsUpAllPasses) {
  const auto counts = [](const RowCommand& c) {
    return count_program(test::program({{Loop{0, "t", 7, {{Command{c}}}}}}, 1),
                         test::small_machine());
  };
  const auto bytes = [](const std::array<Bytes, kBuffers>& of, Buffer b) {
    return of[static_cast<size_t>(b)].count();
  };
  RowCommand c = rows_of(RowOp::softmax);  // 6 rows of 20
  Counts n = counts(c);
  EXPECT_EQ(bytes(n.buffer_read, Buffer::activation), 7 * 120 * 3 * 2);
  EXPECT_EQ(bytes(n.buffer_read, Buffer::parameter), 7 * 512);
  EXPECT_EQ(bytes(n.buffer_written, Buffer::output), 7 * 120);
  EXPECT_EQ(n.vector_ops[0], 7 * 120);
  EXPECT_EQ(n.vector_ops[1], 7 * 120 * 2);  // passes with exponentials
  EXPECT_EQ(n.divisions, 7 * 6);
  EXPECT_EQ(n.commands, 7);
  c.logarithm.emplace();
  n = counts(c);
  EXPECT_EQ(bytes(n.buffer_written, Buffer::output), 7 * (120 + 6));
  EXPECT_EQ(n.vector_ops[1], 7 * 120 * 2);
  EXPECT_EQ(n.divisions, 7 * 6 * 2);  // a logarithm, too
  c = rows_of(RowOp::layer_norm);
  c.per_channel = 5;
  n = counts(c);
  EXPECT_EQ(bytes(n.buffer_read, Buffer::activation), 7 * 120 * 2);
  EXPECT_EQ(bytes(n.buffer_read, Buffer::parameter), 7 * 120 / 5 * 8);
  EXPECT_EQ(n.vector_ops[0], 7 * 120 * 2);
  EXPECT_EQ(n.vector_ops[1], 0);
  EXPECT_EQ(n.divisions, 7 * 6 * 2);  // and a root
}

TEST(PrintRows, ShowsAllOfACommand) {
  RowCommand c = rows_of(RowOp::softmax);
  c.row_multiplier = 3, c.mask_multiplier = 4, c.difference_shift = 5, c.exponent = 6;
  c.parameter_offset = Affine(77);
  EXPECT_TRUE(says(program_text(with_rows(c)),
                   "vector  softmax output[0] strides 60,0,20,0,10 <- activation[0] strides "
                   "60,0,20,0,10 and mask activation[200] strides 0,0,0,0,10, rows 2x1x3x1 of 2x10 "
                   "elements, parameters[77] * 3 + mask * 4, / 2^5, numerator 1073741824 exponent "
                   "6, zero 0\n"));
  c.logarithm = {
      .offset = Affine(99), .row_multiplier = 11, .sum_multiplier = 12, .shift = 13, .addend = -14};
  EXPECT_TRUE(says(program_text(with_rows(c)),
                   "exponent 6, zero 0, logarithms output[99] <- (rows * 11 + log2 * 12 + -14) / "
                   "2^13\n"));
  c = rows_of(RowOp::rms_norm);
  c.parameter_stride = {9, 8, 7, 6}, c.per_channel = 5, c.input_zero = 4, c.epsilon = 3;
  c.epilogue.zero = 2, c.epilogue.low = -1, c.epilogue.high = 11;
  EXPECT_TRUE(says(program_text(with_rows(c)),
                   "of 2x10 elements, parameters[0] strides 9,8,7,6 of 5 elements a channel, (zero "
                   "4) epsilon 3, 27 unit bits, zero 2 in [-1, 11]\n"));
}

// ---- time ---------------------------------------------------------------------------------------

/// On lanes, and ports as wide; so many of them have exponentials, 0: all.
int64_t time_on(const RowCommand& c, int64_t lanes, int64_t special = 0) {
  HwConfig hw = test::small_machine();
  for (BufferConfig& b : hw.buffers) b.width = lanes;
  hw.vector.lanes[0] = lanes;
  hw.vector.lanes[1] = special > 0 ? special : lanes;
  return contract::row_cycles(c, hw);
}
/// Rows of one run.
int64_t row_time(RowOp op, int64_t rows, int64_t run, int64_t lanes, bool mask = false,
                 int64_t per_channel = 1) {
  RowCommand c;
  c.op = op;
  c.rows[1] = rows;
  c.run = run;
  c.per_channel = per_channel;
  if (mask) c.mask.emplace();
  return time_on(c, lanes);
}
int64_t logarithm_time(int64_t rows, int64_t run, int64_t lanes) {
  RowCommand c;
  c.rows[1] = rows;
  c.run = run;
  c.logarithm.emplace();
  return time_on(c, lanes);
}

TEST(RowTime, IsWhatTheContractsExamplesSay) {
  struct Example {
    int64_t run, special, norm, softmax;  // cycles of a row in the middle of many
  };
  for (const auto& [run, special, norm, softmax] :
       {Example{768, 16, 24, 108}, {768, 1, 24, 1548}, {16, 4, 4, 9}, {16, 1, 16, 33}}) {
    const auto twenty_four = [&](RowOp op) {
      RowCommand c;
      c.op = op, c.run = run, c.rows[1] = 72;
      const int64_t more = time_on(c, 64, special);
      c.rows[1] = 48;
      return more - time_on(c, 64, special);
    };
    EXPECT_EQ(twenty_four(RowOp::layer_norm), 24 * norm) << run << " " << special;
    EXPECT_EQ(twenty_four(RowOp::softmax), 24 * softmax) << run << " " << special;
  }
  EXPECT_EQ(row_time(RowOp::softmax, 1, 128, 64), 96);
  EXPECT_EQ(row_time(RowOp::layer_norm, 1, 128, 64), 80);
  for (const int64_t rows : {48, 960}) {
    const auto each = [&](RowOp op) {
      return row_time(op, rows + 1, 768, 64) - row_time(op, rows, 768, 64);
    };
    EXPECT_EQ(each(RowOp::softmax), 36);
    EXPECT_EQ(each(RowOp::rms_norm), 24);
    // Of one beat each, six and eight to a step.
    EXPECT_EQ(row_time(RowOp::softmax, rows + 24, 16, 64) - row_time(RowOp::softmax, rows, 16, 64),
              24 * 3);
    EXPECT_EQ(
        row_time(RowOp::rms_norm, rows + 24, 16, 64) - row_time(RowOp::rms_norm, rows, 16, 64),
        24 * 2);
  }
}

/// Cycles of rows whose passes have so many beats and are so many steps behind the first, with so
/// many lanes for roots and reciprocals.
int64_t sum_of_steps(int64_t rows, const std::vector<std::pair<int64_t, int64_t>>& passes,
                     int64_t special = 8) {
  int64_t all = 0, behind = 0;  // beats of a row, steps
  for (const auto& [beats, step] : passes) {
    all += beats;
    behind = std::max(behind, step);
  }
  const int64_t group = std::min((16 + all - 1) / all, special);
  int64_t cycles = 0;
  for (int64_t t = 0; (t - behind) * group < rows; ++t) {
    int64_t in_step = 0;
    for (const auto& [beats, step] : passes)
      for (int64_t row = (t - step) * group; row < (t - step + 1) * group; ++row)
        in_step += row >= 0 && row < rows ? beats : 0;
    cycles += std::max<int64_t>(16, in_step);
  }
  return cycles;
}

/// Step by step, as section "Row commands" of rtl/README.md has it.
TEST(RowTime, IsTheSumOfItsSteps) {
  for (int64_t rows = 1; rows < 20; ++rows)
    for (const int64_t b : {1, 2, 3, 4, 5, 6, 7, 8, 16, 17, 40}) {
      const int64_t run = b * 8 - 3;
      EXPECT_EQ(row_time(RowOp::softmax, rows, run, 8),
                sum_of_steps(rows, {{b, 0}, {b, 2}, {b, 5}}))
          << rows << " " << b;
      EXPECT_EQ(logarithm_time(rows, run, 8), sum_of_steps(rows, {{b, 0}, {b, 2}, {b + 1, 5}}))
          << rows << " " << b;
      EXPECT_EQ(row_time(RowOp::layer_norm, rows, run, 8), sum_of_steps(rows, {{b, 0}, {b, 4}}))
          << rows << " " << b;
    }
}

/// A softmax' maxima take all lanes, what needs exponentials those that have them. Each row of a
/// step has a lane for its root, and its reciprocal.
TEST(RowTime, WhatIsSpecialHasLanesOfItsOwn) {
  for (const int64_t special : {1, 2, 3, 4, 5, 7, 8, 9, 64})
    for (const int64_t run : {1, 5, 8, 21, 160}) {
      const int64_t first = ceil_div(run, 8), late = ceil_div(run, std::min<int64_t>(8, special));
      RowCommand c;
      c.rows[1] = 11;
      c.run = run;
      EXPECT_EQ(time_on(c, 8, special),
                sum_of_steps(11, {{first, 0}, {late, 2}, {late, 5}}, special))
          << special << " " << run;
      c.logarithm.emplace();
      EXPECT_EQ(time_on(c, 8, special),
                sum_of_steps(11, {{first, 0}, {late, 2}, {late + 1, 5}}, special))
          << special << " " << run;
      c.logarithm.reset();
      c.op = RowOp::layer_norm;
      EXPECT_EQ(time_on(c, 8, special), sum_of_steps(11, {{first, 0}, {first, 4}}, special))
          << special << " " << run;
    }
}

TEST(RowTime, AreBeatsOfOneStretchAndHalfAPortWithAMask) {
  EXPECT_EQ(row_time(RowOp::softmax, 1, 160, 8, true), 3 * 40 + 3 * 16);
  EXPECT_EQ(row_time(RowOp::softmax, 1, 160, 8), 3 * 20 + 3 * 16);
  // Channels of 10 elements take two beats each.
  EXPECT_EQ(row_time(RowOp::rms_norm, 1, 160, 8, false, 10), 2 * 32 + 3 * 16);
}

}  // namespace
}  // namespace accsim::hw
