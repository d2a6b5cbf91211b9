#include <gtest/gtest.h>

#include <limits>

#include "hw/config/load.h"
#include "hw/energy/energy.h"
#include "sim/map/mapper.h"
#include "sim/map/product/gemm_options.h"
#include "sim/map/product/heuristic_tiling.h"
#include "sim/work/random_gemm.h"
#include "tests/support/gemms.h"
#include "tests/support/index.h"
#include "tests/support/machines.h"
#include "tests/support/source.h"

namespace accsim::sim {
namespace {

using test::as_index;

constexpr std::array<Objective, kObjectives> kAll = {Objective::cycles, Objective::energy,
                                                     Objective::edp, Objective::traffic};
const std::vector<hw::Dataflow> kAllDataflows = {hw::Dataflow::weight_stationary,
                                                 hw::Dataflow::input_stationary,
                                                 hw::Dataflow::output_stationary};

std::vector<int64_t> divisors(int64_t n) {
  std::vector<int64_t> out;
  for (int64_t d = 1; d <= n; ++d)
    if (n % d == 0) out.push_back(d);
  return out;
}

hw::HwConfig machine(std::mt19937& random) {
  hw::HwConfig hw = test::random_machine(random);
  hw.energy = {.mac = 0.2,
               .vector_op = 0.1,
               .buffer_byte = {1, 1.5, 0.5, 2, 1},
               .shared_byte = 4,
               .dram_read_byte = 100,
               .dram_write_byte = 120,
               .static_per_cycle = 3};
  return hw;
}

OpRequest request(const GemmOp& op) {
  OpRequest r;
  r.item = op;
  r.inputs = {{{"a", hw::MemoryId::dram, false}, 1}, {{"b", hw::MemoryId::dram, true}, 1}};
  r.outputs = {{{"y", hw::MemoryId::dram, false}, 1}};
  return r;
}

/// Calls `f` with every tiling whose sizes divide the op's, whether it fits or not.
template <class F>
void for_every_divisor(const GemmProblem& p, F f) {
  const GemmOp& op = p.op;
  const bool planar = op.in[0] == 1 && op.out[0] == 1 && op.kernel[0] == 1;
  for (const hw::Dataflow d : kAllDataflows)
    for (const int64_t groups : divisors(op.batch)) {
      if (groups > p.most_groups) continue;
      for (const int64_t outputs :
           groups > 1 ? std::vector{groups * op.outputs} : divisors(op.outputs))
        for (const int64_t channels :
             groups > 1 ? std::vector{groups * op.channels} : divisors(op.channels))
          for (const int64_t lines : divisors(op.out[1]))
            for (const int64_t pixels : lines > 1 ? std::vector{op.out[2]} : divisors(op.out[2]))
              for (const int64_t images : planar&& lines == op.out[1] && pixels == op.out[2]
                                              ? divisors(op.images)
                                              : std::vector<int64_t>{1})
                for (const bool outer : {false, true})
                  f(Tiling{d, images, lines, pixels, groups, outputs, channels, outer, false});
    }
}

TEST(Search, IsNeverWorseThanBruteForceOverAllDivisors) {
  std::mt19937 random(11);
  int64_t ops = 0, tilings = 0;
  while (ops < 40) {
    const hw::HwConfig hw = machine(random);
    const GemmOp op = random_gemm(random);
    if (op.macs() > 30'000) continue;  // thousands of tilings each, all of them built and stepped
    const OpRequest r = request(op);
    std::array<double, kObjectives> best;
    best.fill(std::numeric_limits<double>::infinity());
    GemmProblem p = make_problem(op, hw);
    p.b.constant = true;
    p.has_parameters = true;
    for_every_divisor(p, [&](const Tiling& t) {
      if (!fits(tiling_footprint(p, hw, t), hw)) return;
      const hw::Program program = emit(p, hw, t);
      const Cost cost{hw::simulate(program, hw, hw::TimingMode::step), count_program(program, hw)};
      for (const Objective o : kAll)
        best[static_cast<size_t>(o)] =
            std::min(best[static_cast<size_t>(o)], mapping_score({o}, cost, hw).primary);
      ++tilings;
    });
    if (best[0] == std::numeric_limits<double>::infinity()) continue;
    ++ops;
    for (const Objective o : kAll) {
      Mapper mapper(hw, {.dataflows = kAllDataflows, .objective = o, .slack = 0});
      const auto found = mapper.map(r, "op");
      ASSERT_TRUE(found.ok());
      const Score its = mapping_score({o}, {(*found)->timing, (*found)->counts}, hw);
      EXPECT_LE(its.primary, best[static_cast<size_t>(o)] * (1 + 1e-12))
          << name(o) << ": " << (*found)->description;
    }
  }
  EXPECT_GT(tilings, 5000);
}

/// What branch and bound leaves out is no better: against timing every candidate.
TEST(Search, FindsTheBestOfAllCandidates) {
  std::mt19937 random(12);
  for (int round = 0; round < 100; ++round) {
    const hw::HwConfig hw = machine(random);
    const GemmOp op = random_gemm(random);
    const Objective o = kAll[static_cast<size_t>(round) % kObjectives];
    Mapper mapper(hw, {.dataflows = kAllDataflows, .objective = o, .slack = 0});
    OpRequest r = request(op);
    r.table = round % 8 < 4;
    const auto found = mapper.map(r, "op");
    if (!found) continue;
    const GemmProblem& p = (*found)->source_as<GemmSource>()->problem;
    if (p.op.macs() > 1'000'000) continue;
    CostEvaluator evaluator(hw);
    double best = std::numeric_limits<double>::infinity();
    std::vector<std::pair<double, int64_t>> all;
    for (const Candidate& c :
         tiling_candidates(p, hw, {.dataflows = kAllDataflows, .objective = {o}}, {})) {
      const Cost cost = evaluator.cost(p, c.tiling);
      const double its = mapping_score({o}, cost, hw).primary;
      ASSERT_LE(c.bound, cost.timing.total.count()) << to_string(c.tiling) << "\n"
                                                    << program_text(emit(p, hw, c.tiling));
      ASSERT_LE(c.score_bound, its * (1 + 1e-9)) << name(o) << " " << to_string(c.tiling) << "\n"
                                                 << program_text(emit(p, hw, c.tiling));
      best = std::min(best, its);
      all.push_back({its, cost.timing.total.count()});
    }
    const Score chosen = mapping_score({o}, {(*found)->timing, (*found)->counts}, hw);
    EXPECT_DOUBLE_EQ(chosen.primary, best) << name(o);
    for (const auto& [its, cycles] : all)
      if (its <= chosen.primary) {
        EXPECT_GE(cycles, chosen.cycles) << name(o) << " ties";
      }
  }
}

/// Of all candidates that take at most so much more than the fewest cycles none has less energy
/// times traffic; the mapping of the fewest is kept beside it, with a program when it is asked for.
TEST(Search, TakesTheLeastEnergyAndTrafficWithinTheSlack) {
  std::mt19937 random(15);
  int others = 0, found_any = 0;
  for (int round = 0; round < 90; ++round) {
    const hw::HwConfig hw = machine(random);
    const GemmOp op = random_gemm(random);
    if (op.macs() > 300'000) continue;
    const double slack = std::array{0.01, 0.1, 0.6}[as_index(round % 3)];
    Mapper mapper(hw, {.dataflows = kAllDataflows, .slack = slack});
    const auto found = mapper.map(request(op), "op");
    if (!found) continue;
    ++found_any;
    const GemmProblem& p = (*found)->source_as<GemmSource>()->problem;
    CostEvaluator evaluator(hw);
    std::vector<Score> all;
    ObjectiveFunction objective{.slack = slack};
    const auto tilings =
        tiling_candidates(p, hw, {.dataflows = kAllDataflows, .objective = objective}, {});
    const auto plain = [](const Candidate& c) { return c.tiling.groups == 1; };
    const auto at = std::ranges::find_if(tilings, plain);  // weights of packs are more
    if (at == tilings.end()) continue;
    for (const hw::ProgramTensor& t : emit(p, hw, at->tiling).tensors)
      objective.tensor_bytes += static_cast<double>(t.bytes);
    for (const Candidate& c :
         tiling_candidates(p, hw, {.dataflows = kAllDataflows, .objective = objective}, {})) {
      const Cost cost = evaluator.cost(p, c.tiling);
      all.push_back(mapping_score(objective, cost, hw));
      EXPECT_DOUBLE_EQ(all.back().picojoules,
                       total_energy(energy(cost.counts, cost.timing.total, hw)).value());
      const auto bytes = static_cast<double>(all.back().dram_bytes);
      EXPECT_DOUBLE_EQ(all.back().energy_traffic,
                       all.back().picojoules * (objective.tensor_bytes + bytes));
      ASSERT_LE(c.energy_traffic, all.back().energy_traffic * (1 + 1e-9)) << to_string(c.tiling);
    }
    const auto fewer = [](const Score& a, const Score& b) { return a.cycles < b.cycles; };
    const int64_t fewest = std::ranges::min_element(all, fewer)->cycles;
    const double most = (1 + slack) * static_cast<double>(fewest);
    double least = std::numeric_limits<double>::infinity();
    for (const Score& s : all)
      if (static_cast<double>(s.cycles) <= most) least = std::min(least, s.energy_traffic);
    const Score chosen = mapping_score(objective, {(*found)->timing, (*found)->counts}, hw);
    EXPECT_LE(static_cast<double>(chosen.cycles), most);
    EXPECT_DOUBLE_EQ(chosen.energy_traffic, least) << (*found)->description;
    others += chosen.cycles > fewest;
    const auto& behind = (*found)->fewest;
    const auto back = behind ? mapper.with_program(behind, "op") : *found;
    EXPECT_EQ(back->timing.total.count(), fewest);
    EXPECT_EQ(back == *found, chosen.cycles == fewest);
    EXPECT_EQ(hw::simulate(back->program, hw).total.count(), fewest);
    EXPECT_EQ(behind ? mapper.with_program(behind, "op") : *found, back);
  }
  EXPECT_GT(found_any, 30);
  EXPECT_GT(others, 10) << "hardly any took the slack";
}

/// Where the chosen mapping moves tensors in DRAM more than once, there stands behind it, of those
/// beyond the slack that move less, the one of the least energy times traffic, if that is less than
/// its own.
TEST(Search, GoesBeyondTheSlackWhereTensorsMoveMoreThanOnce) {
  std::mt19937 random(16);
  int beyond = 0;
  for (int round = 0; round < 150; ++round) {
    const hw::HwConfig hw = machine(random);
    const GemmOp op = random_gemm(random);
    if (op.macs() > 300'000) continue;
    Mapper mapper(hw, {.dataflows = kAllDataflows, .slack = 0.01});
    const auto found = mapper.map(request(op), "op");
    if (!found) continue;
    const GemmProblem& p = (*found)->source_as<GemmSource>()->problem;
    ObjectiveFunction objective{.slack = 0.01};
    objective.tensor_bytes = (*found)->tensor_bytes;
    CostEvaluator evaluator(hw);
    std::vector<Score> all;
    for (const Candidate& c :
         tiling_candidates(p, hw, {.dataflows = kAllDataflows, .objective = objective}, {}))
      all.push_back(mapping_score(objective, evaluator.cost(p, c.tiling), hw));
    const auto fewer = [](const Score& a, const Score& b) { return a.cycles < b.cycles; };
    const auto fewest = static_cast<double>(std::ranges::min_element(all, fewer)->cycles);
    const Score chosen = mapping_score(objective, {(*found)->timing, (*found)->counts}, hw);
    std::erase_if(all, [&](const Score& s) {
      return static_cast<double>(s.cycles) > (1 + 0.01 * kWideSlack) * fewest ||
             s.dram_bytes >= chosen.dram_bytes || s.energy_traffic >= chosen.energy_traffic;
    });
    const bool expected = chosen.dram_bytes > p.dram_tensor_bytes() && !all.empty();
    ASSERT_EQ((*found)->in_wide_slack != nullptr, expected) << (*found)->description;
    if (!expected) continue;
    ++beyond;
    const auto key = [](const Score& s) {
      return std::tie(s.energy_traffic, s.dram_bytes, s.cycles);
    };
    const Score least = *std::ranges::min_element(
        all, [&](const Score& a, const Score& b) { return key(a) < key(b); });
    const Mapping& other = *(*found)->in_wide_slack;
    EXPECT_EQ(mapping_score(objective, {other.timing, other.counts}, hw), least);
    EXPECT_EQ(
        hw::simulate(mapper.with_program((*found)->in_wide_slack, "op")->program, hw).total.count(),
        least.cycles);
  }
  EXPECT_GT(beyond, 10);
}

TEST(TileSizes, AreTheSmallestForEachNumberOfTilesAndHoldAllDivisors) {
  for (int64_t length = 1; length <= 300; ++length) {
    std::vector<int64_t> expected;
    for (int64_t tiles = 1; tiles <= length; ++tiles)
      if (const int64_t size = ceil_div(length, tiles); expected.empty() || expected.back() != size)
        expected.push_back(size);
    EXPECT_EQ(tile_sizes(length), expected);
    for (const int64_t d : divisors(length))
      EXPECT_NE(std::find(expected.begin(), expected.end(), d), expected.end());
  }
  // 200 over 64 lanes: ceil(200 / j), and 4, 2 and 1 times 64.
  const auto lanes = tile_sizes(200, 64);
  for (const int64_t size : {200, 128, 64, 100, 67, 50, 40, 1})
    EXPECT_NE(std::find(lanes.begin(), lanes.end(), size), lanes.end()) << size;
}

/// Blocks are as few as can be; of all sizes that make as many, with a rest, no other takes an
/// output stationary array fewer cycles, whatever the reduction.
TEST(TileSizes, AreThoseUpToALimitWithoutTheOthers) {
  std::mt19937 random(11);
  for (int i = 0; i < 500; ++i) {
    const auto length = static_cast<int64_t>(random() % 3000 + 1);
    const auto unit = static_cast<int64_t>(i % 3 == 0 ? 1 : random() % 70 + 1);
    const auto most = static_cast<int64_t>(random() % 3500 + 1);
    std::vector<int64_t> wanted = tile_sizes(length, unit);
    std::erase_if(wanted, [&](int64_t size) { return size > most; });
    EXPECT_EQ(tile_sizes(length, unit, most), wanted) << length << ", " << unit << ", " << most;
  }
  EXPECT_LE(tile_sizes(int64_t{1} << 42, 64, 4096).size(), 4096U);  // of four million
}

TEST(PixelBlocks, AreTheFewestAndTheirStreamsTheShortest) {
  const hw::HwConfig hw = test::small_machine(7, 5);
  const auto streams = [](int64_t pixels, int64_t block, int64_t k) {
    int64_t sum = 0;
    for (; pixels > 0; pixels -= block) sum += std::max(std::min(pixels, block), k);
    return sum;
  };
  for (int64_t pixels = 1; pixels <= 120; ++pixels) {
    const int64_t columns = pixel_block(hw, hw::Dataflow::input_stationary, pixels);
    EXPECT_EQ(columns, std::min<int64_t>(pixels, 5));
    const int64_t rows = pixel_block(hw, hw::Dataflow::output_stationary, pixels);
    EXPECT_LE(rows, 7);
    EXPECT_EQ(ceil_div(pixels, rows), ceil_div(pixels, 7));
    for (int64_t k = 1; k <= 7; ++k)
      for (int64_t other = ceil_div(pixels, ceil_div(pixels, 7)); other <= 7; ++other)
        EXPECT_LE(streams(pixels, rows, k), streams(pixels, other, k)) << pixels << " " << other;
  }
}

/// Beside the equal parts, those that an array of 8 rows takes in whole blocks.
TEST(PixelOptions, HaveTilesOfWholeBlocksWhereSumsStay) {
  const hw::HwConfig hw = test::small_machine(8, 8);
  const auto has = [&](const GemmOp& op, auto field, int64_t size) {
    const auto all = pixel_options(make_problem(op, hw), hw, hw::Dataflow::output_stationary, {});
    return std::any_of(all.begin(), all.end(),
                       [&](const PixelOption& o) { return field(o) == size; });
  };
  const auto pixels = [](const PixelOption& o) { return o.pixels; };
  const auto lines = [](const PixelOption& o) { return o.lines; };
  const auto images = [](const PixelOption& o) { return o.images; };
  // 41 rows: 21 + 20 and 14 + 14 + 13 are equal parts; 24, 16 and 8 are whole blocks.
  for (const int64_t size : {41, 24, 21, 16, 14, 8, 1})
    EXPECT_TRUE(has(test::product(41, 8, 8), pixels, size)) << size;
  // Lines of 12 pixels: two of them are three blocks.
  GemmOp op = test::convolution({.channels = 8, .size = 12, .outputs = 8});
  op.in[1] = op.out[1] = 19;
  for (const int64_t size : {19, 10, 8, 7, 6, 5, 4, 2}) EXPECT_TRUE(has(op, lines, size)) << size;
  // Images of 3 x 4 pixels, likewise.
  op.images = 19;
  op.in = op.out = {1, 3, 4};
  for (const int64_t size : {19, 10, 8, 7, 6, 5, 4, 2}) EXPECT_TRUE(has(op, images, size)) << size;
}

/// Where a link to DRAM decides alone, tens of thousands of tilings differ by their first and last
/// tiles. The search ends all the same, within a thousandth of what the link takes.
TEST(Search, EndsWhereAllTilingsAreAlike) {
  hw::HwConfig hw = *hw::load_hw(kSource + "/configs/8x8.yaml");
  hw.dram.write = {31};  // 0.031 bytes a cycle
  constexpr int64_t kSide = 1'000'000, kOutputs = 8;
  GemmOp op;
  op.channels = 3;
  op.outputs = kOutputs;
  op.in = op.out = {1, kSide, kSide};
  op.kernel = {1, 3, 3};
  op.pad = {0, 1, 1};
  const auto found = Mapper(hw, {}).map(request(op), "op");
  ASSERT_TRUE(found.ok());
  EXPECT_GT((*found)->candidates, 50'000);
  EXPECT_LT((*found)->evaluated, 5'000);
  const double least = static_cast<double>(kSide * kSide * kOutputs) / 0.031;
  EXPECT_GE(static_cast<double>((*found)->timing.total.count()), least);
  EXPECT_LT(static_cast<double>((*found)->timing.total.count()), 1.0001 * least);
}

TEST(Search, CountsWhatItHasLookedAt) {
  const hw::HwConfig hw = test::small_machine();
  Mapper mapper(hw, {});
  EXPECT_EQ(mapper.candidate_count(), 0);
  EXPECT_EQ(mapper.evaluated_count(), 0);
  int64_t candidates = 0, evaluated = 0;
  for (const int64_t n : {30, 40}) {
    const auto found = mapper.map(request(test::product(20, 30, n)), "op");
    ASSERT_TRUE(found.ok());
    candidates += (*found)->candidates;
    evaluated += (*found)->evaluated;
    ASSERT_TRUE(mapper.map(request(test::product(20, 30, n)), "again").ok());
    EXPECT_EQ(mapper.candidate_count(), candidates);
    EXPECT_EQ(mapper.evaluated_count(), evaluated);
  }
  EXPECT_GT(evaluated, 0);
  EXPECT_GT(candidates, evaluated);
}

TEST(Search, CountsAWalkOverBurstsOnceAndEndsWithoutMemory) {
  SearchLimit limit(std::numeric_limits<int64_t>::max());
  for (const uint64_t kind : {1, 2, 1}) limit.add_walk(kind, 100);
  EXPECT_EQ(limit.spent(), 2 * 100 / 2);
  EXPECT_FALSE(limit.is_over());
  limit.give_up();
  EXPECT_TRUE(limit.is_over());
  limit.start_over();
  EXPECT_TRUE(limit.is_over());
}

/// Each of two threads has a product that takes longer than all may.
TEST(Search, EndsInAllThreadsAtOneLimit) {
  const hw::HwConfig hw = *hw::load_hw(kSource + "/configs/64x64.yaml");
  constexpr int64_t kMost = 20'000, kFirst = 840, kOps = 8;
  std::vector<OpRequest> requests;
  for (int64_t i = 0; i < kOps; ++i)
    requests.push_back(request(test::product(kFirst + 12 * i, 5040, 2520)));
  const std::string layer = "op";
  std::vector<NetworkOp> ops;
  for (const OpRequest& r : requests) ops.push_back({&r, &layer});
  const auto limited = [](int64_t most) {
    MapOptions out;
    out.limit = std::make_shared<SearchLimit>(most);
    return out;
  };
  const auto spent = [](const Mapper& mapper) { return mapper.options().limit->spent(); };
  Mapper one(hw, limited(1'000'000'000));
  ASSERT_TRUE(one.map(requests.front(), layer).ok());
  ASSERT_GT(spent(one), kMost);
  Mapper rule(hw, [&] {
    MapOptions out = limited(1'000'000'000);
    out.effort = MapEffort::rule;
    return out;
  }());
  ASSERT_TRUE(rule.map(requests.back(), layer).ok());
  for (const int threads : {1, 2, 4}) {
    MapOptions options = limited(kMost);
    options.threads = threads;
    Mapper mapper(hw, options);
    mapper.map_ahead(ops);
    for (const NetworkOp& op : ops) ASSERT_TRUE(mapper.map(*op.request, layer).ok());
    EXPECT_TRUE(mapper.is_over());
    // Each search begins by timing the rule's tiling and looks at the limit now and then.
    EXPECT_LT(spent(mapper), kMost + kOps * 5 * spent(rule)) << threads;
  }
}

TEST(Rule, GivesTilingsThatFitAndAreAmongTheCandidates) {
  std::mt19937 random(13);
  int found = 0, possible = 0;
  for (int round = 0; round < 400; ++round) {
    const hw::HwConfig hw = test::random_machine(random);
    const GemmOp op = random_gemm(random);
    GemmProblem p = make_problem(op, hw);
    p.has_parameters = random() % 2 == 0;
    const hw::Dataflow d = kAllDataflows[random() % hw::kDataflows];
    const auto all = tiling_candidates(p, hw, {.dataflows = {d}}, {});
    const auto t = heuristic_tiling(p, hw, d);
    possible += !all.empty();
    if (!t) continue;
    ++found;
    EXPECT_TRUE(fits(tiling_footprint(p, hw, *t), hw)) << to_string(*t);
    EXPECT_TRUE(
        std::any_of(all.begin(), all.end(), [&](const Candidate& c) { return c.tiling == *t; }))
        << to_string(*t) << " M " << op.m() << " C " << op.channels << " N " << op.outputs;
  }
  EXPECT_EQ(found, possible) << "the rule must find a tiling wherever there is one";
}

TEST(Rule, MapsVectorOpsWhereverASearchDoes) {
  std::mt19937 random(14);
  for (int round = 0; round < 300; ++round) {
    const hw::HwConfig hw = test::random_machine(random);
    OpRequest r;
    VectorOp op;
    const auto elements = static_cast<int64_t>(1 + random() % 20'000);
    op.inputs = {{0, elements, 0}};
    op.outputs = {{0, elements, 0}};
    op.ops[0] = elements;
    op.row = static_cast<int64_t>(1 + random() % 500);
    op.passes = static_cast<int>(1 + random() % 3);
    r.item = op;
    r.inputs = r.outputs = {{{"x", hw::MemoryId::dram, false}, 1}};
    const auto searched = Mapper(hw, {}).map(r, "op");
    MapOptions by_rule;
    by_rule.effort = MapEffort::rule;
    const auto ruled = Mapper(hw, by_rule).map(r, "op");
    ASSERT_EQ(searched.ok(), ruled.ok());
    if (!searched) continue;
    EXPECT_LE((*searched)->timing.total, (*ruled)->timing.total);
  }
}

}  // namespace
}  // namespace accsim::sim
