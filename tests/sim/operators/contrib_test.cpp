#include <gtest/gtest.h>

#include <set>

#include "tests/sim/operators/single_node.h"

namespace accsim::sim {
namespace {

SingleNode ms(const char* op) { return {op, 1, "com.microsoft"}; }

TEST(Contrib, HasEveryRowItsRulesAndNoTwin) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (const auto rows : {norm_rows(), conv_rows(), matmul_rows(), pool_rows(), quant_rows(),
                          signal_rows(), contrib_rows()})
    for (const OpRow& row : rows) {
      EXPECT_TRUE(seen.insert({row.domain, row.name}).second) << row.name;
      EXPECT_NE(row.shape, nullptr) << row.name;
      EXPECT_NE(row.cost, nullptr) << row.name;
      EXPECT_LE(row.min_inputs, row.max_inputs) << row.name;
    }
}

TEST(Contrib, IsABiasAddedToEveryTokenAndTheSkipToEveryElement) {
  SingleNode node = ms("BiasAdd");
  const auto reals = [](std::vector<double> v) {
    return std::make_shared<ConstData>(std::move(v));
  };
  node.constant({2, 1, 3}, DType::float32, reals({1, 2, 3, 4, 5, 6}))
      .constant({3}, DType::float32, reals({10, 20, 30}))
      .constant({2, 1, 3}, DType::float32, reals({0.5, 0, 0, 0, 0, -0.5}));
  ASSERT_EQ(shape_or_error(node), "2x1x3");
  const auto op = item<VectorOp>(node.cost());
  EXPECT_EQ(op[VectorClass::elementwise], 2 * 6);  // two sums an element
  EXPECT_EQ(op.inputs.size(), 3U);
  ASSERT_TRUE(node.fold());
  ASSERT_NE(node.value(), nullptr);
  const double expected[] = {11.5, 22, 33, 14, 25, 35.5};
  for (size_t i = 0; i < 6; ++i) EXPECT_EQ(node.value()->as_double(i), expected[i]) << i;
  SingleNode long_bias = ms("BiasAdd"), small_skip = ms("BiasAdd"), flat = ms("BiasAdd");
  long_bias.in({2, 4, 8}).in({4}).in({2, 4, 8});
  EXPECT_EQ(shape_or_error(long_bias),
            "BiasAdd: bias 4 and skip 2x4x8 don't go with an input 2x4x8");
  small_skip.in({2, 4, 8}).in({8}).in({1, 4, 8});
  EXPECT_FALSE(small_skip.infer().ok());
  flat.in({4, 8}).in({8}).in({4, 8});
  EXPECT_FALSE(flat.infer().ok());
}

TEST(Contrib, IsASplitGeluHalfAsWideAsItsInput) {
  SingleNode node = ms("BiasSplitGelu");
  node.in({2, 3, 8}, DType::float16).in({8}, DType::float16);
  ASSERT_EQ(shape_or_error(node), "2x3x4");
  EXPECT_EQ(node.type(), DType::float16);
  const auto op = item<VectorOp>(node.cost());
  // An element of the result: two sums, 0.5 r (1 + erf(r / sqrt 2)), one product.
  EXPECT_EQ(op[VectorClass::elementwise], 7 * 2 * 3 * 4);
  EXPECT_EQ(op[VectorClass::special], 2 * 3 * 4);
  EXPECT_EQ(op.inputs.size(), 2U);
  SingleNode odd = ms("BiasSplitGelu"), half_bias = ms("BiasSplitGelu"), flat = ms("BiasSplitGelu");
  odd.in({2, 3, 7}).in({7});
  EXPECT_EQ(shape_or_error(odd), "BiasSplitGelu: input 2x3x7 has no two halves of its last dim");
  half_bias.in({2, 3, 8}).in({4});
  EXPECT_FALSE(half_bias.infer().ok());
  flat.in({3, 8}).in({8});
  EXPECT_FALSE(flat.infer().ok());
}

TEST(Contrib, DoFusedTransposesPlanTheSameProduct) {
  SingleNode both = ms("FusedMatMul");
  both.in({2, 4, 3}).in({2, 5, 4}).attr("transA", 1).attr("transB", 1);
  ASSERT_EQ(shape_or_error(both), "2x3x5");
  EXPECT_EQ(total_macs(both.cost()), 2 * 3 * 4 * 5);
  // S x B x K seen as B x S x K.
  SingleNode batch = ms("FusedMatMul");
  batch.in({7, 2, 4}).in({2, 4, 5}).attr("transBatchA", 1);
  EXPECT_EQ(shape_or_error(batch), "2x7x5");
}

TEST(Contrib, IsTheInputProjectionPartOfAttention) {
  SingleNode node = ms("Attention");
  node.in({2, 5, 32}).in({32, 96}).in({96}).absent().in({2, 2, 4, 3, 8}).outs(2);
  node.attr("num_heads", 4);
  ASSERT_EQ(shape_or_error(node), "2x5x32");
  EXPECT_EQ(node.out(1), (Dims{2, 2, 4, 8, 8}));
  EXPECT_EQ(total_macs(node.cost()), 2 * 5 * 32 * 96 + 2 * 4 * 5 * 8 * (8 + 8));
  SingleNode wrong = ms("Attention");
  wrong.in({2, 5, 32}).in({32, 95}).in({95}).attr("num_heads", 4);
  EXPECT_FALSE(wrong.infer().ok());
}

/// As of Attention (ai.onnx): batch x heads x S rows of L, unless something else is masked.
TEST(Contrib, IsTheSoftmaxOfAttentionACommandOfRows) {
  const auto rows_of = [](SingleNode& node) {
    EXPECT_EQ(shape_or_error(node), "2x5x32");
    return node.rows();
  };
  const auto expect_rows = [&](SingleNode& node, int64_t keys, std::optional<int> mask_port) {
    const auto rows = rows_of(node);
    ASSERT_TRUE(rows.has_value());
    const int64_t counts[] = {2, 4, 5, keys};
    for (size_t i = 0; i < 4; ++i) EXPECT_EQ(rows->axes[i].count, counts[i]) << i;
    EXPECT_EQ(rows->in_port, kInternalPort);
    EXPECT_EQ(rows->mask_port, mask_port);
  };
  const auto multi_head = [] {
    SingleNode node = ms("MultiHeadAttention");
    node.attr("num_heads", 4).in({2, 5, 32}).in({2, 6, 32}).in({2, 6, 32});
    return node;
  };
  SingleNode plain = multi_head(), biased = multi_head(), padded = multi_head(),
             causal = multi_head();
  expect_rows(plain, 6, std::nullopt);
  biased.absent().absent().in({1, 4, 5, 6});
  expect_rows(biased, 6, 5);
  padded.absent().in({2, 6}, DType::int32);
  EXPECT_FALSE(rows_of(padded).has_value());
  causal.attr("unidirectional", 1);
  EXPECT_FALSE(rows_of(causal).has_value());

  const auto projected = [] {
    SingleNode node = ms("Attention");
    node.attr("num_heads", 4).in({2, 5, 32}).in({32, 96}).in({96});
    return node;
  };
  SingleNode all = projected(), some = projected();
  expect_rows(all, 5, std::nullopt);
  some.in({2, 5}, DType::int32);
  EXPECT_FALSE(rows_of(some).has_value());
}

TEST(Contrib, DoesMultiHeadAttentionTakeEveryLayout) {
  const int64_t macs = 2 * 4 * 5 * 6 * 16;
  SingleNode apart = ms("MultiHeadAttention");
  apart.in({2, 5, 32}).in({2, 6, 32}).in({2, 6, 32}).attr("num_heads", 4);
  ASSERT_EQ(shape_or_error(apart), "2x5x32");
  EXPECT_EQ(total_macs(apart.cost()), macs);
  SingleNode packed_kv = ms("MultiHeadAttention");
  packed_kv.in({2, 5, 32}).in({2, 6, 4, 2, 8}).attr("num_heads", 4);
  ASSERT_EQ(shape_or_error(packed_kv), "2x5x32");
  EXPECT_EQ(total_macs(packed_kv.cost()), macs);
  SingleNode cross = ms("MultiHeadAttention");
  cross.in({2, 5, 32}).in({2, 4, 6, 8}).in({2, 4, 6, 8}).attr("num_heads", 4);
  ASSERT_EQ(shape_or_error(cross), "2x5x32");
  EXPECT_EQ(total_macs(cross.cost()), macs);
  SingleNode packed = ms("MultiHeadAttention");
  packed.in({2, 5, 4, 3, 8}).attr("num_heads", 4);
  ASSERT_EQ(shape_or_error(packed), "2x5x32");
  EXPECT_EQ(total_macs(packed.cost()), 2 * 4 * 5 * 5 * 16);
  SingleNode headless = ms("MultiHeadAttention");
  headless.in({2, 5, 32}).in({2, 6, 32}).in({2, 6, 32});
  EXPECT_FALSE(headless.infer().ok());
  SingleNode flat = ms("MultiHeadAttention");
  flat.in({5, 32}).attr("num_heads", 4);
  EXPECT_FALSE(flat.infer().ok());
}

/// Operands are read, changed and written, and the products read what was written.
TEST(Contrib, AreBiasAndRotationOfAttentionWorkOfItsOwn) {
  SingleNode biased = ms("MultiHeadAttention");
  biased.in({2, 5, 32}).in({2, 6, 32}).in({2, 6, 32}).in({96}).attr("num_heads", 4);
  ASSERT_EQ(shape_or_error(biased), "2x5x32");
  const auto work = biased.cost();
  const auto add = item<VectorOp>(work, 0);
  EXPECT_EQ(add[VectorClass::elementwise], 2 * (5 + 6 + 6) * 32);
  ASSERT_EQ(add.outputs.size(), 3U);
  EXPECT_EQ(item<GemmOp>(work, 1).a_port, add.outputs[0].port);
  EXPECT_EQ(item<GemmOp>(work, 1).b_port, add.outputs[1].port);
  EXPECT_EQ(item<GemmOp>(work, 3).b_port, add.outputs[2].port);

  SingleNode packed = ms("MultiHeadAttention");
  packed.in({2, 5, 4, 3, 8}).absent().absent().in({96}).attr("num_heads", 4);
  ASSERT_EQ(shape_or_error(packed), "2x5x32");
  EXPECT_EQ(item<VectorOp>(packed.cost(), 0)[VectorClass::elementwise], 2 * 5 * 96);

  SingleNode turned = ms("GroupQueryAttention");
  turned.in({1, 4, 96}).absent().absent().attr("num_heads", 8).attr("kv_num_heads", 2);
  turned.attr("do_rotary", 1);
  ASSERT_EQ(shape_or_error(turned), "1x4x64");
  const auto rotate = item<VectorOp>(turned.cost(), 0);
  EXPECT_EQ(rotate[VectorClass::elementwise], 3 * 4 * (64 + 16));
  EXPECT_EQ(rotate.outputs.size(), 2U);
}

TEST(Contrib, DoesGroupQueryAttentionTellABufferFromAGrowingCache) {
  const auto decode = [](int64_t past, bool total_known) {
    SingleNode node = ms("GroupQueryAttention");
    node.in({1, 1, 64}).in({1, 1, 16}).in({1, 1, 16}).in({1, 2, past, 8}).in({1, 2, past, 8});
    node.in({1}, DType::int32).outs(3).attr("num_heads", 8).attr("kv_num_heads", 2);
    if (total_known)
      node.ints({33}, DType::int32);
    else
      node.in({1}, DType::int32);
    return node;
  };
  SingleNode growing = decode(32, false);
  ASSERT_EQ(shape_or_error(growing), "1x1x64");
  EXPECT_EQ(growing.out(1), (Dims{1, 2, 33, 8}));
  EXPECT_EQ(total_macs(growing.cost()), 8 * 33 * 16);
  SingleNode buffer = decode(128, true);
  ASSERT_EQ(shape_or_error(buffer), "1x1x64");
  EXPECT_EQ(buffer.out(1), (Dims{1, 2, 128, 8}));
  EXPECT_EQ(total_macs(buffer.cost()), 8 * 33 * 16);
  SingleNode packed = ms("GroupQueryAttention");
  packed.in({1, 4, 96}).absent().absent().attr("num_heads", 8).attr("kv_num_heads", 2);
  EXPECT_EQ(shape_or_error(packed), "1x4x64");
}

/// 4 tokens behind 28 cached ones, 8 query heads of 8 and 2 of keys.
SingleNode four_behind_28() {
  SingleNode node = ms("GroupQueryAttention");
  node.in({1, 4, 64}).in({1, 4, 16}).in({1, 4, 16}).in({1, 2, 28, 8}).in({1, 2, 28, 8});
  node.in({1}, DType::int32).in({1}, DType::int32).outs(3);
  node.attr("num_heads", 8).attr("kv_num_heads", 2);
  return node;
}

TEST(Contrib, DoesGroupQueryAttentionNormaliseHeads) {
  SingleNode node = four_behind_28();
  for (size_t i = 7; i < 14; ++i) node.absent();
  node.in({8}).in({8});
  ASSERT_EQ(shape_or_error(node), "1x4x64");
  const auto norm = item<VectorOp>(node.cost(), 0);
  constexpr int64_t kTurned = 4 * (64 + 16);
  EXPECT_EQ(norm[VectorClass::reduce], 2 * kTurned);
  EXPECT_EQ(norm[VectorClass::elementwise], 2 * kTurned);
  EXPECT_EQ(norm[VectorClass::special], kTurned / 8) << "a root a head";
  EXPECT_EQ(norm.row, 8);
  SingleNode half = four_behind_28();
  for (size_t i = 7; i < 14; ++i) half.absent();
  half.in({8});
  EXPECT_EQ(shape_or_error(half),
            "GroupQueryAttention: q_norm_weight and k_norm_weight go together");
}

/// Of a decoder's buffer the keys that are there count, where the file says how many.
TEST(Contrib, DoesADecodersAttentionTellABufferFromAGrowingCache) {
  const auto decode = [](bool shares, bool known) {
    SingleNode node = ms("DecoderMaskedMultiHeadAttention");
    node.in({2, 1, 32}).in({2, 1, 32}).in({2, 1, 32}).absent().absent();
    node.in({2, 4, 20, 8}).in({2, 4, 20, 8}).outs(3).attr("num_heads", 4);
    node.attr("past_present_share_buffer", shares ? 1 : 0);
    if (known) node.ints({6}, DType::int32);
    return node;
  };
  const auto macs = [](int64_t keys) { return 2 * 2 * 4 * keys * 8; };
  SingleNode growing = decode(false, false), buffer = decode(true, false), six = decode(true, true);
  ASSERT_EQ(shape_or_error(growing), "2x1x32");
  EXPECT_EQ(growing.out(1), (Dims{2, 4, 21, 8}));
  EXPECT_EQ(total_macs(growing.cost()), macs(21));
  ASSERT_EQ(shape_or_error(buffer), "2x1x32");
  EXPECT_EQ(buffer.out(2), (Dims{2, 4, 20, 8}));
  EXPECT_EQ(total_macs(buffer.cost()), macs(20));
  ASSERT_EQ(shape_or_error(six), "2x1x32");
  EXPECT_EQ(six.out(1), (Dims{2, 4, 20, 8}));
  EXPECT_EQ(total_macs(six.cost()), macs(7));
}

/// Of 4 bits a cache has two numbers a byte.
TEST(Contrib, DoesGroupQueryAttentionPackCachesOf4Bits) {
  const auto quantised = [](int bits, int64_t stored, DType type) {
    SingleNode node = ms("GroupQueryAttention");
    node.in({1, 4, 64}).in({1, 4, 16}).in({1, 4, 16});
    node.in({1, 2, 28, stored}, type).in({1, 2, 28, stored}, type);
    node.in({1}, DType::int32).in({1}, DType::int32).outs(3);
    for (size_t i = 7; i < 12; ++i) node.absent();
    node.in({1}).in({1}).attr("num_heads", 8).attr("kv_num_heads", 2);
    node.attr("k_quant_type", "PER_TENSOR").attr("v_quant_type", "PER_TENSOR");
    node.attr("kv_cache_bit_width", bits);
    return node;
  };
  SingleNode packed = quantised(4, 4, DType::uint8), bytes = quantised(8, 8, DType::int8);
  ASSERT_EQ(shape_or_error(packed), "1x4x64");
  EXPECT_EQ(packed.out(1), (Dims{1, 2, 32, 4}));
  EXPECT_EQ(packed.out(2), (Dims{1, 2, 32, 4}));
  ASSERT_EQ(shape_or_error(bytes), "1x4x64");
  EXPECT_EQ(bytes.out(1), (Dims{1, 2, 32, 8}));
  EXPECT_EQ(total_macs(packed.cost()), total_macs(bytes.cost()));
  const auto pack = item<VectorOp>(packed.cost(), 0);
  EXPECT_EQ(pack[VectorClass::elementwise], 3 * 4 * 2 * 8);
  ASSERT_EQ(pack.outputs.size(), 1U);
  EXPECT_EQ(pack.outputs[0].elements, 4 * 2 * 4);
  SingleNode wide = quantised(4, 8, DType::uint8);
  EXPECT_EQ(shape_or_error(wide), "GroupQueryAttention: past key 1x2x28x8 must be 1x2x?x4");
}

/// The windows of 4 queries are 4 keys each, 7 together.
TEST(Contrib, DoesGroupQueryAttentionMultiplyTheKeysOfItsWindows) {
  SingleNode all = four_behind_28(), window = four_behind_28();
  window.attr("local_window_size", 4);
  ASSERT_EQ(shape_or_error(all), "1x4x64");
  ASSERT_EQ(shape_or_error(window), "1x4x64");
  EXPECT_EQ(window.out(1), (Dims{1, 2, 32, 8})) << "the cache has all";
  EXPECT_EQ(total_macs(all.cost()), 8 * 4 * 32 * 16);
  EXPECT_EQ(total_macs(window.cost()), 8 * 4 * 7 * 16);
  SingleNode wide = four_behind_28();
  wide.attr("local_window_size", 100);
  ASSERT_EQ(shape_or_error(wide), "1x4x64");
  EXPECT_EQ(total_macs(wide.cost()), total_macs(all.cost()));
  SingleNode own = four_behind_28();
  own.attr("local_window_size", 4).attr("sliding_window_cache", 1);
  ASSERT_EQ(shape_or_error(own), "1x4x64");
  EXPECT_EQ(own.out(1), (Dims{1, 2, 28, 8})) << "a cache that drops old keys stays as long";
  SingleNode narrow = four_behind_28();
  narrow.attr("local_window_size", 29).attr("sliding_window_cache", 1);
  EXPECT_EQ(shape_or_error(narrow),
            "GroupQueryAttention: a sliding cache of 28 keys has no room for a window of 29");
}

/// 5 tokens of 16 channels for 2 of 4 experts of 32 inner channels.
SingleNode mixture(int64_t first, bool apart) {
  SingleNode node = ms("MoE");
  node.in({5, 16}).in({5, 4}).in({4, first, 16}).absent().in({4, 16, 32});
  if (apart) node.absent().in({4, 32, 16});
  node.attr("k", 2).attr("activation_type", "silu");
  return node;
}

TEST(Contrib, DoesAMixtureOfExpertsMultiplyWhatIsRouted) {
  SingleNode plain = mixture(32, false), fused = mixture(64, false), apart = mixture(32, true);
  constexpr int64_t kRows = 5 * 2, kProduct = 16 * 32;
  ASSERT_EQ(shape_or_error(plain), "5x16");
  EXPECT_EQ(total_macs(plain.cost()), kRows * 2 * kProduct);
  ASSERT_EQ(shape_or_error(fused), "5x16");
  EXPECT_EQ(total_macs(fused.cost()), kRows * 3 * kProduct) << "gates are a half of the first";
  ASSERT_EQ(shape_or_error(apart), "5x16");
  EXPECT_EQ(total_macs(apart.cost()), kRows * 3 * kProduct) << "or a product of their own";
  SingleNode wrong = mixture(33, false);
  EXPECT_EQ(shape_or_error(wrong), "MoE: the first weights make 33 of 32 inner channels");
}

TEST(Contrib, AreGroupsNormalisedWithChannelsInEitherPlace) {
  for (const bool last : {true, false}) {
    SingleNode node = ms("GroupNorm");
    node.in(last ? Dims{2, 5, 6, 8} : Dims{2, 8, 5, 6}).in({8}).in({8});
    node.attr("groups", 4).attr("channels_last", last ? 1 : 0).attr("activation", 1);
    ASSERT_EQ(shape_or_error(node), last ? "2x5x6x8" : "2x8x5x6");
    const auto op = item<VectorOp>(node.cost());
    constexpr int64_t kAll = 2 * 5 * 6 * 8;
    EXPECT_EQ(op.row, 5 * 6 * 8 / 4);
    EXPECT_EQ(op[VectorClass::elementwise], 3 * kAll) << "two of the norm, one of SiLU";
    EXPECT_EQ(op[VectorClass::special], kAll + kAll / op.row);
  }
  SingleNode odd = ms("GroupNorm");
  odd.in({2, 5, 6, 8}).in({8}).in({8}).attr("groups", 3);
  EXPECT_EQ(shape_or_error(odd), "GroupNorm: 8 channels don't split into 3 groups");
}

TEST(Contrib, AreIntegersReducedToTheirMean) {
  SingleNode node = ms("QLinearReduceMean");
  node.in({2, 4, 6}, DType::uint8).in({}).in({}, DType::uint8).in({}).in({}, DType::uint8);
  node.attr("axes", std::vector<int64_t>{1, -1}).attr("keepdims", 0);
  ASSERT_EQ(shape_or_error(node), "2");
  EXPECT_EQ(node.type(), DType::uint8);
  const auto op = item<VectorOp>(node.cost());
  EXPECT_EQ(op[VectorClass::reduce], 48);
  EXPECT_EQ(op[VectorClass::convert], 2);
}

TEST(TrainedQuant, WhatDoQuantAndMultiThresholdTake) {
  SingleNode quant("Quant", 1, "qonnx.custom_op.general");
  quant.in({2, 3, 4}).in({3, 1}).in({}).in({});
  ASSERT_EQ(shape_or_error(quant), "2x3x4");
  EXPECT_EQ(item<VectorOp>(quant.cost())[VectorClass::convert], 2 * 24) << "to the grid and back";
  SingleNode steps("MultiThreshold", 1, "finn.custom_op.general");
  steps.in({1, 3, 4, 4}).in({3, 15}).attr("out_bias", -8.0);
  ASSERT_EQ(shape_or_error(steps), "1x3x4x4");
  const auto op = item<VectorOp>(steps.cost());
  EXPECT_EQ(op[VectorClass::search], 48 * 4) << "a binary search among 15";
  EXPECT_EQ(op[VectorClass::elementwise], 48);
  SingleNode wrong("MultiThreshold", 1, "finn.custom_op.general");
  wrong.in({1, 3, 4, 4}).in({2, 15});
  EXPECT_EQ(shape_or_error(wrong), "MultiThreshold: 2 rows of thresholds don't go with 3 channels");
}

TEST(Contrib, AreFourBitWeightsUnpackedThenMultiplied) {
  SingleNode node = ms("MatMulNBits");
  node.in({2, 3, 64}).in({10, 2, 16}, DType::uint8).in({20}).attr("K", 64).attr("N", 10);
  node.attr("block_size", 32).attr("bits", 4);
  ASSERT_EQ(shape_or_error(node), "2x3x10");
  const auto work = node.cost();
  EXPECT_EQ(item<VectorOp>(work)[VectorClass::convert], 640);
  EXPECT_EQ(item<GemmOp>(work, 1).macs(), 6 * 640);
  SingleNode wrong = ms("MatMulNBits");
  wrong.in({2, 3, 64}).in({10, 2, 15}, DType::uint8).in({20}).attr("K", 64).attr("N", 10);
  EXPECT_FALSE(wrong.attr("block_size", 32).infer().ok());
}

TEST(Contrib, DoSkipNormsGiveTheSum) {
  for (const char* op : {"SkipLayerNormalization", "SkipSimplifiedLayerNormalization"}) {
    SingleNode node = ms(op);
    node.in({2, 5, 8}).in({1, 5, 8}).in({8}).outs(4);
    ASSERT_EQ(shape_or_error(node), "2x5x8");
    EXPECT_EQ(node.out(1), (Dims{2, 5, 1}));
    EXPECT_EQ(node.out(3), (Dims{2, 5, 8}));
    EXPECT_EQ(item<VectorOp>(node.cost())[VectorClass::elementwise], 3 * 80);
  }
  SingleNode embed = ms("EmbedLayerNormalization");
  embed.in({2, 5}, DType::int32).absent().in({100, 8}).in({64, 8}).absent().in({8}).in({8}).outs(2);
  ASSERT_EQ(shape_or_error(embed), "2x5x8");
  EXPECT_EQ(embed.out(1), Dims{2});
  SingleNode bare = ms("EmbedLayerNormalization");
  bare.in({2, 5}, DType::int32);
  EXPECT_FALSE(bare.infer().ok());
}

TEST(Contrib, DoQuantisedOperatorsKeepTypesAndSkipAbsentZeroPoints) {
  SingleNode add = ms("QLinearAdd");
  add.in({2, 3}, DType::int8).in({}).absent().in({3}, DType::int8).in({}).absent().in({});
  ASSERT_EQ(shape_or_error(add), "2x3");
  EXPECT_EQ(add.type(), DType::int8);
  SingleNode lone = ms("QLinearMul");
  lone.in({2, 3}, DType::int8).in({});
  EXPECT_FALSE(lone.infer().ok());
  SingleNode concat = ms("QLinearConcat");
  concat.in({}).in({}).in({1, 2, 4}, DType::uint8).in({}).in({}, DType::uint8);
  concat.in({1, 5, 4}, DType::uint8).in({}).in({}, DType::uint8).attr("axis", 1);
  EXPECT_EQ(shape_or_error(concat), "1x7x4");
  SingleNode torn = ms("QLinearConcat");
  torn.in({}).in({}).in({1, 2, 4}, DType::uint8).in({});
  EXPECT_FALSE(torn.infer().ok());
  SingleNode pool = ms("QLinearGlobalAveragePool");
  pool.in({1, 7, 7, 16}, DType::uint8).in({}).in({}).in({}).in({}).attr("channels_last", 1);
  EXPECT_EQ(shape_or_error(pool), "1x1x1x16");
  SingleNode gemm = ms("QGemm");
  gemm.in({3, 4}, DType::uint8).in({}).in({}, DType::uint8).in({4, 5}, DType::int8).in({});
  gemm.in({}, DType::int8).in({5}, DType::int32);
  ASSERT_EQ(shape_or_error(gemm), "3x5");
  EXPECT_EQ(gemm.type(), DType::float32);
  EXPECT_EQ(item<GemmOp>(gemm.cost()).bias_port, 6);
}

SingleNode table(Dims data, DType type, Dims scales, int bits) {
  SingleNode node = ms("GatherBlockQuantized");
  node.in(std::move(data), type).in({2, 7}, DType::int64).in(std::move(scales));
  node.attr("bits", bits).attr("block_size", 32).attr("quantize_axis", 1);
  return node;
}

TEST(Contrib, AreRowsOfAPackedTableAsLongAsItsNumbers) {
  SingleNode typed = table({100, 64}, DType::uint4, {100, 2}, 4);
  ASSERT_EQ(shape_or_error(typed), "2x7x64");
  EXPECT_EQ(typed.type(), DType::float32);
  SingleNode bytes = table({100, 32}, DType::uint8, {100, 2}, 4);
  EXPECT_EQ(shape_or_error(bytes), "2x7x64");
  SingleNode whole = table({100, 64}, DType::uint8, {100, 2}, 8);
  EXPECT_EQ(shape_or_error(whole), "2x7x64");
  EXPECT_FALSE(table({100, 64}, DType::uint4, {100, 3}, 4).infer().ok());
  EXPECT_FALSE(table({100, 64}, DType::uint4, {100, 2}, 3).infer().ok());
  const auto work = typed.cost();
  ASSERT_EQ(work->size(), 2U) << "a table of the run is unpacked in the run";
  EXPECT_EQ(item<MemoryOp>(work, 0).outputs[0].elements, 2 * 7 * 64);
  EXPECT_EQ(item<VectorOp>(work, 1)[VectorClass::convert], 2 * 7 * 64);
}

TEST(Contrib, AreRowsOfATableOfTheRunUnpackedByTheirOwnScales) {
  SingleNode bytes = table({100, 32}, DType::uint8, {100, 2}, 4);
  bytes.in({100, 1}, DType::uint8);
  ASSERT_TRUE(bytes.infer().ok());
  const auto rows = item<MemoryOp>(bytes.cost(), 0);
  EXPECT_EQ(rows.inputs.at(0).elements, 2 * 7 * 32) << "two numbers a byte";
  EXPECT_EQ(rows.inputs.at(0).run, 32);
  EXPECT_EQ(rows.inputs.at(1).elements, 2 * 7);
  const auto unpack = item<VectorOp>(bytes.cost(), 1);
  ASSERT_EQ(unpack.inputs.size(), 3U);
  EXPECT_EQ(unpack.inputs[0].port, rows.outputs.at(0).port);
  EXPECT_EQ(unpack.inputs[0].elements, 2 * 7 * 32);
  EXPECT_EQ(unpack.inputs[1].elements, 2 * 7 * 2) << "scales";
  EXPECT_EQ(unpack.inputs[2].elements, 2 * 7) << "zero points";
  EXPECT_EQ(unpack[VectorClass::convert], 2 * 7 * 64);
}

TEST(Contrib, IsATableWithZeroPointsOfTheRunUnpackedInTheRun) {
  const auto items = [](bool zero_points_vary) {
    SingleNode node = ms("GatherBlockQuantized");
    node.constant({100, 64}, DType::uint4, nullptr).in({2, 7}, DType::int64);
    node.constant({100, 2}, DType::float32, nullptr);
    if (zero_points_vary)
      node.in({100, 2}, DType::uint4);
    else
      node.constant({100, 2}, DType::uint4, nullptr);
    node.attr("bits", 4).attr("block_size", 32).attr("quantize_axis", 1);
    EXPECT_TRUE(node.infer().ok());
    return node.cost()->size();
  };
  EXPECT_EQ(items(false), 1U) << "rows of what is unpacked off line";
  EXPECT_EQ(items(true), 2U);
}

TEST(Contrib, IsAChoiceOfIntegersBroadcast) {
  SingleNode where = ms("QLinearWhere");
  where.in({4, 1}, DType::boolean).in({3}, DType::int8).in({}).in({}, DType::int8);
  where.in({}, DType::int8).in({}).in({}, DType::int8).in({}).in({}, DType::int8);
  ASSERT_EQ(shape_or_error(where), "4x3");
  EXPECT_EQ(where.type(), DType::int8);
  EXPECT_EQ(item<VectorOp>(where.cost())[VectorClass::elementwise], 12);
}

TEST(Contrib, AreQuantisedEmbeddingsOfTheTypeOfTheirScales) {
  SingleNode embed = ms("QEmbedLayerNormalization");
  embed.in({2, 5}, DType::int32).absent().in({100, 8}, DType::uint8).in({64, 8}, DType::uint8);
  embed.absent().in({8}, DType::uint8).in({8}, DType::uint8).absent();
  SingleNode bare = embed;
  embed.in({}).in({}).absent().in({}).in({}).outs(2);
  ASSERT_EQ(shape_or_error(embed), "2x5x8");
  EXPECT_EQ(embed.type(), DType::float32);
  EXPECT_EQ(embed.out(1), Dims{2});
  EXPECT_FALSE(bare.infer().ok()) << "without scales";
}

TEST(Contrib, DoChannelsLastOperatorsMoveOnlyTheChannels) {
  SingleNode conv = ms("QLinearConv");
  conv.in({1, 8, 8, 3}, DType::uint8).in({}).in({}, DType::uint8).in({4, 3, 3, 3}, DType::int8);
  conv.in({}).in({}, DType::int8).in({}).in({}, DType::uint8).attr("channels_last", 1);
  ASSERT_EQ(shape_or_error(conv), "1x6x6x4");
  EXPECT_EQ(total_macs(conv.cost()), 36 * 4 * 27);
  SingleNode pool = ms("NhwcMaxPool");
  pool.in({1, 8, 6, 3}, DType::int8).list("kernel_shape", {2, 2}).list("strides", {2, 2});
  EXPECT_EQ(shape_or_error(pool), "1x4x3x3");
}

TEST(Contrib, DoFusedConvolutionsAddWhatFollows) {
  SingleNode node = ms("FusedConv");
  node.in({1, 3, 8, 8}).in({4, 3, 3, 3}).in({4}).in({1, 4, 6, 6}).attr("activation", "Relu");
  ASSERT_EQ(shape_or_error(node), "1x4x6x6");
  EXPECT_EQ(item<VectorOp>(node.cost(), 1)[VectorClass::elementwise], 144);
  SingleNode unknown = ms("FusedConv");
  unknown.in({1, 3, 8, 8}).in({4, 3, 3, 3}).attr("activation", "Wiggle");
  ASSERT_TRUE(unknown.infer().ok());
  EXPECT_FALSE(unknown.cost().ok());
}

}  // namespace
}  // namespace accsim::sim
