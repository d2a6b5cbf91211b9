#include "hw/golden/golden.h"

#include <gtest/gtest.h>

#include "tests/hw/golden/tiny_program.h"

namespace accsim::hw {
namespace {

using test::signed_values;
using test::TinyProgram;

/// The outputs of a program that must run.
std::vector<int> outputs(const Program& program, MemoryImage image,
                         const HwConfig& hw = test::small_machine()) {
  const Status s = run_golden(program, hw, image);
  EXPECT_TRUE(s.ok()) << s.errors().front().text();
  return signed_values(image[2]);
}

Error error_of(const Program& program, MemoryImage image,
               const HwConfig& hw = test::small_machine()) {
  const Status s = run_golden(program, hw, image);
  EXPECT_FALSE(s.ok());
  return s.ok() ? Error{} : s.errors().front();
}

size_t find(const Program& p, SyncKind kind, Buffer b) {
  for (size_t i = 0; i < p.body.size(); ++i) {
    const auto* sync = std::get_if<Sync>(&p.body[i].node);
    if (sync && sync->kind == kind && sync->buffer == b) return i;
  }
  ADD_FAILURE() << "no such token operation";
  return 0;
}

void erase(Program& p, SyncKind kind, Buffer b) {
  p.body.erase(p.body.begin() + static_cast<ptrdiff_t>(find(p, kind, b)));
}

// [1 2 3] [ 1 -1]   [22 -28]
// [4 5 6] [ 3  0] = [49 -58]
//         [ 5 -9]
const std::vector<int> kA = {1, 2, 3, 4, 5, 6}, kW = {1, -1, 3, 0, 5, -9};
const std::vector<int> kTurnedW = {1, 3, 5, -1, 0, -9};
const std::vector<int> kProduct = {22, -28, 49, -58};

TEST(Golden, DoAllDataflowsComputeAProduct) {
  for (const Dataflow d : {Dataflow::weight_stationary, Dataflow::output_stationary}) {
    const TinyProgram tiny(2, 3, 2, d);
    ASSERT_TRUE(verify(tiny.program(), test::small_machine()).ok());
    EXPECT_EQ(outputs(tiny.program(), tiny.image(kA, kW)), kProduct);
  }
  const TinyProgram turned(2, 3, 2, Dataflow::input_stationary);
  ASSERT_TRUE(verify(turned.program(), test::small_machine()).ok());
  EXPECT_EQ(outputs(turned.program(), turned.image(kA, kTurnedW)), kProduct);
}

// Two groups of 2 x 1, rows 3 to 5 of the diagonal: the last of group 1, then group 0 of the next
// round.
// [1 2 3] [0 7]   [ 8  7]
// [4 5 6] [1 0] = [17 28]
//         [2 0]
TEST(Golden, DoTransposedLoadsTurnTheirMatrices) {
  // A as [k][m]; B, where its columns stay, as [k][n].
  TinyProgram tiny(2, 3, 2, Dataflow::input_stationary);
  tiny.load_a.walk = {{{3, 2}}, 2};
  tiny.load_w.walk = {{{3, 2}}, 2};
  tiny.load_a.transposed = tiny.load_w.transposed = 1;
  ASSERT_TRUE(verify(tiny.program(), test::small_machine()).ok());
  EXPECT_EQ(outputs(tiny.program(), tiny.image({1, 4, 2, 5, 3, 6}, kW)), kProduct);
}

TEST(Golden, AreElementsAndMatricesOfATransposedLoadKept) {
  // Two matrices of 2 x 3 elements of two bytes, the second in front; the product copies the slot.
  TinyProgram tiny(24, 1, 1);
  tiny.load_a.source = Affine(12);
  tiny.load_a.walk = {{{2, -12}, {2, 6}}, 6};
  tiny.load_a.transposed = 2;
  std::vector<int> memory, slot;
  for (int i = 0; i < 24; ++i) memory.push_back(i);
  for (const int matrix : {12, 0})
    for (int column = 0; column < 3; ++column)
      for (int row = 0; row < 2; ++row)
        for (int byte = 0; byte < 2; ++byte) slot.push_back(matrix + row * 6 + column * 2 + byte);
  EXPECT_EQ(outputs(tiny.program(), tiny.image(memory, {1})), slot);
  tiny.load_a.walk.run = 5;
  EXPECT_EQ(error_of(tiny.program(), tiny.image(memory, {1})).code, Errc::invalid);
}

TEST(Golden, AreTheZerosOfPackedGroupsNotInTheSlot) {
  for (const Dataflow d :
       {Dataflow::weight_stationary, Dataflow::input_stationary, Dataflow::output_stationary}) {
    const bool turned = d == Dataflow::input_stationary;
    TinyProgram tiny(2, 3, 2, d);
    // A byte for every k; turned, of both columns both rounds, 99 where no row is.
    const std::vector<int> w =
        turned ? std::vector{99, 99, 1, 2, 99, 7, 99, 99} : std::vector{7, 1, 2};
    tiny.gemm.weights = {.offset = 0,
                         .pitch = turned ? 4 : 1,
                         .groups = 2,
                         .group_k = 2,
                         .group_n = 1,
                         .first_k = 3};
    tiny.load_w.walk.run = std::ssize(w);
    Program p = tiny.program();
    p.tensors[1].bytes = std::ssize(w);
    ASSERT_TRUE(verify(p, test::small_machine()).ok());
    EXPECT_EQ(outputs(p, tiny.image(kA, w)), (std::vector<int>{8, 7, 17, 28}));
  }
}

TEST(Golden, AreParametersPerOutputChannelAndLittleEndian) {
  for (const Dataflow d : {Dataflow::weight_stationary, Dataflow::input_stationary}) {
    const TinyProgram tiny(2, 3, 2, d);
    MemoryImage image = tiny.image(kA, d == Dataflow::input_stationary ? kTurnedW : kW);
    TinyProgram::parameter(image, 0, 1000, 3, 6);
    TinyProgram::parameter(image, 1, -300, -1, 2);
    // (22 + 1000) * 3 / 64 = 47.9, (49 + 1000) * 3 / 64 = 49.2; 328 / 4 = 82, 358 / 4 = 89.5
    EXPECT_EQ(outputs(tiny.program(), image), (std::vector<int>{48, 82, 49, 90}));
  }
}

TEST(Golden, IsTheZeroPointReadOutsideTheWindow) {
  // A line of four pixels, three taps, one pixel of padding on both sides; the kernel sums.
  TinyProgram tiny(4, 3, 1);
  tiny.load_a.walk.run = 4;
  OperandWindow& w = tiny.gemm.window;
  w.tile = {1, 1, 4};
  w.pixel = 1;
  w.origin[2] = Affine(-1);
  w.pad_value = -7;
  Program p = tiny.program();
  p.tensors[0].bytes = 4;
  EXPECT_EQ(outputs(p, tiny.image({1, 2, 3, 4}, {1, 1, 1})), (std::vector<int>{-4, 6, 9, 0}));
}

TEST(Golden, DoesAWindowStepOverTileLines) {
  // A 3 x 2 tile; two kernel lines of two pixels, two tile lines apart: rows 0 and 2 in order.
  TinyProgram tiny(1, 4, 1);
  tiny.load_a.walk.run = 6;
  OperandWindow& w = tiny.gemm.window;
  w.tile = {1, 3, 2};
  w.pixel = 1;
  w.line = 2;
  w.line_step = 2;
  Program p = tiny.program();
  p.tensors[0].bytes = 6;
  EXPECT_EQ(outputs(p, tiny.image({1, 2, 3, 4, 5, 6}, {1, 2, 3, 4})),
            (std::vector<int>{1 + 4 + 15 + 24}));
}

TEST(Golden, DoRowsBeginAndEndInTheMiddleOfALine) {
  // Of 2 x 2 x 3 positions, every second pixel and line of a 2 x 3 x 5 tile, rows 4 to 10: from the
  // middle of a line of plane 0 to the middle of one of plane 1. A pixel is its own number.
  constexpr int64_t kRows = 7, kFirst = 4;
  TinyProgram tiny(kRows, 1, 1, Dataflow::output_stationary);
  tiny.load_a.walk.run = 30;
  OperandWindow& w = tiny.gemm.window;
  w.tile = {2, 3, 5};
  w.count = {2, 2, 3};
  w.stride = {1, 2, 2};
  w.first = Affine(kFirst);
  Program p = tiny.program();
  p.tensors[0].bytes = 30;
  ASSERT_TRUE(verify(p, test::small_machine()).ok());
  std::vector<int> pixels, expected;
  for (int i = 0; i < 30; ++i) pixels.push_back(i);
  for (int z = 0; z < 2; ++z)
    for (int y = 0; y < 2; ++y)
      for (int x = 0; x < 3; ++x) expected.push_back(z * 15 + y * 2 * 5 + x * 2);
  EXPECT_EQ(outputs(p, tiny.image(pixels, {1})),
            std::vector(expected.begin() + kFirst, expected.begin() + kFirst + kRows));
}

TEST(Golden, DoesAPaddedLoadWriteTheZeroPointAndStayInTheTensor) {
  // The same line and taps as im2col rows; the walk starts a byte before the tensor.
  TinyProgram tiny(4, 3, 1);
  PaddedWindow w;
  w.extent = {1, 1, 4};
  w.count = {1, 1, 4};
  w.kernel = {1, 1, 3};
  w.origin[2] = Affine(-1);
  w.pitch = {4, 4, 1};
  w.tap = 1;
  w.pad_value = -7;
  tiny.load_a.source = Affine(-1);
  tiny.load_a.walk = {{{4, 1}}, 3};
  tiny.load_a.padded = w;
  Program p = tiny.program();
  p.tensors[0].bytes = 4;
  EXPECT_TRUE(verify(p, test::small_machine()).ok());
  const MemoryImage image = tiny.image({1, 2, 3, 4}, {1, 1, 1});
  EXPECT_EQ(outputs(p, image), (std::vector<int>{-4, 6, 9, 0}));

  // A window that calls more of it the tensor than there is.
  std::get<LoadCommand>(std::get<Command>(p.body[1].node)).padded->extent[2] = 5;
  EXPECT_FALSE(verify(p, test::small_machine()).ok());
  EXPECT_EQ(error_of(p, image).code, Errc::invalid);
}

/// The tiny gemm `times` times over in a loop.
Program repeated(const TinyProgram& tiny, int64_t times, bool first_overwrites) {
  Program p = tiny.program();
  for (Item& item : p.body) {
    auto* command = std::get_if<Command>(&item.node);
    if (!command || !std::holds_alternative<GemmCommand>(*command)) continue;
    auto& gemm = std::get<GemmCommand>(*command);
    if (first_overwrites) gemm.first_of = {0};
    Loop loop{0, "k", times, {item}};
    item.node = std::move(loop);
  }
  p.loops = 1;
  return p;
}

TEST(Golden, DoesItAccumulateAfterTheFirstPassAndOverwriteOtherwise) {
  for (const Dataflow d : {Dataflow::weight_stationary, Dataflow::output_stationary}) {
    const TinyProgram tiny(2, 3, 2, d);
    const MemoryImage image = tiny.image(kA, kW);
    EXPECT_EQ(outputs(repeated(tiny, 2, true), image), (std::vector<int>{44, -56, 98, -116}));
    EXPECT_EQ(outputs(repeated(tiny, 2, false), image), kProduct);
  }
}

TEST(Golden, DoSumsWrapAt32Bits) {
  // 8 * 127 * 127 * 20000 = 2,580,640,000 = -1,714,327,296 mod 2^32.
  const TinyProgram tiny(1, 8, 1);
  MemoryImage image = tiny.image(std::vector<int>(8, 127), std::vector<int>(8, 127));
  TinyProgram::parameter(image, 0, 0, 1, 24);
  EXPECT_EQ(outputs(repeated(tiny, 20000, true), image), (std::vector<int>{-102}));
}

TEST(Golden, IsARingOfSlotsReadInOrder) {
  // Two tiles are loaded before either is read: one gemm reads the first, one the second.
  const TinyProgram tiny(1, 1, 1);
  Program p = tiny.program();
  p.tensors[0].bytes = 2;
  LoadCommand second = tiny.load_a;
  second.source = Affine(1);
  const std::vector<Item> load = TinyProgram::filled(second);
  p.body.insert(p.body.begin() + 3, load.begin(), load.end());
  const size_t gemm = find(p, SyncKind::wait_free, Buffer::accumulator) + 1;
  GemmCommand again = tiny.gemm;
  again.accumulate = true;
  const std::vector<Item> next = {
      TinyProgram::sync(SyncKind::signal_free, Queue::execute, Buffer::activation),
      TinyProgram::sync(SyncKind::wait_full, Queue::execute, Buffer::activation),
      {Command{again}}};
  p.body.insert(p.body.begin() + static_cast<ptrdiff_t>(gemm) + 1, next.begin(), next.end());
  const HwConfig hw = test::small_machine();
  ASSERT_TRUE(verify(p, hw).ok()) << verify(p, hw).errors().front().text();
  EXPECT_EQ(outputs(p, tiny.image({10, 4}, {3})), (std::vector<int>{42}));

  HwConfig single = hw;
  single.buffers[static_cast<size_t>(Buffer::activation)].slots = 1;
  const Error e = error_of(p, tiny.image({10, 4}, {3}), single);
  EXPECT_EQ(e.code, Errc::invalid);
  EXPECT_NE(e.text().find("wait_free on activation"), std::string::npos) << e.text();
}

// ---- programs that must not get away with it ----------------------------------------------------

TEST(BadPrograms, DoesAMissingWaitGiveGarbage) {
  const TinyProgram tiny(2, 3, 2);
  const MemoryImage image = tiny.image(kA, kW);
  for (const Buffer b : {Buffer::activation, Buffer::weight, Buffer::accumulator}) {
    Program p = tiny.program();
    erase(p, SyncKind::wait_full, b);
    erase(p, SyncKind::signal_free, b);
    EXPECT_NE(outputs(p, image), kProduct) << name(b);
  }
  for (const Buffer b : {Buffer::activation, Buffer::weight, Buffer::accumulator, Buffer::output}) {
    Program p = tiny.program();
    for (const SyncKind k :
         {SyncKind::wait_free, SyncKind::signal_full, SyncKind::wait_full, SyncKind::signal_free})
      erase(p, k, b);
    EXPECT_NE(outputs(p, image), kProduct) << name(b);
  }
}

TEST(BadPrograms, DoesReadingASlotThatWasGivenBackGiveGarbage) {
  const TinyProgram tiny(2, 3, 2);
  Program p = tiny.program();
  erase(p, SyncKind::signal_free, Buffer::activation);
  const size_t at = find(p, SyncKind::wait_free, Buffer::accumulator);
  p.body.insert(p.body.begin() + static_cast<ptrdiff_t>(at),
                TinyProgram::sync(SyncKind::signal_free, Queue::execute, Buffer::activation));
  EXPECT_NE(outputs(p, tiny.image(kA, kW)), kProduct);
}

TEST(BadPrograms, DoesReadingWhatWasNeverLoadedGiveGarbage) {
  // All zeros would compute the right product if slots began as zeros.
  TinyProgram tiny(2, 3, 2);
  tiny.load_a.walk.run = 3;
  EXPECT_NE(outputs(tiny.program(), tiny.image({1, 2, 3, 0, 0, 0}, kW)),
            (std::vector<int>{22, -28, 0, 0}));
}

TEST(BadPrograms, DoesAccumulatingOntoNothingGiveGarbage) {
  for (const Dataflow d : {Dataflow::weight_stationary, Dataflow::output_stationary}) {
    TinyProgram tiny(2, 3, 2, d);
    tiny.gemm.accumulate = true;
    Program p = tiny.program();
    Program twice = p;  // the array's sums have moved out after the first drain
    twice.body.insert(twice.body.end(), p.body.begin(), p.body.end());
    EXPECT_NE(outputs(twice, tiny.image(kA, kW)), kProduct);
  }
}

TEST(BadPrograms, IsAWaitThatNeverEndsAnError) {
  const TinyProgram tiny(2, 3, 2);
  Program p = tiny.program();
  erase(p, SyncKind::signal_full, Buffer::weight);
  const Error e = error_of(p, tiny.image(kA, kW));
  EXPECT_EQ(e.code, Errc::invalid);
  EXPECT_NE(e.text().find("wait_full on weight"), std::string::npos) << e.text();
}

TEST(BadPrograms, AreAddressesOutsideTheirMemoryErrors) {
  const TinyProgram good(2, 3, 2);
  const MemoryImage image = good.image(kA, kW);
  std::vector<TinyProgram> bad(9, good);
  bad[0].load_a.source = Affine(1);
  bad[1].load_a.slot_offset = Affine(1 << 12);
  bad[2].load_w.tensor = 4;
  bad[3].gemm.weights.offset = Affine(-1);
  bad[4].gemm.accumulator_row = Affine(1 << 20);
  bad[5].post.slot_offset = Affine(1 << 20);
  bad[6].post.parameter_offset = Affine(-12);
  bad[7].store.target = Affine(1);
  bad[8].load_a.source.terms = {{3, 1}};
  for (const TinyProgram& tiny : bad)
    EXPECT_EQ(error_of(tiny.program(), image).code, Errc::invalid) << program_text(tiny.program());
}

TEST(BadPrograms, AreSizesThatTheMachineCannotDoErrors) {
  const TinyProgram good(2, 3, 2);
  const MemoryImage image = good.image(kA, kW);
  const HwConfig narrow = test::small_machine(2, 8);
  EXPECT_EQ(error_of(good.program(), image, narrow).code, Errc::invalid);
  TinyProgram bad = good;
  bad.post.epilogue.high = 128;
  EXPECT_EQ(error_of(bad.program(), image).code, Errc::invalid);
  MemoryImage far = image;
  TinyProgram::parameter(far, 1, 0, 1, 63);
  EXPECT_NE(error_of(good.program(), far).text().find("channel 1 by 63"), std::string::npos);
  MemoryImage wrong = image;
  wrong[1].push_back(0);
  EXPECT_NE(error_of(good.program(), wrong).text().find("tensor 'w'"), std::string::npos);
  wrong.pop_back();
  EXPECT_EQ(error_of(good.program(), wrong).code, Errc::invalid);
}

TEST(BadPrograms, IsWhatOnlyCostingKnowsUnsupported) {
  TinyProgram tiny(2, 3, 2);
  const MemoryImage image = tiny.image(kA, kW);
  HwConfig floats = test::small_machine();
  floats.types = {DType::bfloat16, DType::bfloat16, DType::float32};
  EXPECT_EQ(error_of(tiny.program(), image, floats).code, Errc::unsupported);
  Program vector = tiny.program();
  vector.body.insert(vector.body.begin(), Item{Command{VectorCommand{}}});
  EXPECT_EQ(error_of(vector, image).code, Errc::unsupported);
  tiny.post.has_parameters = false;
  EXPECT_EQ(error_of(tiny.program(), image).code, Errc::unsupported);
}

// ---- the retire hook ----------------------------------------------------------------------------

TEST(RetireHook, DoesItSeeEveryCommandWithItsValues) {
  const TinyProgram tiny(2, 3, 2);
  const Program p = repeated(tiny, 2, true);
  MemoryImage image = tiny.image(kA, kW);
  std::vector<RetiredCommand> seen;
  const auto hook = [&](const RetiredCommand& r) { seen.push_back(r); };
  ASSERT_TRUE(run_golden(p, test::small_machine(), image, hook).ok());
  ASSERT_EQ(seen.size(), 7u);  // three loads, two gemms, post, store
  for (size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i].ordinal, static_cast<int64_t>(i));
  EXPECT_EQ(signed_values(seen[0].bytes), kA);
  EXPECT_EQ(seen[0].loop_indices, std::vector<int64_t>{-1});
  EXPECT_EQ(seen[3].sums, (std::vector<int32_t>{22, -28, 49, -58}));
  EXPECT_EQ(seen[3].row, 2);
  EXPECT_EQ(seen[4].sums, (std::vector<int32_t>{44, -56, 98, -116}));
  EXPECT_EQ(seen[3].loop_indices, std::vector<int64_t>{0});
  EXPECT_EQ(seen[4].loop_indices, std::vector<int64_t>{1});
  EXPECT_EQ(seen[3].command, seen[4].command);
  EXPECT_EQ(signed_values(seen[5].bytes), (std::vector<int>{44, -56, 98, -116}));
  EXPECT_EQ(seen[6].bytes, image[2]);
  EXPECT_TRUE(std::holds_alternative<StoreCommand>(*seen[6].command));
}

}  // namespace
}  // namespace accsim::hw
