#include <gtest/gtest.h>

#include "hw/golden/golden.h"
#include "tests/hw/golden/draws.h"
#include "tests/hw/golden/tiny_program.h"

namespace accsim::hw {
namespace {

using test::signed_values;
using test::TinyProgram;

/// Rows of elements within -8 .. 7 as the contract lays them out, so many bytes a row: digit by
/// digit of a number of base 16, the lowest digit first.
std::vector<int> halves(const std::vector<int>& elements, size_t row, size_t bytes) {
  std::vector<int> out;
  for (size_t first = 0; first < elements.size(); first += row) {
    std::vector<int> digits;
    for (size_t i = first; i < first + row; ++i) digits.push_back((elements[i] + 16) % 16);
    digits.resize(2 * bytes, 9);  // what nobody's is anything
    for (size_t i = 0; i < digits.size(); i += 2) out.push_back(digits[i] + 16 * digits[i + 1]);
  }
  return out;
}

/// The outputs of a program that the verifier takes.
std::vector<int> results(const Program& program, MemoryImage image) {
  const HwConfig hw = test::small_machine();
  const Status good = verify(program, hw);
  EXPECT_TRUE(good.ok()) << (good.ok() ? "" : good.errors().front().text());
  const Status s = run_golden(program, hw, image);
  EXPECT_TRUE(s.ok()) << (s.ok() ? "" : s.errors().front().text());
  return signed_values(image[2]);
}

bool refused(const Program& program, MemoryImage image) {
  const HwConfig hw = test::small_machine();
  return !verify(program, hw).ok() && !run_golden(program, hw, image).ok();
}

constexpr std::array kFlows = {Dataflow::weight_stationary, Dataflow::input_stationary,
                               Dataflow::output_stationary};

/// m x k times k x n, weights of 4 bits as [k][n], or turned as [n][k].
struct Narrow {
  TinyProgram tiny;
  size_t row, bytes;

  Narrow(int64_t m, int64_t k, int64_t n, Dataflow d, int64_t spare)
      : tiny(m, k, n, d),
        row(static_cast<size_t>(d == Dataflow::input_stationary ? k : n)),
        bytes((row + 1) / 2 + static_cast<size_t>(spare)) {
    tiny.gemm.weights.encoding = kPackedWeights;
    tiny.gemm.weights.pitch = static_cast<int64_t>(bytes);
    tiny.load_w.walk.run = static_cast<int64_t>(bytes) * (d == Dataflow::input_stationary ? n : k);
  }
  Program program() const {
    Program p = tiny.program();
    p.tensors[1].bytes = tiny.load_w.walk.run;
    return p;
  }
};

TEST(NarrowWeights, AreTwoInAByteTheFirstInItsLowHalf) {
  // [1 2 3] of weights [[-8 7 -1], [0 1 2], [5 -3 -4]], each row two bytes.
  const std::vector<int> packed = {0x78, 0x0f, 0x10, 0x02, 0xd5, 0x0c};
  Narrow p(1, 3, 3, Dataflow::weight_stationary, 0);
  EXPECT_EQ(results(p.program(), p.tiny.image({1, 2, 3}, packed)),
            (std::vector<int>{-8 + 0 + 15, 7 + 2 - 9, -1 + 4 - 12}));
}

TEST(NarrowWeights, AreRandomProductsThoseOfTheirElements) {
  test::Draws random(5);
  for (int round = 0; round < 300; ++round)
    for (const Dataflow d : kFlows) {
      const bool turned = d == Dataflow::input_stationary;
      const int64_t m = random.pick(1, 8), k = random.pick(1, 8), n = random.pick(1, 8);
      Narrow p(m, k, n, d, random.pick(0, 2));
      std::vector<int> a, w;
      for (int64_t i = 0; i < m * k; ++i) a.push_back(static_cast<int>(random.pick(-2, 2)));
      for (int64_t i = 0; i < k * n; ++i) w.push_back(static_cast<int>(random.pick(-8, 7)));
      std::vector<int> expected;
      for (int64_t i = 0; i < m; ++i)
        for (int64_t j = 0; j < n; ++j) {
          int sum = 0;
          for (int64_t e = 0; e < k; ++e)
            sum += a[static_cast<size_t>(i * k + e)] *
                   w[static_cast<size_t>(turned ? j * k + e : e * n + j)];
          expected.push_back(std::clamp(sum, -128, 127));
        }
      ASSERT_EQ(results(p.program(), p.tiny.image(a, halves(w, p.row, p.bytes))), expected);
    }
}

TEST(NarrowWeights, ArePackedGroupsOfThem) {
  // Groups of 2 x 3; rows 1 to 4 of the diagonal: of group 0, twice of group 1, of group 0 again.
  const std::vector<int> rows = {1, -2, 3, 4, 5, -6, 7, -8, -1, 2, 3, 4};
  for (const Dataflow d : {Dataflow::weight_stationary, Dataflow::output_stationary}) {
    Narrow p(1, 4, 6, d, 0);
    WeightTile& t = p.tiny.gemm.weights;
    t = {.offset = 0,
         .pitch = 2,
         .groups = 2,
         .group_k = 2,
         .group_n = 3,
         .first_k = 1,
         .encoding = kPackedWeights};
    p.tiny.load_w.walk.run = 8;
    const std::vector<int> a = {1, 10, 2, 3};
    EXPECT_EQ(results(p.program(), p.tiny.image(a, halves(rows, 3, 2))),
              (std::vector<int>{1 + 6, -2 + 9, 3 + 12, 40 + 14, 50 - 16, -60 - 2}));
  }
}

TEST(NarrowWeights, IsWhatCannotBeRefused) {
  const MemoryImage image(4);
  Narrow p(2, 4, 4, Dataflow::input_stationary, 0);
  WeightTile& t = p.tiny.gemm.weights;
  const MemoryImage good = p.tiny.image(std::vector<int>(8), std::vector<int>(8));
  EXPECT_FALSE(refused(p.program(), good));
  t.encoding = {FormatId::int2, Packing::two_per_byte};
  EXPECT_TRUE(refused(p.program(), good));
  t = {
      .offset = 0, .pitch = 2, .groups = 2, .group_k = 2, .group_n = 2, .encoding = kPackedWeights};
  EXPECT_TRUE(refused(p.program(), good));
  t = {.offset = 0, .pitch = 2, .encoding = kPackedWeights};
  t.offset = Affine(test::small_machine().buffer(Buffer::weight).slot_bytes() - 7);
  EXPECT_TRUE(refused(p.program(), good));
  t.offset += Affine(-1);
  EXPECT_TRUE(verify(p.program(), test::small_machine()).ok());
}

// ---- groups along k -----------------------------------------------------------------------------

/// A product whose reduction has `groups` groups of one element, each with a sum of its own.
struct Grouped {
  TinyProgram tiny;
  int64_t groups, apart, behind;
  std::vector<int> factors;  ///< [group from 1 on][channel]

