#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <random>
#include <vector>

#include "hw/golden/golden.h"
#include "hw/random/random_network.h"
#include "hw/random/random_program.h"
#include "tests/hw/golden/tiny_program.h"
#include "tests/support/machines.h"

namespace accsim::hw {
namespace {

/// Collects the numbers of a program's commands, tensors and loops, by where they are.
class Fields {
 public:
  explicit Fields(Program& p) {
    for (ProgramTensor& t : p.tensors) add(t.slots);  // bytes go with the image
    visit(p.body);
  }
  std::vector<int64_t*> longs;
  std::vector<int32_t*> ints;
  std::vector<bool*> flags;

 private:
  template <class... T>
  void add(T&... of) {
    (one(of), ...);
  }
  void one(int64_t& v) { longs.push_back(&v); }
  void one(int32_t& v) { ints.push_back(&v); }
  void one(bool& v) { flags.push_back(&v); }
  void one(Affine& a) {
    add(a.base);
    for (Affine::Term& t : a.terms) add(t.loop, t.coeff);
  }
  template <class T, size_t N>
  void one(std::array<T, N>& of) {
    for (T& v : of) add(v);
  }
  template <class T>
  void one(std::optional<T>& v) {
    if (v) add(*v);
  }
  void one(Walk& w) {
    add(w.run);
    for (Walk::Level& l : w.levels) add(l.count, l.stride);
  }
  void one(std::vector<int>& of) {
    for (int& v : of) add(v);
  }
  void one(Gather& g) { add(g.index_offset, g.pitch, g.limit); }
  void one(PaddedWindow& w) {
    add(w.extent, w.count, w.kernel, w.stride, w.dilation, w.origin, w.pitch, w.images,
        w.image_pitch, w.tap, w.pad_value);
  }
  void one(OperandWindow& w) {
    add(w.tile, w.pixel, w.count, w.stride, w.origin, w.first, w.line, w.line_step, w.offset,
        w.pad_value);
  }
  void one(WeightTile& t) { add(t.offset, t.pitch, t.groups, t.group_k, t.group_n, t.first_k); }
  void one(Residual& r) { add(r.zero, r.multiplier, r.shift, r.low, r.high); }
  void one(LaneOperand& o) { add(o.offset, o.row_stride, o.splat, o.zero, o.multiplier); }
  void one(RowLogarithm& l) {
    add(l.offset, l.row_multiplier, l.sum_multiplier, l.shift, l.addend);
  }
  void one(RowOperand& o) { add(o.offset, o.row_stride, o.piece_stride); }
  void one(LoadCommand& c) {
    add(c.tensor, c.source, c.slot_offset, c.walk, c.padded, c.transposed, c.gather);
  }
  void one(GemmCommand& c) {
    add(c.m, c.k, c.n, c.useful_macs, c.window, c.weights, c.accumulator_row, c.first_of,
        c.accumulate);
  }
  void one(DrainCommand& c) { add(c.m, c.n, c.accumulator_row, c.first_of, c.accumulate); }
  void one(PostCommand& c) {
    add(c.rows, c.cols, c.accumulator_row, c.parameter_offset, c.slot_offset, c.pitch, c.transposed,
        c.epilogue.relu, c.epilogue.zero, c.epilogue.low, c.epilogue.high, c.epilogue.table,
        c.epilogue.residual, c.groups, c.group_rows, c.group_offset);
  }
  void one(SetTableCommand& c) { add(c.parameter_offset); }
  void one(LaneCommand& c) {
    add(c.rows, c.run, c.taps, c.tap_stride, c.across, c.a, c.b, c.slot_offset, c.out_stride,
        c.shift, c.epilogue.zero, c.epilogue.low, c.epilogue.high, c.epilogue.table);
  }
  void one(RowCommand& c) {
    add(c.rows, c.pieces, c.run, c.in, c.mask, c.parameter_offset, c.parameter_stride,
        c.per_channel, c.out, c.row_multiplier, c.mask_multiplier, c.difference_shift, c.numerator,
        c.exponent, c.input_zero, c.unit_bits, c.epsilon, c.epilogue.zero, c.epilogue.low,
        c.epilogue.high);
    add(c.logarithm);
  }
  void one(VectorCommand& c) { add(c.ops, c.in_bytes, c.out_bytes); }
  void one(StoreCommand& c) { add(c.tensor, c.target, c.slot_offset, c.walk); }
  void one(StageCommand& c) { add(c.from, c.to, c.source, c.target, c.walk); }

