#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <random>

#include "hw/cosim/cosim.h"
#include "hw/golden/row_math.h"
#include "sim/lower/row_layout.h"
#include "sim/map/rows/row_problem.h"
#include "sim/operators/norm/row_rules.h"
#include "tests/support/cosim_cases.h"
#include "tests/support/rtl_variants.h"

namespace accsim::hw {
namespace {

using sim::RowKind;

std::vector<uint8_t> random_bytes(std::mt19937& random, int64_t count) {
  std::vector<uint8_t> out(static_cast<size_t>(count));
  for (uint8_t& b : out) b = static_cast<uint8_t>(random());
  return out;
}

/// What the commands ask of tables and channels; everything else of memory may be anything.
std::vector<uint8_t> parameters_of(const sim::RowProblem& p, std::mt19937& random) {
  std::vector<int32_t> words;
  if (p.is_softmax()) {
    const SoftmaxTables t = *softmax_tables({.input = 0.05});
    words.assign(t.coarse.begin(), t.coarse.end());
    words.insert(words.end(), t.fine.begin(), t.fine.end());
  } else {
    const auto real = [&] { return std::uniform_real_distribution<double>(-2, 2)(random); };
    for (int64_t i = p.parameter_bytes(p.work.rows) / RowCommand::kChannelBytes; i > 0; --i) {
      const NormWords c =
          pack_channel(*norm_channel(real(), real(), 0.03, norm_unit_bits(p.work.row_length())));
      words.insert(words.end(), c.begin(), c.end());
    }
  }
  std::vector<uint8_t> out(words.size() * sizeof words[0]);
  std::memcpy(out.data(), words.data(), out.size());
  return out;
}

sim::RowProblem random_row_problem(std::mt19937& random) {
  const auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  const Dims dims{pick(1, 3), pick(1, 3) * 2, pick(1, 5), pick(1, 8) * 2};
  const int64_t kind = pick(0, 3);
  sim::RowMeaning m = row_meaning(RowKind::layer_norm, dims, 3, 4, true);
  if (kind == 0) {
    m = row_meaning(RowKind::softmax, dims, 3, 4, false);
    m.mask_port = 1;
    sim::add_mask({dims[2], dims[3]}, m);
  }
  if (kind == 1) {
    m = row_meaning(RowKind::layer_norm, dims, 2, 4, false);
    m.axes[1].channel = true;
    m.channel_axes = 1;
  }
  if (kind == 2) m.kind = RowKind::rms_norm;
  sim::RowProblem p;
  p.work = *row_work(m, memory_axes(m));
  p.in = {"in"};
  p.out = {"out"};
  p.mask = {"mask"};
  p.parameters = {"parameters"};
  return p;
}

/// Rows, cut in every way that the mapper knows: the same bits and cycles as golden and timing.
TEST(CosimRows, AreProgramsOfRowsEqual) {
  auto options = test::rtl_options();
  if (!options) GTEST_SKIP() << "verilator or a C++ compiler is missing";
  options->assertions = true;
  const Dataflow d = Dataflow::weight_stationary;
  const HwConfig hw = test::cosim_machine(4, 4, 2, 16, d);
  const auto core = VerilatedCore::load(hw, d, *options);
  ASSERT_TRUE(core.ok()) << core.errors()[0].text();
  std::map<sim::RowParameters, int> ways;
  for (unsigned seed = 1; seed <= 25; ++seed) {
    std::mt19937 random(seed);
    const sim::RowProblem p = random_row_problem(random);
    const auto cuts = tilings(p, hw);
    ASSERT_FALSE(cuts.empty());
    for (int i = 0; i < 3; ++i) {
      const sim::RowTile tile = cuts[random() % cuts.size()].second;
      const Program program = emit(p, hw, tile);
      ASSERT_TRUE(verify(program, hw).ok());
      MemoryImage image = {random_bytes(random, p.work.element_count()),
                           std::vector<uint8_t>(static_cast<size_t>(p.work.element_count()))};
      if (p.work.mask) image.push_back(random_bytes(random, p.work.mask->elements));
      image.push_back(parameters_of(p, random));
      const auto result = cosim(program, hw, **core, image);
      ASSERT_TRUE(result.ok()) << result.errors()[0].text();
      EXPECT_TRUE(result->all_equal()) << to_string(p, tile) << ": " << result->first_difference;
      ++ways[tile.parameters];
    }
  }
  for (int way = 0; way < 3; ++way) EXPECT_GT(ways[static_cast<sim::RowParameters>(way)], 5) << way;
}

}  // namespace
}  // namespace accsim::hw
