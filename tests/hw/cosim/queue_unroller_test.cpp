#include "hw/cosim/queue_unroller.h"

#include <gtest/gtest.h>

#include "hw/cosim/rtl_layout.h"
#include "tests/support/machines.h"
#include "tests/support/programs.h"

namespace accsim::hw {
namespace {

constexpr uint32_t kWait = 1, kSignal = 2;

const HwConfig kMachine = test::small_machine();

LoadCommand load(Affine source) {
  LoadCommand c;
  c.source = std::move(source);
  c.walk = {{{2, 100}}, 8};
  return c;
}

using test::sync;

/// for i < 2 { wait; load; for j < 3 { load }; signal; store }
Program nest() {
  Program p;
  p.name = "nest";
  p.loops = 2;
  p.tensors = {{"a", MemoryId::dram, 10000}};
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
  const TokenOrder order(p, kMachine);
  const ChannelOrder channels(p);
  QueueUnroller cursor(p, kMachine, order, channels, Queue::load);
  for (int64_t i = 0; i < 2; ++i)
    for (int64_t j = -1; j < 3; ++j) {
      const auto next = cursor.next();
      ASSERT_TRUE(next.ok());
      ASSERT_TRUE(next->has_value());
      const QueueUnroller::Entry& e = **next;
      EXPECT_EQ(e.ordinal, i * 4 + j + 1);
      EXPECT_EQ(e.indices, (std::vector<int64_t>{i, j}));
      EXPECT_EQ(e.descriptor.words[0] & 3, (j < 0 ? kWait : 0) | (j == 2 ? kSignal : 0));
      EXPECT_EQ(e.descriptor.words[rtl::dma_cmd::kAddrLo], j < 0 ? 7 : 5 + 1000 * i + 10 * j);
    }
  const auto end = cursor.next();
  ASSERT_TRUE(end.ok());
  EXPECT_FALSE(end->has_value());
}

TEST(QueueUnroller, DoesAPlaceNameTheLoopsAndTheLayer) {
  Program p = nest();
  EXPECT_EQ(place_of_command(p, kMachine, Queue::load, 6).text, "load command 6 at i=1 j=1");
  EXPECT_EQ(place_of_command(p, kMachine, Queue::store, 1).text, "store command 1 at i=1");
  EXPECT_EQ(place_of_command(p, kMachine, Queue::store, 1).layer, "");
  p.body.insert(p.body.begin(), {LayerHead{"fc"}});
  EXPECT_EQ(place_of_command(p, kMachine, Queue::store, 1).text,
            "store command 1 of layer 'fc' at i=1");
  EXPECT_EQ(place_of_command(p, kMachine, Queue::store, 1).layer, "fc");
}

TEST(QueueUnroller, IsASignalWithoutACommandAnError) {
  Program p = nest();
  p.body.insert(p.body.begin(), sync(SyncKind::signal_full, Queue::load, Buffer::weight));
  const TokenOrder order(p, kMachine);
  const ChannelOrder channels(p);
  const auto next = QueueUnroller(p, kMachine, order, channels, Queue::load).next();
  ASSERT_FALSE(next.ok());
  EXPECT_EQ(next.errors()[0].code, Errc::invalid);
}

/// Word 0 of the commands of a queue.
std::vector<uint32_t> flags(const Program& p, const HwConfig& hw, Queue q) {
  const TokenOrder order(p, hw);
  const ChannelOrder channels(p);
  QueueUnroller cursor(p, hw, order, channels, q);
  std::vector<uint32_t> out;
  for (;;) {
    const auto next = cursor.next();
    EXPECT_TRUE(next.ok());
    if (!next || !*next) return out;
    out.push_back((*next)->descriptor.words[0]);
  }
}

Item lane_item() {
  LaneCommand c;
  c.run = 8;
  return {Command{c}};
}

/// A tile of the vector queue, one of the execute queue and two more of the vector queue, on two
/// slots: what the last tiles give back nobody takes.
TEST(QueueUnroller, DoFlagsNameTheOtherQueueAndTheSlot) {
  constexpr Buffer a = Buffer::activation, o = Buffer::output;
  HwConfig hw = kMachine;
  for (BufferConfig& b : hw.buffers) b.slots = 2;
  std::vector<Item> body;
  const auto vector_tile = [&] {
    test::append(body, test::fill(a, 8));
    test::append(
        body,
        {sync(SyncKind::wait_full, Queue::vector, a), sync(SyncKind::wait_free, Queue::vector, o),
         lane_item(), sync(SyncKind::signal_free, Queue::vector, a),
         sync(SyncKind::signal_full, Queue::vector, o), sync(SyncKind::wait_full, Queue::store, o),
         test::store(8), sync(SyncKind::signal_free, Queue::store, o)});
  };
  vector_tile();
  test::append(body, test::tile(8, 8, 8));
  for (Item& item : body)  // channels have parameters, as the core wants it
    if (auto* c = std::get_if<Command>(&item.node); c && std::holds_alternative<PostCommand>(*c))
      std::get<PostCommand>(*c).has_parameters = true;
  vector_tile();
  vector_tile();
  const Program p = test::program(body);
  // Bits of the flags in rtl/accsim_pkg.sv. Load: 0 waits, 1 signals, 3.. buffer, 5.. who gives
  // the token (0 a first slot, 1 the main reader, 2 vector), 7.. who takes it (1 vector), 9.. slot
  // of outputs.
  const auto load = [](uint32_t buffer, uint32_t from, uint32_t to) {
    return 3u | buffer << 3 | from << 5 | to << 7;
  };
  EXPECT_EQ(flags(p, hw, Queue::load),
            (std::vector<uint32_t>{load(0, 0, 1), load(1, 0, 0), load(0, 0, 0), load(0, 2, 1),
                                   load(0, 1, 1)}));
  // Vector: 0 and 3 activation, 1 and 4 output, 6 a first slot, 8.. and 24.. their slots.
  const auto vector = [](uint32_t slot, uint32_t out, bool first) {
    return 0b011011u | (first ? 1u << 6 : 0) | slot << 8 | out << 24;
  };
  EXPECT_EQ(flags(p, hw, Queue::vector),
            (std::vector<uint32_t>{vector(0, 0, true), vector(0, 0, false), vector(1, 1, false)}));
  // Execute: 0 and 3 activation, 1 and 4 weight, 2 and 5 accumulator, 6 overwrites, 9.. slot.
  EXPECT_EQ(flags(p, hw, Queue::execute), (std::vector<uint32_t>{0b1111111u | 1u << 9}));
  // Post: 0 and 3 accumulator, 1 and 4 output, 7 a first slot, 17.. slot of outputs.
  EXPECT_EQ(flags(p, hw, Queue::post), (std::vector<uint32_t>{0b010011011u | 1u << 17}));
  // Store: who fills the slot and who claims it behind: 0 load, 1 post, 2 vector.
  const auto store = [](uint32_t from, uint32_t to) { return 3u | from << 5 | to << 7; };
  EXPECT_EQ(flags(p, hw, Queue::store),
            (std::vector<uint32_t>{store(2, 2), store(1, 2), store(2, 0), store(2, 0)}));
}

TEST(QueueUnroller, DoPrimedSlotsGoFromLoadToPost) {
  constexpr Buffer o = Buffer::output;
  HwConfig hw = kMachine;
  for (BufferConfig& b : hw.buffers) b.slots = 3;
  const auto load = [](SyncKind handed_on) {
    return std::vector<Item>{sync(SyncKind::wait_free, Queue::load, o), test::load(o, 8),
                             sync(handed_on, Queue::load, o)};
  };
  const auto stored = [] {
    return std::vector<Item>{sync(SyncKind::wait_full, Queue::store, o), test::store(8),
                             sync(SyncKind::signal_free, Queue::store, o)};
  };
  const auto post = [] {
    PostCommand c;
    c.rows = c.cols = c.pitch = 1;
    c.has_parameters = true;
    c.epilogue.residual.emplace();
    return std::vector<Item>{sync(SyncKind::wait_primed, Queue::post, o),
                             {Command{c}},
                             sync(SyncKind::signal_full, Queue::post, o)};
  };
  std::vector<Item> body = load(SyncKind::signal_full);
  test::append(body, stored());
  for (int i = 0; i < 2; ++i) test::append(body, load(SyncKind::signal_primed));
  for (int i = 0; i < 2; ++i) {
    test::append(body, post());
    test::append(body, stored());
  }
  const Program p = test::program(body);
  // Outputs are buffer 3 of loads; a primed token goes to "the other" queue of those that take it.
  EXPECT_EQ(flags(p, hw, Queue::load),
            (std::vector<uint32_t>{3u | 3u << 3, 3u | 3u << 3 | 1u << 7 | 1u << 9,
                                   3u | 3u << 3 | 1u << 7 | 2u << 9}));
  // A primed slot (bit 8) is not claimed (bit 1); bit 27: the residual.
  EXPECT_EQ(flags(p, hw, Queue::post),
            (std::vector<uint32_t>{1u << 4 | 1u << 8 | 1u << 17 | 1u << 27,
                                   1u << 4 | 1u << 8 | 2u << 17 | 1u << 27}));
  EXPECT_EQ(flags(p, hw, Queue::store), (std::vector<uint32_t>{3u, 3u | 1u << 5, 3u | 1u << 5}));
}

TEST(Descriptor, AreTheFlagsOfBuffersApart) {
  // Word 0 of the structs in rtl/accsim_pkg.sv.
  Descriptor gemm, post, vector;
  gemm.add_token_wait(rtl::kGemm, {SyncKind::wait_full, Buffer::weight, Queue::load});
  gemm.add_token_signal(rtl::kGemm, {SyncKind::signal_full, Buffer::accumulator, Queue::post});
  EXPECT_EQ(gemm.words[0], 0b100010u);
  post.add_token_wait(rtl::kPost, {SyncKind::wait_full, Buffer::accumulator, Queue::execute});
  post.add_token_signal(rtl::kPost, {SyncKind::signal_full, Buffer::output, Queue::store});
  EXPECT_EQ(post.words[0], 0b010001u);
  vector.add_token_wait(rtl::kVector, {SyncKind::wait_full, Buffer::parameter, Queue::load});
  vector.add_token_signal(rtl::kVector, {SyncKind::signal_free, Buffer::activation, Queue::load});
  EXPECT_EQ(vector.words[0], 0b001100u);
}

TEST(Descriptor, HasALaneCommandItsWords) {
  LaneCommand c;
  c.op = LaneOp::max;
  c.rows = {2, 3, 4, 5};
  c.run = 21;
  c.tap_op = TapOp::max;
  c.taps = {6, 7};
  c.tap_stride = {-8, 9};
  c.a.offset = Affine(10);
  c.a.offset.add_term(0, 100);
  c.a.row_stride = {11, 12, -13, 14};
  c.a.zero = -15;
  c.a.multiplier = -16;
  c.b.emplace();
  c.b->buffer = Buffer::parameter;
  c.b->offset = Affine(17);
  c.b->row_stride = {18, 19, 20, -21};
  c.b->zero = 22;
  c.b->multiplier = 23;
  c.slot_offset = Affine(24);
  c.out_stride = {25, 26, 27, 28};
  c.shift = 29;
  c.epilogue.zero = -30;
  c.epilogue.low = -31;
  c.epilogue.high = 32;
  c.epilogue.table = true;
  const Program p = test::program({}, 1);
  const std::array<int64_t, 1> indices = {3};
  const auto d = describe_command(p, kMachine, Command{c}, indices);
  ASSERT_TRUE(d.ok());
  // vector_cmd_t from the end: flags, mode, beats of 8 lanes, then counts and strides, innermost
  // first. mode: max, max of the taps, b is there, in the parameter slot, with a table.
  std::vector<int64_t> words = {0, 5 | 2 << 3 | 1 << 5 | 1 << 6 | 1 << 9, 8, 3, 5, 7, 6};
  for (const int64_t w :
       {5, 4, 3, 2, 310, 9, -8, 14, -13, 12, 11, 17, -21, 20, 19, 18, 24, 28, 27, 26, 25})
    words.push_back(w);
  words.push_back((-16 & 0xffff) | 23 << 16);
  words.push_back((-15 & 0xff) | 22 << 8 | (-30 & 0xffff) * (int64_t{1} << 16));
  words.push_back((-31 & 0xff) | 32 << 8 | 29 << 16);
  for (size_t i = 0; i < words.size(); ++i)
    EXPECT_EQ(d->words[i], static_cast<uint32_t>(words[i])) << i;
  // A splat of activations, across; any other op.
  c.b->buffer = Buffer::activation;
  c.b->splat = c.across = true;
  c.op = LaneOp::copy;
  EXPECT_EQ(describe_command(p, kMachine, Command{c}, indices)->words[1],
            0u | 2u << 3 | 1u << 5 | 1u << 7 | 1u << 8 | 1u << 9);
}

TEST(Descriptor, HasAMacItsWordsBehindThoseOfOtherLaneCommands) {
  HwConfig hw = kMachine;
  hw.vector.mac_lanes = 6;
  LaneCommand c;
  c.op = LaneOp::mac;
  c.run = 13;
  c.taps = {3, 2};
  c.b.emplace().buffer = Buffer::parameter;
  c.weight_stride = {-70, 71};
  c.channel_offset = Affine(72);
  c.channel_offset.add_term(0, 100);
  const Program p = test::program({}, 1);
  const std::array<int64_t, 1> indices = {3};
  const auto d = describe_command(p, hw, Command{c}, indices);
  ASSERT_TRUE(d.ok());
  // mode: mac, sum of the taps, b is there, in the parameter slot; beats of 6 lanes.
  EXPECT_EQ(d->words[1], 6u | 1u << 5 | 1u << 6);
  EXPECT_EQ(d->words[2], 6u);
  EXPECT_EQ(d->words[3], 3u);
  EXPECT_EQ(d->words[4], 1u);
  EXPECT_EQ(d->words[31], 71u);
  EXPECT_EQ(d->words[32], static_cast<uint32_t>(-70));
  EXPECT_EQ(d->words[33], 372u);
}

TEST(Descriptor, HasARowCommandAllItsWords) {
  RowCommand c;
  c.op = RowOp::layer_norm;
  c.rows = {2, 3, 4, 5};
  c.pieces = 6;
  c.run = 60;
  c.per_channel = 20;
  c.in = {Affine(100), {-11, 12, 13, 14}, -15};
  c.in.offset.add_term(0, 7);
  c.out = {Affine(200), {21, 22, 23, 24}, 25};
  c.parameter_offset = Affine(300);
  c.parameter_stride = {31, -32, 33, 34};
  c.input_zero = -41;
  c.epilogue.zero = 42;
  c.epilogue.low = -43;
  c.epilogue.high = 44;
  c.unit_bits = 25;
  c.epsilon = (int64_t{7} << 32) + 9;
  const Program p = test::program({}, 1);
  const std::array<int64_t, 1> indices = {3};
  const auto d = describe_command(p, kMachine, Command{c}, indices);
  ASSERT_TRUE(d.ok());
  // row_cmd_t from the end: flags, mode (rows, norm, centred, one channel a beat), beats of 8 lanes
  // in a stretch, scheduled and pieces, counts and strides, innermost first.
  std::vector<int64_t> words = {0, 1 << 11 | 1 << 12 | 1 << 13 | 1 << 14, 8, 3, 4, 3, 6};
  for (const int64_t w : {5,  4,  3,  2,  20,  121, -15, 14, 13, 12,  -11, 200, 25,
                          24, 23, 22, 21, 300, 0,   0,   34, 33, -32, 31,  1})
    words.push_back(w);
  words.push_back((-41 & 0xff) | 42 << 8 | (-43 & 0xff) << 16 | int64_t{44} << 24);
  words.push_back(25 << 16 | 1 << 24);  // a row in a step
  words.insert(words.end(), {9, 7, 360});
  words.insert(words.end(), 6, 0);  // no logarithm
  ASSERT_EQ(words.size(), 43U);
  for (size_t i = 0; i < words.size(); ++i)
    EXPECT_EQ(d->words[i], static_cast<uint32_t>(words[i])) << i;

  c.op = RowOp::softmax;
  c.per_channel = 1;
  c.mask = RowOperand{Affine(400), {51, 52, 53, 54}, 55};
  c.row_multiplier = 0xfffe;
  c.mask_multiplier = 61;
  c.difference_shift = 12;
  c.exponent = 13;
  c.numerator = (1 << 30) + 5;
  const auto soft = describe_command(p, kMachine, Command{c}, indices);
  ASSERT_TRUE(soft.ok());
  EXPECT_EQ(soft->words[1], 1U << 11 | 1U << 15);
  // 16 bytes of the port for two operands are 8 lanes again; a stretch is the run.
  EXPECT_EQ(soft->words[2], 8U);
  EXPECT_EQ(soft->words[3], 8U);
  EXPECT_EQ(soft->words[5], 1U);
  EXPECT_EQ(soft->words[11], 60U);
  for (const auto& [at, value] : {std::pair<size_t, uint32_t>{25, 400},
                                  {26, 55},
                                  {27, 54},
                                  {30, 51},
                                  {31, 61U << 16 | 0xfffe},
                                  {33, 12 | 13 << 8 | 25 << 16 | 1U << 24},
                                  {34, (1U << 30) + 5},
                                  {35, 0}})
    EXPECT_EQ(soft->words[at], value) << at;

  c.logarithm = {Affine(500), 71, 72, 33, -(int64_t{3} << 32)};
  const auto logarithm = describe_command(p, kMachine, Command{c}, indices);
  ASSERT_TRUE(logarithm.ok());
  EXPECT_EQ(logarithm->words[1], 1U << 11 | 1U << 15 | 1U << 22);
  for (const auto& [at, value] : {std::pair<size_t, uint32_t>{37, 500},
                                  {38, 71},
                                  {39, 72},
                                  {40, 33},
                                  {41, 0},
                                  {42, static_cast<uint32_t>(-3)}})
    EXPECT_EQ(logarithm->words[at], value) << at;
  c.logarithm.reset();

  // Of a beat each: six to a step of 16 cycles, three passes over each.
  c.pieces = 1;
  c.run = 8;
  const auto small = describe_command(p, kMachine, Command{c}, indices);
  ASSERT_TRUE(small.ok());
  EXPECT_EQ(small->words[33] >> 24, 6U);
}

TEST(Descriptor, HasATableItsOffset) {
  const Program p;
  const auto post =
      describe_command(p, kMachine, Command{SetTableCommand{Queue::post, Affine(12)}}, {});
  const auto vector =
      describe_command(p, kMachine, Command{SetTableCommand{Queue::vector, Affine(24)}}, {});
  ASSERT_TRUE(post.ok() && vector.ok());
  EXPECT_EQ(post->words[0], 1u << 25);
  EXPECT_EQ(post->words[4], 12u);
  EXPECT_EQ(vector->words[1], 1u << 10);
  EXPECT_EQ(vector->words[18], 24u);
}

TEST(Descriptor, HasAPostItsTableAndResidual) {
  PostCommand c;
  c.rows = c.cols = 1;
  c.has_parameters = c.epilogue.table = true;
  c.epilogue.residual = Residual{-3, -4, 5, -6, 7};
  const auto d = describe_command(Program{}, kMachine, Command{c}, {});
  ASSERT_TRUE(d.ok());
  EXPECT_EQ(d->words[0], 1u << 26 | 1u << 27);
  EXPECT_EQ(d->words[10], 0xfffc05fdu);  // multiplier, shift, zero
  EXPECT_EQ(d->words[11], 0x000007fau);  // limits of the sum
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
  const Result<Descriptor> d = describe_command(p, kMachine, Command{c}, {});
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
  EXPECT_EQ(describe_command(p, kMachine, Command{c}, {}).errors()[0].code, Errc::unsupported);
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
  const Result<Descriptor> d = describe_command(Program{}, kMachine, Command{c}, second);
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

TEST(Descriptor, DoPackedGroupsSayWhereTheFirstRowLies) {
  // Three groups of 4 x 2 from row 18 on: 12 + 4 + 2, so row 2 of group 1 in the second round.
  GemmCommand c;
  c.m = 1, c.k = 6, c.n = 6;
  c.window.tile = {1, 1, 1};
  c.window.pixel = c.window.line = 6;
  c.weights = {.offset = 100, .pitch = 8, .groups = 3, .group_k = 4, .group_n = 2, .first_k = 18};
  Program p;
  const auto words = [&](Dataflow d) {
    p.dataflow = d;
    const Result<Descriptor> described = describe_command(p, kMachine, Command{c}, {});
    EXPECT_TRUE(described.ok());
    const auto blocks = described->words.begin() + rtl::gemm_cmd::kBlocks;
    std::vector<uint32_t> out = {described->words[rtl::gemm_cmd::kWeightOffset]};
    out.insert(out.end(), blocks, blocks + rtl::blocks::kWords);
    return out;
  };
  // Weight offset; groups, rows and columns of a block; group and row in it; rows of the round
  // before it. Input stationary rows have 4 bytes a round.
  EXPECT_EQ(words(Dataflow::weight_stationary), (std::vector<uint32_t>{100, 3, 4, 2, 1, 2, 0}));
  EXPECT_EQ(words(Dataflow::input_stationary), (std::vector<uint32_t>{104, 3, 4, 2, 1, 2, 6}));
  c.weights.groups = 1;
  EXPECT_EQ(words(Dataflow::input_stationary), (std::vector<uint32_t>{100, 0, 0, 0, 0, 0, 0}));
}

TEST(Descriptor, IsWhatTheCoreCannotDoRefused) {
  const Program p = nest();
  LoadCommand padded = load(0);
  padded.padded.emplace();
  LoadCommand deep = load(0);
  deep.walk.levels.assign(7, {2, 1});
  LoadCommand sums = load(0);
  sums.buffer = Buffer::accumulator;
  LoadCommand wide = load(0);  // elements of two bytes
  wide.walk = {{{4, 8}}, 8};
  wide.transposed = 2;
  for (const Command& c :
       {Command{padded}, Command{deep}, Command{sums}, Command{wide}, Command{VectorCommand{}},
        Command{PostCommand{}}, Command{DrainCommand{}}}) {
    const auto d = describe_command(p, kMachine, c, {});
    ASSERT_FALSE(d.ok());
    EXPECT_EQ(d.errors()[0].code, Errc::unsupported);
  }
}

TEST(Descriptor, IsAValueThatItsFieldHasNoRoomForNamed) {
  Program p = nest();
  p.tensors.assign(2, {"t", MemoryId::dram, 1 << 20});
  const auto said = [&](const Command& c) {
    const auto d = describe_command(p, kMachine, c, {});
    if (d.ok()) return std::string();
    EXPECT_EQ(d.errors()[0].code, Errc::unsupported);
    return d.errors()[0].message;
  };
  const auto starts = [](const std::string& text, const std::string& part) {
    return text.substr(0, part.size()) == part;
  };
  constexpr int64_t kWord = int64_t{1} << 32, kHalf = int64_t{1} << 31;
  LoadCommand one = load(0);
  const auto bent = [&](const Walk& walk) {
    LoadCommand c = one;
    c.walk = walk;
    return said({c});
  };
  EXPECT_EQ(bent({{{2, kHalf - 1}, {2, -kHalf}}, 4}), "");
  EXPECT_PRED2(starts, bent({{{2, kHalf}}, 4}), "stride of a load is 2147483648;");
  EXPECT_PRED2(starts, bent({{{2, -kHalf - 1}}, 4}), "stride of a load is -2147483649;");
  EXPECT_EQ(bent({{{1, kWord}}, 4}), "");
  EXPECT_PRED2(starts, bent({{{kWord, 0}}, 4}), "count of a load is 4294967296;");
  EXPECT_PRED2(starts, bent({{}, kWord}), "run of a load is 4294967296;");
  p.tensors[0].bytes = (int64_t{1} << 40) + 1;
  EXPECT_PRED2(starts, said({one}), "bytes of a tensor of a load is 1099511627777;");
  p.tensors.assign(16385, {"t", MemoryId::dram, 1 << 20});
  one.tensor = 16383;
  EXPECT_EQ(said({one}), "");
  one.tensor = 16384;
  EXPECT_PRED2(starts, said({one}), "tensor of a load is 16384;");
  one.tensor = 0;
  one.gather = Gather{0, kWord, 1};
  one.walk = {{{2, 0}}, 4};
  EXPECT_PRED2(starts, said({one}), "pitch of a load is 4294967296;");

  LaneCommand lanes;
  lanes.rows[0] = 2;
  lanes.run = 4;
  lanes.a.row_stride[0] = kHalf;
  EXPECT_PRED2(starts, said({lanes}), "stride of a lane command is 2147483648;");
  lanes.a.row_stride[0] = 0;
  lanes.a.multiplier = 32768;
  EXPECT_PRED2(starts, said({lanes}), "multiplier of a lane command is 32768;");
  PostCommand post;
  post.rows = post.cols = 1;
  post.has_parameters = true;
  EXPECT_EQ(said({post}), "");
  post.pitch = -1;
  EXPECT_PRED2(starts, said({post}), "pitch of a post is -1;");
  GemmCommand gemm;
  gemm.m = gemm.k = gemm.n = 1;
  gemm.window.pixel = gemm.window.line = 1;
  EXPECT_EQ(said({gemm}), "");
  gemm.window.origin[1] = kHalf;
  EXPECT_PRED2(starts, said({gemm}), "first line of a gemm is 2147483648;");
}

}  // namespace
}  // namespace accsim::hw