  void visit(std::vector<Item>& body) {
    for (Item& i : body) {
      if (auto* loop = std::get_if<Loop>(&i.node)) {
        add(loop->id, loop->count);
        visit(loop->body);
      } else if (auto* command = std::get_if<Command>(&i.node)) {
        std::visit([this](auto& c) { add(c); }, *command);
      } else if (auto* sync = std::get_if<Sync>(&i.node)) {
        add(sync->region);
      } else if (auto* mark = std::get_if<Mark>(&i.node)) {
        add(mark->waits, mark->tensor);
      }
    }
  }
};

/// A number that is hard to bear, or one near the old one.
int64_t hard(int64_t old, std::mt19937& random) {
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  constexpr auto kLong = std::numeric_limits<int64_t>();
  constexpr std::array kHard = {
      kLong.min(),        kLong.max(),         kLong.min() + 1,  int64_t{0},
      int64_t{-1},        int64_t{1},          int64_t{2},       int64_t{INT32_MIN},
      int64_t{INT32_MAX}, int64_t{1} << 31,    int64_t{1} << 32, (int64_t{1} << 32) + 1,
      int64_t{1} << 62,   -(int64_t{1} << 62), int64_t{46341},   int64_t{3037000500}};
  switch (pick(0, 5)) {
    case 0:
    case 1:
      return kHard[static_cast<size_t>(pick(0, std::ssize(kHard) - 1))];
    case 2:
      return old == kLong.min() ? old : -old;
    case 3:
      return pick(-16, 64);
    case 4:
      return static_cast<int64_t>(static_cast<uint64_t>(old) + static_cast<uint64_t>(pick(-2, 2)));
    default:
      return static_cast<int64_t>(static_cast<uint64_t>(old) * static_cast<uint64_t>(pick(2, 9)));
  }
}

void bend(Program& p, std::mt19937& random) {
  const Fields all(p);
  const auto one_of = [&](const auto& of) { return of[random() % of.size()]; };
  for (auto n = 1 + random() % 3; n > 0; --n) {
    const auto kind = random() % 16;
    if (kind < 11) {
      int64_t& v = *one_of(all.longs);
      v = hard(v, random);
    } else if (kind < 15 && !all.ints.empty()) {
      int32_t& v = *one_of(all.ints);
      v = static_cast<int32_t>(hard(v, random));
    } else if (!all.flags.empty()) {
      bool& v = *one_of(all.flags);
      v = !v;
    }
  }
}

/// What golden says of a program that only its data can be blamed for.
bool is_of_data(const std::string& message) {
  for (const char* part : {"shifts channel", "tables of a softmax", "a channel shifts by"})
    if (message.find(part) != std::string::npos) return true;
  return false;
}

/// Little enough to be run.
bool is_small(const Program& p, const HwConfig& hw) {
  const Counts c = count_program(p, hw);
  int64_t bytes = c.array_macs.count();
  for (const auto& side : {c.buffer_read, c.buffer_written})
    for (const Bytes b : side) bytes += b.count();
  for (const Bytes b : c.written) bytes += b.count();
  return bytes < 3'000'000 && c.commands < 3'000;
}

/// Bends some numbers of a program, so many times, and runs what verify() accepts then; returns how
/// often it did.
int run_accepted(const Program& program, const MemoryImage& from, const HwConfig& hw, int times,
                 std::mt19937& random) {
  int accepted = 0;
  for (int i = 0; i < times; ++i) {
    Program p = program;
    bend(p, random);
    if (!verify(p, hw).ok() || !is_small(p, hw)) continue;
    ++accepted;
    MemoryImage image = from;
    const Status ran = run_golden(p, hw, image);
    EXPECT_TRUE(ran.ok() || is_of_data(ran.errors()[0].text()))
        << ran.errors()[0].text() << program_text(p);
  }
  return accepted;
}

/// What verify() accepts golden runs: no address is outside of its memory (which the sanitizers
/// see), nothing overflows, and golden has nothing to say.
TEST(VerifyFuzz, RunsWhatIsAcceptedOfRandomPrograms) {
  HwConfig hw = test::small_machine(4, 5);
  hw.shared.kib = 64;
  for (const Dataflow d :
       {Dataflow::weight_stationary, Dataflow::input_stationary, Dataflow::output_stationary}) {
    std::mt19937 random(1 + static_cast<unsigned>(d));
    int accepted = 0;
    for (int i = 0; i < 150; ++i) {
      const auto made = random_program(hw, d, random);
      ASSERT_TRUE(made);
      accepted += run_accepted(made->program, made->image, hw, 12, random);
    }
    EXPECT_GT(accepted, 300);
  }
}

/// Layers that read and write each other's tensors are ordered by marks; without one that orders
/// two of them they are refused.
TEST(VerifyFuzz, RunsWhatIsAcceptedOfRandomNetworks) {
  HwConfig hw = test::small_machine(4, 5);
  hw.shared.kib = 512;
  std::mt19937 random(5);
  int accepted = 0, marks = 0, needed = 0;
  for (int i = 0; i < 60; ++i) {
    const auto made = random_network(hw, Dataflow::weight_stationary, random);
    ASSERT_TRUE(made);
    ASSERT_TRUE(verify(made->program, hw).ok()) << verify(made->program, hw).errors()[0].text();
    accepted += run_accepted(made->program, made->image, hw, 12, random);
    for (size_t at = 0; at < made->program.body.size(); ++at) {
      const auto* mark = std::get_if<Mark>(&made->program.body[at].node);
      if (!mark || mark->waits) continue;
      Program p = made->program;
      p.body.erase(p.body.begin() + static_cast<std::ptrdiff_t>(at));
      ++marks;
      needed += verify(p, hw).ok() ? 0 : 1;
    }
  }
  EXPECT_GT(accepted, 100);
  EXPECT_GT(marks, 50);
  // Some tensors aren't used by the layer that waits, or other bytes of them are, as those of most
  // stores of random_marks(), between which what a layer reads lies; or two marks stand for one
  // queue.
  EXPECT_GT(10 * needed, 3 * marks);
}

/// Windows over lines and planes of a tile, an im2col load, packed groups.
TEST(VerifyFuzz, RunsWhatIsAcceptedOfWindows) {
  std::mt19937 random(7);
  const HwConfig hw = test::small_machine();
  test::TinyProgram padded(4, 3, 1);
  padded.load_a = {Buffer::activation, 0, Affine(-1), 0, {{{4, 1}}, 3}, {}};
  PaddedWindow w;
  w.extent = w.count = {1, 1, 4};
  w.kernel = {1, 1, 3};
  w.origin[2] = Affine(-1);
  w.pitch = {4, 4, 1};
  w.tap = 1;
  padded.load_a.padded = w;

  test::TinyProgram slides(12, 6, 2);
  slides.load_a.walk.run = 2 * 4 * 5;
  OperandWindow& window = slides.gemm.window;
  window.tile = {1, 4, 5};
  window.count = {1, 3, 4};
  window.pixel = 2;
  window.line = 4;
  window.origin = {Affine(0), Affine(-1), Affine(-1)};
  window.offset = Affine(1);

  test::TinyProgram packed(5, 8, 8);
  packed.gemm.weights = {.offset = 0, .pitch = 4, .groups = 2, .group_k = 4, .group_n = 4};
  for (const test::TinyProgram* tiny : {&padded, &slides, &packed}) {
    Program p = tiny->program();
    for (ProgramTensor& t : p.tensors) t.bytes += 64;
    MemoryImage image;
    for (const ProgramTensor& t : p.tensors) image.emplace_back(static_cast<size_t>(t.bytes), 1);
    ASSERT_TRUE(verify(p, hw).ok()) << verify(p, hw).errors()[0].text();
    EXPECT_GT(run_accepted(p, image, hw, 4000, random), 400);
  }
}

}  // namespace
}  // namespace accsim::hw
