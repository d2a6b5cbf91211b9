#include "hw/dot_product/layer_cut.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/hw/dot_product/measured.h"

namespace accsim::hw {
namespace {

/// The rule of docs/dot-product.md, stripe by stripe.
std::vector<int64_t> stripes_one_by_one(int64_t left, const DotProductEngine& engine) {
  std::vector<int64_t> cut;
  while (left > 0) {
    int64_t outputs = engine.short_stripe;
    if (left >= 2 * engine.stripe) outputs = engine.stripe;
    if (left <= engine.stripe) outputs = left;
    cut.push_back(outputs);
    left -= outputs;
  }
  return cut;
}

TEST(DotProductCut, AreStripesCutByTheRule) {
  for (const auto& [stripe, short_stripe] : {std::pair{16, 8}, {16, 5}, {8, 8}, {7, 1}, {1, 1}}) {
    DotProductEngine engine;
    engine.stripe = stripe;
    engine.short_stripe = short_stripe;
    for (int64_t outputs = 1; outputs < 200; ++outputs) {
      std::vector<int64_t> runs;
      for (const StripeRun& run : cut_stripes(outputs, engine))
        runs.insert(runs.end(), static_cast<size_t>(run.number), run.outputs);
      EXPECT_EQ(runs, stripes_one_by_one(outputs, engine)) << outputs << " of " << stripe;
    }
  }
}

TEST(DotProductCut, AreEntriesThoseOfTheBytes) {
  // 3 channels take a whole atom; a kernel's 27 bytes aren't padded, all 20 x 27 are to 128.
  const DotProductWork work = *cut_layer({{30, 20, 3, 20, 3, 3, 28, 18}, {2, 1}}, kSmall);
  EXPECT_EQ(work.blocks, 9);
  EXPECT_EQ(work.feature_entries, 30 * 20);
  EXPECT_EQ(work.groups, 3);
  EXPECT_EQ(work.kernels(1, kSmall), 8);
  EXPECT_EQ(work.kernels(2, kSmall), 4);
  EXPECT_EQ(work.needed(0, kSmall), 27);
  EXPECT_EQ(work.needed(1, kSmall), 54);
  EXPECT_EQ(work.needed(2, kSmall), 640 / 8);
}

TEST(DotProductCut, AreWeightsAskedForInWholeBursts) {
  EXPECT_EQ(allowed_entries(4, 0, 10'000, kSmall), 4 * 512 + 8);
  EXPECT_EQ(allowed_entries(4, 3, 10'000, kSmall), 4 * 512 + 8);
  EXPECT_EQ(allowed_entries(4, 3, 2'058, kSmall), 2'058);  // all fit
  EXPECT_EQ(allowed_entries(1, -600, 10'000, kSmall), 0);
}

Errc code_of(const DotProductLayer& layer, const DotProductEngine& engine = kSmall) {
  const Result<DotProductWork> work = cut_layer(layer, engine);
  EXPECT_FALSE(work);
  return work ? Errc::io : work.errors().front().code;
}

TEST(DotProductCut, IsWhatDoesNotFitRefused) {
  const DotProductLayer fits{{32, 32, 64, 64, 3, 3, 32, 32}, {16, 9}};
  ASSERT_TRUE(cut_layer(fits, kSmall));
  DotProductLayer layer = fits;
  layer.banks.features = 15;
  EXPECT_EQ(code_of(layer), Errc::capacity);
  layer = fits;
  layer.banks.weights = 1;  // a group has 4608 bytes
  EXPECT_EQ(code_of(layer), Errc::capacity);
  layer = fits;
  layer.banks.weights = 8;  // all have 9 banks, and none is freed
  ASSERT_TRUE(cut_layer(layer, kSmall));
  layer.keeps_weights = true;
  EXPECT_EQ(code_of(layer), Errc::capacity);
  layer = fits;
  layer.banks.weights = 17;
  EXPECT_EQ(code_of(layer), Errc::invalid);
  layer = fits;
  layer.sizes.kernels = 0;
  EXPECT_EQ(code_of(layer), Errc::invalid);
  DotProductEngine engine;
  engine.places = 15;
  EXPECT_EQ(code_of(fits, engine), Errc::capacity);
}

TEST(DotProductCut, IsWhatLeaves64BitsRefused) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const auto is_refused = [](const ConvolutionSizes& sizes) {
    return !cut_layer({sizes, {16, 16}}, kSmall).ok();
  };
  EXPECT_TRUE(is_refused({kMost, kMost, 1, 1, 1, 1, 1, 1}));
  EXPECT_TRUE(is_refused({1, 1, kMost, 1, 1, 1, 1, 1}));
  EXPECT_TRUE(is_refused({1, 1, 1, kMost, 1, 1, 1, 1}));
  EXPECT_TRUE(is_refused({1, 1, 1, 1, kMost, kMost, 1, 1}));
  EXPECT_EQ(code_of({{1, 1, 1, 1, 1, 1, kMost, kMost}, {1, 1}}), Errc::overflow);
  EXPECT_EQ(code_of({{1, 1, 8, 8, 9, 9, int64_t{1} << 58, 1}, {1, 2}}), Errc::overflow);
}

TEST(DotProductFields, IsARangeLeftSeen) {
  EXPECT_TRUE(check_engine(kSmall));
  for (const DotProductField& field : dot_product_fields()) {
    for (const int64_t wrong : {field.least - 1, field.most + 1}) {
      DotProductEngine engine;
      engine.*field.member = wrong;
      const Status checked = check_engine(engine);
      ASSERT_FALSE(checked) << field.name;
      EXPECT_EQ(checked.errors().front().where, field.name);
    }
  }
  DotProductEngine engine;
  engine.short_stripe = engine.stripe + 1;
  EXPECT_FALSE(check_engine(engine));
}

}  // namespace
}  // namespace accsim::hw
