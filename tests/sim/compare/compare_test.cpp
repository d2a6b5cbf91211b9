#include "sim/compare/compare.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "sim/compare/remains.h"
#include "tests/sim/compare/random_pairs.h"
#include "tests/support/source.h"

namespace accsim::sim {
namespace {

/// A layer that spends the cycles on the causes given.
SideLayer layer(const std::string& name, const std::string& op,
                std::initializer_list<std::pair<Cause, int64_t>> causes) {
  SideLayer out{name, op, 0, {}};
  for (const auto& [cause, cycles] : causes) {
    cycles_by(out.causes, cause) = cycles;
    out.cycles += cycles;
  }
  return out;
}

RunSide side(std::vector<SideLayer> layers, int64_t rows = 16) {
  RunSide out;
  out.clock_mhz = 1000;
  out.rows = out.cols = rows;
  out.macs = 1;
  out.layers = std::move(layers);
  for (const SideLayer& l : out.layers) out.cycles += l.cycles;
  return out;
}

TEST(Causes, OfALayerAreItsBusyCyclesByUnitWaitsAndTail) {
  Costs c;
  c.compute_bound = 100;  // 70 MACs' and 30 vector operations' cycles
  c.vector_bound = 30;
  c.compute_cycles = 150;  // 95 of the array, 35 of the vector unit, 20 of moves
  c.vector_cycles = 35;
  c.move_cycles = 20;
  // dram_read, dram_write, shared, weight_load, array, post, slot
  c.stalls = {1, 2, 4, 128, 8, 16, 32};
  c.tail_cycles = 64;
  c.cycles = 150 + 63 + 128 + 64;
  const CauseCycles causes = causes_of(c);
  EXPECT_EQ(causes, (CauseCycles{70, 25, 128, 8, 30, 5, 20, 1, 2, 4, 16, 32, 64, 0, 0, 0}));
  EXPECT_EQ(sum_causes(causes), c.cycles);
}

TEST(Compare, TakesTheDifferenceApartByCause) {
  const Comparison c =
      compare_runs(side({layer("a", "Conv", {{Cause::array, 100}, {Cause::dram_read, 20}}),
                         layer("b", "Softmax", {{Cause::vector, 50}, {Cause::tail, 5}})}),
                   side({layer("a", "Conv", {{Cause::array, 25}, {Cause::dram_read, 60}}),
                         layer("b", "Softmax", {{Cause::vector, 50}, {Cause::tail, 4}})}));
  CauseCycles expected{};
  cycles_by(expected, Cause::array) = -75;
  cycles_by(expected, Cause::dram_read) = 40;
  cycles_by(expected, Cause::tail) = -1;
  EXPECT_EQ(c.difference, expected);
  ASSERT_EQ(c.layers.size(), 2u);
  EXPECT_EQ(c.layers[0].difference, -35);
  EXPECT_EQ(c.layers[1].difference, -1);
}

TEST(Compare, LayersOverlapIsTheRunLessItsLayers) {
  RunSide a = side({layer("a", "Conv", {{Cause::array, 100}})});
  RunSide b = a;
  b.cycles = 90;  // as when layers run beside one another
  const Comparison c = compare_runs(a, b);
  EXPECT_EQ(cycles_by(c.difference, Cause::overlap), -10);
  EXPECT_EQ(cycles_by(c.cycles_b, Cause::overlap), -10);
  EXPECT_EQ(sum_causes(c.difference), -10);
}

TEST(Compare, MatchesByNameThenByOperatorAndOrder) {
  const auto conv = [](const char* name, int64_t cycles) {
    return layer(name, "Conv", {{Cause::array, cycles}});
  };
  const Comparison c =
      compare_runs(side({conv("x", 1), conv("twice", 2), conv("twice", 3), conv("old1", 4),
                         layer("gone", "Relu", {{Cause::vector, 5}})}),
                   side({layer("new", "Exp", {{Cause::vector, 7}}), conv("twice", 20),
                         conv("x", 10), conv("other", 40), conv("twice", 30), conv("more", 50)}));
  std::vector<std::string> pairs;
  for (const LayerDifference& l : c.layers)
    pairs.push_back(fmt::format("{} {}-{} {}", name(l.match), l.a ? c.a.layers[*l.a].name : "",
                                l.b ? c.b.layers[*l.b].name : "", l.difference));
  EXPECT_EQ(pairs, (std::vector<std::string>{"only_b -new 7", "name x-x 9", "name twice-twice 18",
                                             "name twice-twice 27", "only_b -more 50",
                                             "order old1-other 36", "only_a gone- -5"}));
  EXPECT_EQ(cycles_by(c.difference, Cause::only_a), -5);
  EXPECT_EQ(cycles_by(c.difference, Cause::only_b), 57);
  EXPECT_EQ(cycles_by(c.difference, Cause::array), 90);
}

TEST(Compare, NamesTheFieldsOfTheMachineThatDiffer) {
  RunSide a = side({}), b = side({});
  a.machine = {{"array.rows", "16"}, {"dram.latency", "20"}, {"same", "1"}};
  b.machine = {{"array.rows", "64"}, {"same", "1"}, {"dram.channels", "2"}};
  const Comparison c = compare_runs(a, b);
  ASSERT_EQ(c.changed.size(), 3u);
  EXPECT_EQ(c.changed[0].path + c.changed[0].a + c.changed[0].b, "array.rows1664");
  EXPECT_EQ(c.changed[1].path + c.changed[1].a + c.changed[1].b, "dram.latency20-");
  EXPECT_EQ(c.changed[2].path + c.changed[2].a + c.changed[2].b, "dram.channels-2");
}

TEST(Compare, SaysOfNumbersThatDifferWhatPeopleRead) {
  RunSide a = side({}), b = side({});
  a.machine = {{"by technology", "0.1908476291427829"},
               {"hardly", "0.30000000000000004"},
               {"large", "1000000000"},
               {"word", "nan"}};
  b.machine = {{"by technology", "2"}, {"hardly", "0.3"}, {"large", "1000000001"}, {"word", "in"}};
  std::string said;
  for (const ChangedField& f : compare_runs(a, b).changed) said += f.a + " " + f.b + "; ";
  EXPECT_EQ(said, "0.1908476 2; 0.30000000000000004 0.3; 1000000000 1000000001; nan in; ")
      << "where seven digits tell no difference, all are said";
}

TEST(Remains, SaysWhatIsLeftWhenTheArrayGrew) {
  // 16 times the array: 1600 cycles become 100, the vector unit's 400 stay.
  const Comparison c = compare_runs(
      side({layer("a", "Conv", {{Cause::array, 1600}}), layer("b", "Exp", {{Cause::vector, 400}})}),
      side({layer("a", "Conv", {{Cause::array, 100}}), layer("b", "Exp", {{Cause::vector, 400}})},
           64));
  const Remains r = find_remains(c);
  EXPECT_EQ(r.array_ratio, 16);
  EXPECT_EQ(r.speedup, 4);  // 2000 / 500
  ASSERT_TRUE(r.ideal);
  EXPECT_EQ(*r.ideal, 125);  // 2000 / 16
  ASSERT_EQ(r.units.size(), 2u);
  EXPECT_EQ(r.units[0].unit, Unit::vector);
  EXPECT_EQ(r.units[0].share_a, 0.2);
  EXPECT_EQ(r.units[0].share_b, 0.8);
  EXPECT_EQ(r.units[0].least_b, 100);
  const auto said = remains_sentences(c, r);
  ASSERT_EQ(said.size(), 4u);
  EXPECT_EQ(said[0],
            "16 times the array (16 x 16 -> 64 x 64), 1/4.00 of the cycles: 80.0 % of B is the "
            "vector unit (20.0 % of A).");
  EXPECT_EQ(said[1],
            "Had all of A shrunk to 1/16, B would take 125 cycles; it takes 500. Beyond that: the "
            "vector unit 375.");
  EXPECT_EQ(said[2],
            "Without the vector unit (400 cycles, 80.0 % of B; 400 in A) B would take 100 cycles "
            "at best, 1/20.00 of A's.");
}

TEST(Remains, HasNoIdealWhenTheWorkOrTheArrayIsAnother) {
  RunSide a = side({layer("a", "Conv", {{Cause::array, 10}})});
  RunSide other = a;
  other.rows = 64;
  other.macs = 2;
  EXPECT_FALSE(find_remains(compare_runs(a, a)).ideal);
  EXPECT_FALSE(find_remains(compare_runs(a, other)).ideal);
  EXPECT_EQ(find_remains(compare_runs(side({}), side({}))).speedup, 0);
}

TEST(Causes, StandInTheDocument) {
  std::ifstream file(kSource + "/docs/compare.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  for (const CauseInfo& cause : cause_table())
    EXPECT_NE(text.find(fmt::format("`{}`", cause.key)), std::string::npos) << cause.key;
}

TEST(Compare, SumsAreExactOnRandomMachines) {
  const auto counts = test::compare_random_pairs(12, 1, MapEffort::rule, kSource);
  EXPECT_EQ(counts.wrong, "");
  EXPECT_GE(counts.comparisons, 50);
}

}  // namespace
}  // namespace accsim::sim