  Grouped(int64_t m, int64_t n, int64_t groups_, int64_t apart_, int64_t behind_, Dataflow d)
      : tiny(m, groups_, n, d), groups(groups_), apart(apart_), behind(behind_) {
    factors.resize(static_cast<size_t>((groups - 1) * n));
    tiny.post.groups = groups;
    tiny.post.group_rows = apart;
    tiny.post.group_offset = Affine(n * 12 + behind);
    tiny.load_p.walk.run = n * 12 + behind + (groups - 1) * n * 2;
  }
  Program program() const {
    Program p = tiny.program();
    p.tensors[3].bytes = tiny.load_p.walk.run;
    const bool turned = tiny.dataflow == Dataflow::input_stationary;
    std::vector<Item> body;
    for (const Item& item : p.body) {
      const auto* command = std::get_if<Command>(&item.node);
      if (command && std::holds_alternative<DrainCommand>(*command)) continue;
      if (!command || !std::holds_alternative<GemmCommand>(*command)) {
        body.push_back(item);
        continue;
      }
      for (int64_t g = 0; g < groups; ++g) {
        GemmCommand c = tiny.gemm;
        c.k = 1;
        c.useful_macs = c.m * c.n;
        c.window.offset = Affine(g);
        c.weights.offset = Affine(turned ? g : g * tiny.n);
        c.accumulator_row = Affine(g * apart);
        body.push_back({Command{c}});
        if (tiny.dataflow == Dataflow::output_stationary)
          body.push_back({Command{DrainCommand{tiny.m, tiny.n, Affine(g * apart), {}, false}}});
      }
    }
    p.body = std::move(body);
    return p;
  }
  MemoryImage image(const std::vector<int>& a, const std::vector<int>& w) const {
    MemoryImage out = tiny.image(a, w);
    out[3].resize(static_cast<size_t>(tiny.n * 12 + behind), 77);
    for (const int f : factors) {
      out[3].push_back(static_cast<uint8_t>(f));
      out[3].push_back(static_cast<uint8_t>(static_cast<unsigned>(f) >> 8));
    }
    return out;
  }
};

/// round(s / 2^shift), halves away from zero, by the quotient and its remainder; |s| < 2^61.
int64_t rounded(int64_t s, int shift) {
  const int64_t step = int64_t{1} << shift, size = s < 0 ? -s : s;
  const int64_t whole = size / step, rest = size % step;
  const int64_t magnitude = whole + (2 * rest >= step && shift > 0 ? 1 : 0);
  return s < 0 ? -magnitude : magnitude;
}

TEST(Groups, IsAResultTheSumOfScaledSums) {
  test::Draws random(9);
  for (int round = 0; round < 400; ++round)
    for (const Dataflow d : kFlows) {
      const bool turned = d == Dataflow::input_stationary;
      const int64_t m = random.pick(1, 8), n = random.pick(1, 8), groups = random.pick(1, 5);
      const int64_t apart = (turned ? n : m) + random.pick(0, 2);
      Grouped p(m, n, groups, apart, random.pick(0, 3), d);
      p.tiny.post.epilogue.zero = random.number(-128, 127);
      std::vector<int> a, w;
      for (int64_t i = 0; i < m * groups; ++i) a.push_back(random.number(-128, 127));
      for (int64_t i = 0; i < groups * n; ++i) w.push_back(random.number(-128, 127));
      for (int& f : p.factors) f = random.number(-32768, 32767);
      MemoryImage image = p.image(a, w);
      std::vector<int64_t> bias, multiplier, shift;
      for (int64_t c = 0; c < n; ++c) {
        bias.push_back(random.number(-20000, 20000));
        multiplier.push_back(random.number(-40000, 40000));
        shift.push_back(random.one_in(8) ? random.pick(0, 62) : random.pick(20, 26));
        TinyProgram::parameter(image, c, static_cast<int32_t>(bias.back()),
                               static_cast<int32_t>(multiplier.back()),
                               static_cast<int32_t>(shift.back()));
      }
      std::vector<int> expected;
      for (int64_t i = 0; i < m; ++i)
        for (int64_t c = 0; c < n; ++c) {
          const auto sum = [&](int64_t g) {
            return int64_t{a[static_cast<size_t>(i * groups + g)]} *
                   w[static_cast<size_t>(turned ? c * groups + g : g * n + c)];
          };
          const auto of = static_cast<size_t>(c);
          int64_t total = (sum(0) + bias[of]) * multiplier[of];
          for (int64_t g = 1; g < groups; ++g)
            total += sum(g) * p.factors[static_cast<size_t>((g - 1) * n + c)];
          const int64_t y = rounded(total, static_cast<int>(shift[of])) + p.tiny.post.epilogue.zero;
          expected.push_back(static_cast<int>(y < -128 ? -128 : y > 127 ? 127 : y));
        }
      ASSERT_EQ(results(p.program(), image), expected) << round << " " << name(d);
    }
}

TEST(Groups, IsWhatDoesNotFitRefused) {
  const HwConfig hw = test::small_machine();
  const auto says = [&](auto bend) {
    Grouped p(2, 3, 3, 2, 0, Dataflow::weight_stationary);
    bend(p.tiny.post);
    return refused(p.program(), p.image(std::vector<int>(6), std::vector<int>(9)));
  };
  EXPECT_FALSE(says([](PostCommand&) {}));
  EXPECT_TRUE(says([](PostCommand& c) { c.groups = 0; }));
  EXPECT_TRUE(says([](PostCommand& c) { c.groups = PostCommand::kMostGroups + 1; }));
  EXPECT_TRUE(says([](PostCommand& c) { c.group_rows = -1; }));
  EXPECT_TRUE(says([&](PostCommand& c) { c.group_rows = hw.accumulator_rows() / 2; }));
  EXPECT_FALSE(says([&](PostCommand& c) { c.group_rows = hw.accumulator_rows() / 2 - 1; }));
  const int64_t end = hw.buffer(Buffer::parameter).slot_bytes();  // 2 x 3 multipliers
  EXPECT_FALSE(says([&](PostCommand& c) { c.group_offset = Affine(end - 12); }));
  EXPECT_TRUE(says([&](PostCommand& c) { c.group_offset = Affine(end - 11); }));
  EXPECT_TRUE(says([](PostCommand& c) { c.group_offset = Affine(-1); }));
  EXPECT_TRUE(says([](PostCommand& c) { c.has_parameters = false; }));
}

}  // namespace
}  // namespace accsim::hw
