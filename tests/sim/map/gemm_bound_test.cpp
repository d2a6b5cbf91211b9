#include "sim/map/product/gemm_bound.h"

#include <gtest/gtest.h>

#include <random>

#include "sim/map/cost_evaluator.h"
#include "sim/work/random_gemm.h"
#include "tests/support/gemms.h"
#include "tests/support/machines.h"

namespace accsim::sim {
namespace {

struct NamedBound {
  const char* name;
  double (*of)(const GemmTimes&);
};
constexpr std::array<NamedBound, 8> kBounds = {{{"execute", execute_bound},
                                                {"load", load_bound},
                                                {"post", post_bound},
                                                {"store", store_bound},
                                                {"operand slot", operand_slot_bound},
                                                {"held slot", held_slot_bound},
                                                {"sum slot", sum_slot_bound},
                                                {"output slot", output_slot_bound}}};

/// Calls f(tiling, times) for every combination of options that fits, with sharp bounds, which are
/// no lower than the plain ones.
template <class F>
void for_every_tiling(const GemmProblem& p, const hw::HwConfig& hw, hw::Dataflow d, F f) {
  for (const int64_t groups : pack_sizes(p, {})) {
    const GemmBound bound(p, hw, d, groups, false, Bounds::sharp), plain(p, hw, d, groups, false);
    for (const PixelOption& m : pixel_options(p, hw, d, {}))
      for (const ChannelOption& c : channel_options(p, hw, groups, {}))
        for (const OutputOption& n : output_options(p, hw, groups, {}))
          for (const bool outputs_outer : {false, true}) {
            const Tiling t{d,         m.images,   m.lines,       m.pixels, groups,
                           n.outputs, c.channels, outputs_outer, false};
            if (!fits(tiling_footprint(p, hw, t), hw)) continue;
            f(t, bound.bound_times(t, m, c, n));
            ASSERT_LE(plain.least_cycles(t, m, c, n), bound.least_cycles(t, m, c, n))
                << to_string(t);
          }
  }
}

enum class Drawn : uint8_t { any, narrow, turned };  ///< turned: operands that lie the other way

/// An op of the kind, a plain product where its operands are to be turned.
GemmOp draw_op(std::mt19937& random, Drawn kind) {
  if (kind != Drawn::turned) return random_gemm(random);
  GemmOp op = test::product(1 + random() % 60, 1 + random() % 40, 1 + random() % 40);
  op.batch = 1 + random() % 3;
  op.a_transposed = random() % 2 == 0;
  op.b_transposed = random() % 2 == 0;
  return op;
}

/// None of the eight is ever above the cycles of the program, and none is idle: each is the largest
/// somewhere.
void expect_bounds(uint32_t seed, Drawn kind) {
  const bool narrow = kind == Drawn::narrow;
  std::mt19937 random(seed);
  std::array<int, kBounds.size()> largest{};
  int tilings = 0;
  for (int round = 0; round < (narrow ? 150 : 60); ++round) {
    hw::HwConfig hw = test::random_machine(random);
    if (narrow) {
      hw.types.weight = DType::int4;
      hw.types.weight_group = random() % 3 == 0 ? 0 : 1 + random() % 20;
    }
    const GemmOp op = draw_op(random, kind);
    if (op.macs() > 100'000) continue;
    GemmProblem p = make_problem(op, hw);
    p.b.constant = narrow || (kind != Drawn::turned && random() % 2 == 0);
    p.has_parameters = narrow || random() % 2 == 0;
    p.epilogue.table = p.has_parameters && random() % 2 == 0;
    choose_weights(p, hw);
    if (narrow && !p.b_encoding.is_packed()) continue;
    CostEvaluator evaluator(hw);
    for (size_t d = 0; d < hw::kDataflows; ++d)
      for_every_tiling(
          p, hw, static_cast<hw::Dataflow>(d), [&](const Tiling& t, const GemmTimes& times) {
            const auto cycles = static_cast<double>(evaluator.cost(p, t).timing.total.count());
            for (size_t i = 0; i < kBounds.size(); ++i) {
              ASSERT_LE(kBounds[i].of(times), cycles * (1 + 1e-9))
                  << kBounds[i].name << " of " << to_string(t) << "\n"
                  << program_text(emit(p, hw, t));
              largest[i] += kBounds[i].of(times) == cycle_bound(times);
            }
            ++tilings;
          });
  }
  EXPECT_GT(tilings, 1000);
  for (size_t i = 0; i < kBounds.size(); ++i) EXPECT_GT(largest[i], 0) << kBounds[i].name;
}

TEST(GemmBounds, AreEachBelowTheCyclesAndEachTheLargestSomewhere) { expect_bounds(21, Drawn::any); }

TEST(GemmBounds, AreEachBelowTheCyclesOfNarrowWeights) { expect_bounds(22, Drawn::narrow); }

TEST(GemmBounds, AreEachBelowTheCyclesOfOperandsThatAreTurned) { expect_bounds(23, Drawn::turned); }

/// By hand, for 256 x 8 x 8 on an 8 x 8 array, weights stationary, in four tiles of 64 rows: one
/// pass.
class OneProduct : public testing::Test {
 protected:
  static constexpr double kM = 256, kK = 8, kN = 8;
  static constexpr double kStreams = kM, kPosts = kM;  // a row a cycle; 8 bytes fit the port

  OneProduct() {
    hw_.dram = {{500}, {250}, 20};  // slow: half and quarter of a byte a cycle
  }

  /// The bound of the tiling, after it was seen to be no more than the cycles.
  double bound(double (*of)(const GemmTimes&)) const {
    const GemmProblem p = make_problem(test::product(256, 8, 8), hw_);
    double out = -1;
    for_every_tiling(p, hw_, hw::Dataflow::weight_stationary,
                     [&](const Tiling& t, const GemmTimes& times) {
                       if (t.pixels != 64 || t.outputs != 8 || t.channels != 8 || t.outputs_outer)
                         return;
                       out = of(times);
                       CostEvaluator evaluator(hw_);
                       const Cost cost = evaluator.cost(p, t);
                       EXPECT_LE(out, static_cast<double>(cost.timing.total.count()));
                     });
    EXPECT_GE(out, 0) << "no such tiling";
    return out;
  }
  void slots(hw::Buffer b, int64_t count) { hw_.buffers[static_cast<size_t>(b)].slots = count; }

  hw::HwConfig hw_ = test::small_machine(8, 8);
};

TEST_F(OneProduct, TheExecuteQueueStreamsARowACycleBehindTheFirstTile) {
  const double first_tile = (kK * kN + 64 * kK) / 0.5, last_store = 64 * kN / 0.25;
  EXPECT_GE(bound(execute_bound), first_tile + kStreams + last_store);
}

TEST_F(OneProduct, TheLoadQueueMovesEveryByteAndTheLastTileFollows) {
  const double last_store = 64 * kN / 0.25;
  EXPECT_GE(bound(load_bound), (kM * kK + kK * kN) / 0.5 + 20 + 64 + last_store);
}

TEST_F(OneProduct, ThePostQueueTakesARowACycleBehindTheFirstTile) {
  const double first_tile = (kK * kN + 64 * kK) / 0.5 + 64, last_store = 64 * kN / 0.25;
  EXPECT_GE(bound(post_bound), first_tile + kPosts + last_store);
}

TEST_F(OneProduct, TheStoreQueueMovesEveryByteBehindTheFirstTile) {
  const double first_tile = (kK * kN + 64 * kK) / 0.5 + 64 + 64;
  EXPECT_GE(bound(store_bound), first_tile + kM * kN / 0.25 + 20);
}

TEST_F(OneProduct, ASlotOfActivationsIsLoadedThenStreamed) {
  for (const int64_t count : {1, 2}) {
    slots(hw::Buffer::activation, count);
    EXPECT_GE(bound(operand_slot_bound),
              (kM * kK / 0.5 + kStreams + 4 * 20) / static_cast<double>(count));
  }
}

/// The array is filled in 8 cycles for the first tile, and for the second and third one while the
/// tile before streams; the slot is free when it has been filled for the fourth.
TEST_F(OneProduct, ASlotOfWeightsIsLoadedThenFillsTheArray) {
  for (const int64_t count : {1, 2}) {
    slots(hw::Buffer::weight, count);
    EXPECT_GE(bound(held_slot_bound),
              (kK * kN / 0.5 + 20 + 8 + 2 * 64 + 8) / static_cast<double>(count));
  }
}

TEST_F(OneProduct, ASlotOfSumsIsStreamedThenPosted) {
  for (const int64_t count : {1, 2}) {
    slots(hw::Buffer::accumulator, count);
    EXPECT_GE(bound(sum_slot_bound), (kStreams + kPosts) / static_cast<double>(count));
  }
}

TEST_F(OneProduct, ASlotOfOutputsIsPostedThenStored) {
  for (const int64_t count : {1, 2}) {
    slots(hw::Buffer::output, count);
    EXPECT_GE(bound(output_slot_bound), (kPosts + kM * kN / 0.25) / static_cast<double>(count));
  }
}

/// What is found out first, by hand: operands as often as the loops load them, at half a byte a
/// cycle; nothing of staged ones, which don't come from DRAM as often.
TEST_F(OneProduct, LoadsTakeTheirBytesAsOftenAsTheyComeUnlessStaged) {
  const GemmProblem p = make_problem(test::product(256, 8, 32), hw_);
  constexpr auto kFlow = hw::Dataflow::weight_stationary;
  const GemmBound bound(p, hw_, kFlow, 1, false);
  MappingPin pin;
  pin.pixels = {64};
  pin.channels = pin.outputs = {8};
  const PixelOption m = pixel_options(p, hw_, kFlow, pin).front();
  const ChannelOption c = channel_options(p, hw_, 1, pin).front();
  const OutputOption n = output_options(p, hw_, 1, pin).front();
  Tiling t{kFlow, m.images, m.lines, m.pixels, 1, n.outputs, c.channels, false, false};
  EXPECT_NEAR(bound.least_load_cycles(t, m, c, n), (256 * 8 + 4 * 8 * 32) / 0.5, 1e-6);
  t.outputs_outer = true;
  EXPECT_NEAR(bound.least_load_cycles(t, m, c, n), (4 * 256 * 8 + 8 * 32) / 0.5, 1e-6);
  for (const int64_t staged : {1, 16}) {
    t.staged = staged;
    EXPECT_EQ(bound.least_load_cycles(t, m, c, n), 0);
  }
}

/// Products of a batch, in every way: the bound of bytes from and to DRAM is what programs move.
/// Parameters of a tile of outputs come again with each entry of the batch and, where the loop over
/// tiles of pixels is the outer one, with each of those.
TEST(DramBytes, AreThoseOfProgramsHoweverOftenParametersAreLoaded) {
  const hw::HwConfig hw = test::small_machine(8, 8);
  GemmOp op = test::product(24, 16, 32);
  op.batch = 3;
  GemmProblem p = make_problem(op, hw);
  p.b.constant = true;
  p.has_parameters = true;
  choose_weights(p, hw);
  CostEvaluator evaluator(hw);
  int again = 0;
  constexpr auto kFlow = hw::Dataflow::weight_stationary;
  const GemmBound bound(p, hw, kFlow, 1, false);
  for (const PixelOption& m : pixel_options(p, hw, kFlow, {}))
    for (const ChannelOption& c : channel_options(p, hw, 1, {}))
      for (const OutputOption& n : output_options(p, hw, 1, {}))
        for (const bool outputs_outer : {false, true}) {
          const Tiling t{kFlow,     m.images,   m.lines,       m.pixels, 1,
                         n.outputs, c.channels, outputs_outer, false};
          if (!fits(tiling_footprint(p, hw, t), hw)) continue;
          const hw::Counts counts = evaluator.cost(p, t).counts;
          EXPECT_EQ(bound.dram_bytes(t, m, c, n),
                    static_cast<double>(counts.moved(hw::MemoryId::dram).count()))
              << to_string(t);
          again += n.chunks > 1 && m.tiles > 1 ? 1 : 0;
        }
  EXPECT_GT(again, 0);
}

/// Ports of 16 bytes and a memory that gives as many, but the array and so the transposer are 8
/// wide: keys that lie as [n][k] come in at 8 bytes a cycle, activations that lie as [k][m] too,
/// and of 3 rows or columns alone at 3; and a load takes as many cycles more as its blocks are
/// wide.
TEST(LoadBounds, KnowTheTransposersWidth) {
  hw::HwConfig hw = test::small_machine(8, 8);
  hw.dram = {{16000}, {16000}, 20};
  const auto bound = [&](GemmOp op, hw::Dataflow d) {
    const GemmProblem p = make_problem(op, hw);
    double out = -1;
    for_every_tiling(p, hw, d, [&](const Tiling& t, const GemmTimes& times) {
      if (t.pixels != op.in[2] || t.outputs != op.outputs || t.channels != op.channels ||
          t.outputs_outer)
        return;
      out = times.loads;
      CostEvaluator evaluator(hw);
      EXPECT_LE(load_bound(times),
                static_cast<double>(evaluator.cost(p, t).timing.total.count()) * (1 + 1e-9));
    });
    return out;
  };
  constexpr auto kWeights = hw::Dataflow::weight_stationary;
  constexpr auto kInputs = hw::Dataflow::input_stationary;
  GemmOp op = test::product(16, 64, 32);
  // It lies as [k][n]: a beat of the port for the 8 bytes that each k has of a column block.
  EXPECT_DOUBLE_EQ(bound(op, kWeights), 16 * 64 / 16.0 + 64 * (32 / 8.0));
  EXPECT_DOUBLE_EQ(bound(op, kInputs), 16 * 64 / 16.0 + 64 * 32 / 8.0 + 8);
  op.b_transposed = true;
  EXPECT_DOUBLE_EQ(bound(op, kWeights), 16 * 64 / 16.0 + 64 * 32 / 8.0 + 8);
  EXPECT_DOUBLE_EQ(bound(op, kInputs), (16 * 64 + 64 * 32) / 16.0);
  op.a_transposed = true;
  EXPECT_DOUBLE_EQ(bound(op, kWeights), (16 * 64 + 64 * 32) / 8.0 + 2 * 8);
  op = test::product(3, 64, 3);
  op.a_transposed = op.b_transposed = true;
  EXPECT_DOUBLE_EQ(bound(op, kWeights), (3 * 64 + 64 * 3) / 3.0 + 2 * 3);
  op = test::product(16, 64, 17);  // all but a lone column, whose 64 bytes come as they lie
  op.b_transposed = true;
  EXPECT_DOUBLE_EQ(bound(op, kWeights), 16 * 64 / 16.0 + 64 * 16 / 8.0 + 8);
  op = test::product(1, 64, 1);  // nothing to turn
  op.a_transposed = op.b_transposed = true;
  EXPECT_DOUBLE_EQ(bound(op, kWeights), (64 + 64) / 16.0);
}

/// Output stationary, 20 rows of an 8 x 8 array are three blocks. A pass streams max(m, k), so a
/// block takes at least its share of the reduction and its rows in each pass, and the drains of two
/// blocks are 8 rows apart.
TEST(OutputStationaryBounds, KnowPassesAndDrains) {
  const hw::HwConfig hw = test::small_machine(8, 8);
  const auto bound = [&](int64_t m, int64_t k, int64_t n) {
    const GemmProblem p = make_problem(test::product(m, k, n), hw);
    double out = -1;
    for_every_tiling(p, hw, hw::Dataflow::output_stationary,
                     [&](const Tiling& t, const GemmTimes& times) {
                       if (t.pixels == m && t.outputs == n && t.channels == k && !t.outputs_outer)
                         out = execute_bound(times);
                     });
    return out;
  };
  EXPECT_GE(bound(20, 80, 8), 3 * 80);        // three blocks of all k
  EXPECT_GE(bound(1, 80, 8), 80);             // one, though it has one row
  EXPECT_GE(bound(20, 41, 8), 6 * 20);        // six passes of all rows: 5 times 8 lanes, once 1
  EXPECT_GE(bound(20, 1, 32), (12 - 1) * 8);  // 3 x 4 drains
}

}  // namespace
}  // namespace accsim::sim
