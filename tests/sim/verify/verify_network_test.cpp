#include "sim/verify/verify_network.h"

#include <gtest/gtest.h>

#include <limits>
#include <set>

#include "hw/config/load.h"
#include "hw/program/cut_program.h"
#include "sim/program/network_reference.h"
#include "tests/support/attention_model.h"
#include "tests/support/models.h"
#include "tests/support/rtl_variants.h"
#include "tests/support/source.h"

namespace accsim::sim {
namespace {

template <class Source>
bool is(const PartNumbers& numbers) {
  return std::holds_alternative<Source>(numbers.source);
}

using test::ModelBuilder;

Attribute number(const std::string& name, int64_t value) { return {name, "", value}; }
Attribute ints(const std::string& name, std::vector<int64_t> values) {
  return ModelBuilder::ints(name, std::move(values));
}

/// Convolutions with strides, pads and groups, a residual block, pooling of both kinds, branches
/// that are put together, a function behind a product, a classifier.
ModelBuilder convolutions() {
  ModelBuilder m;
  m.input("in", {1, 3, 21, 21});
  const auto conv = [&](const std::string& to, const std::string& from, Dims weights,
                        std::vector<int64_t> pads, int64_t stride, int64_t group) {
    m.weight("w_" + to, weights).weight("b_" + to, {weights[0]});
    m.node(
        "Conv", {from, "w_" + to, "b_" + to}, {to},
        {ints("pads", std::move(pads)), ints("strides", {stride, stride}), number("group", group)});
  };
  conv("c1", "in", {16, 3, 3, 3}, {1, 1, 1, 1}, 2, 1);
  m.node("Relu", {"c1"}, {"r1"});
  conv("c2", "r1", {16, 1, 3, 3}, {1, 1, 1, 1}, 1, 16);  // depthwise
  m.node("Relu", {"c2"}, {"r2"});
  conv("c3", "r2", {16, 16, 1, 1}, {0, 0, 0, 0}, 1, 1);
  m.node("Add", {"c3", "r1"}, {"a3"});
  m.node("Relu", {"a3"}, {"r3"});
  m.node("MaxPool", {"r3"}, {"p3"},
         {ints("kernel_shape", {3, 3}), ints("strides", {2, 2}), ints("pads", {1, 1, 1, 1})});
  conv("c4", "p3", {24, 8, 3, 3}, {1, 1, 1, 1}, 1, 2);  // grouped
  m.node("Sigmoid", {"c4"}, {"s4"});
  m.node("Mul", {"c4", "s4"}, {"f4"});
  conv("c5", "p3", {8, 16, 1, 1}, {0, 0, 0, 0}, 1, 1);
  m.node("Concat", {"f4", "c5"}, {"k5"}, {number("axis", 1)});
  m.node("AveragePool", {"k5"}, {"p5"},
         {ints("kernel_shape", {3, 3}), ints("strides", {2, 2}), ints("pads", {1, 1, 1, 1}),
          number("count_include_pad", 0)});
  m.node("GlobalAveragePool", {"p5"}, {"g5"});
  m.node("Flatten", {"g5"}, {"flat"});
  m.weight("w_fc", {32, 10}).weight("b_fc", {10});
  m.node("Gemm", {"flat", "w_fc", "b_fc"}, {"out"});
  m.output("out");
  return m;
}

/// A block of a transformer: heads by transposes, scores with a softmax, norms, a function, sums.
ModelBuilder attention() {
  ModelBuilder m(17);
  const Dims heads{1, 12, 2, 16}, all{1, 12, 32};
  const auto shape = [&](const std::string& name, const Dims& dims) {
    m.constant(name, {std::ssize(dims)}, {dims.begin(), dims.end()});
  };
  m.input("in", all);
  shape("heads", heads);
  shape("joined", all);
  const auto dense = [&](const std::string& to, const std::string& from, int64_t k, int64_t n) {
    m.weight("w_" + to, {k, n}).weight("b_" + to, {n});
    m.node("MatMul", {from, "w_" + to}, {to + "_m"});
    m.node("Add", {to + "_m", "b_" + to}, {to});
  };
  const auto norm = [&](const std::string& to, const std::string& from) {
    m.weight("g_" + to, {32}).weight("h_" + to, {32});
    m.node("LayerNormalization", {from, "g_" + to, "h_" + to}, {to}, {number("axis", -1)});
  };
  norm("n1", "in");
  for (const std::string x : {"q", "k", "v"}) {
    dense(x, "n1", 32, 32);
    m.node("Reshape", {x, "heads"}, {x + "_h"});
    m.node("Transpose", {x + "_h"}, {x + "_t"},
           {ints("perm",
                 x == "k" ? std::vector<int64_t>{0, 2, 3, 1} : std::vector<int64_t>{0, 2, 1, 3})});
  }
  m.node("MatMul", {"q_t", "k_t"}, {"scores"});
  m.node("Softmax", {"scores"}, {"probabilities"}, {number("axis", -1)});
  m.node("MatMul", {"probabilities", "v_t"}, {"mixed"});
  m.node("Transpose", {"mixed"}, {"mixed_t"}, {ints("perm", {0, 2, 1, 3})});
  m.node("Reshape", {"mixed_t", "joined"}, {"mixed_j"});
  dense("o", "mixed_j", 32, 32);
  m.node("Add", {"o", "in"}, {"a1"});
  norm("n2", "a1");
  dense("u", "n2", 32, 64);
  m.node("Tanh", {"u"}, {"t"});
  dense("d", "t", 64, 32);
  m.node("Add", {"d", "a1"}, {"out"});
  m.output("out");
  return m;
}

/// Gates, resizing, differences, extremes and a turned image: what lane commands do beside
/// products.
ModelBuilder gates() {
  ModelBuilder m;
  m.input("in", {1, 8, 10, 10});
  m.weight("w1", {16, 8, 3, 3}).weight("w2", {16, 16, 1, 1}).weight("w3", {16, 16, 3, 3});
  m.node("Conv", {"in", "w1"}, {"c1"}, {ints("pads", {1, 1, 1, 1}), ints("dilations", {1, 1})});
  m.node("GlobalAveragePool", {"c1"}, {"pooled"});
  m.node("Conv", {"pooled", "w2"}, {"gate_in"});
  m.node("Sigmoid", {"gate_in"}, {"gate"});
  m.node("Mul", {"c1", "gate"}, {"gated"});
  m.node("Conv", {"gated", "w3"}, {"c3"}, {ints("pads", {2, 2, 2, 2}), ints("dilations", {2, 2})});
  m.node("Max", {"c3", "gated"}, {"most"});
  m.node("Sub", {"most", "c1"}, {"less"});
  m.node("MaxPool", {"less"}, {"small"}, {ints("kernel_shape", {2, 2}), ints("strides", {2, 2})});
  m.node("Transpose", {"small"}, {"turned"}, {ints("perm", {0, 1, 3, 2})});
  m.node("ReduceMean", {"turned"}, {"means"}, {ints("axes", {3}), number("keepdims", 0)});
  m.node("Softmax", {"means"}, {"out"}, {number("axis", 2)});
  m.output("out");
  return m;
}

/// Normalisations that no product takes in, before and behind what it can't pass: one of the input,
/// those of a dense block, whose operands several read, one of rows.
ModelBuilder normalisations() {
  ModelBuilder m;
  m.input("in", {1, 11, 9, 9});
  const auto norm = [&](const std::string& to, const std::string& from, int64_t channels) {
    std::vector<std::string> inputs{from};
    for (const std::string constant : {"g_", "s_", "m_", "v_"}) {
      m.weight(constant + to, {channels});
      inputs.push_back(constant + to);
    }
    m.node("BatchNormalization", inputs, {to});
  };
  m.weight("w1", {12, 11, 3, 3}).weight("w2", {8, 23, 1, 1}).weight("w3", {31, 10});
  norm("n1", "in", 11);
  m.node("Conv", {"n1", "w1"}, {"c1"}, {ints("pads", {1, 1, 1, 1})});
  m.node("Concat", {"in", "c1"}, {"k1"}, {number("axis", 1)});
  norm("n2", "k1", 23);
  m.node("Relu", {"n2"}, {"r2"});
  m.node("Conv", {"r2", "w2"}, {"c2"});
  m.node("Concat", {"k1", "c2"}, {"k2"}, {number("axis", 1)});
  norm("n3", "k2", 31);
  m.node("Sigmoid", {"n3"}, {"s3"});
  m.node("GlobalAveragePool", {"s3"}, {"g3"});
  m.node("Flatten", {"g3"}, {"flat"});
  norm("n4", "flat", 31);
  m.node("Gemm", {"n4", "w3"}, {"out"});
  m.output("out");
  return m;
}

/// What stands before a transformer: rows by lists of both widths and along another axis, a mask of
/// what is padded, positions as numbers.
ModelBuilder embeddings() {
  ModelBuilder m(17);
  m.input("words", {1, 9}, DType::int64).input("kinds", {1, 9}, DType::int32);
  m.input("columns", {6}, DType::int64).input("places", {1, 9}, DType::int64);
  m.input("padded", {1, 9, 6}, DType::boolean).input("groups", {1, 9, 1}, DType::int32);
  m.weight("word_rows", {50, 24}).weight("kind_rows", {2, 24});
  m.weight("w", {6, 6}).weight("gone", {}).weight("there", {});
  m.node("Gather", {"word_rows", "words"}, {"word"});
  m.node("Gather", {"kind_rows", "kinds"}, {"kind"});
  m.node("Add", {"word", "kind"}, {"sum"});
  m.node("Gather", {"sum", "columns"}, {"some"}, {number("axis", 2)});
  m.node("Where", {"padded", "gone", "there"}, {"mask"});
  m.node("Add", {"some", "mask"}, {"masked"});
  m.node("Not", {"padded"}, {"kept"});
  m.node("Cast", {"kept"}, {"factors"}, {number("to", 1)});
  m.node("Mul", {"masked", "factors"}, {"left"});
  m.constant("last", {1}, {2});
  m.node("Unsqueeze", {"places", "last"}, {"place_column"});
  m.node("Cast", {"place_column"}, {"place"}, {number("to", 1)});
  m.node("Mul", {"left", "place"}, {"turned"});
  m.constant("no_group", {}, {-70'000});
  m.node("Cast", {"no_group"}, {"no_group_32"}, {number("to", 6)});
  m.node("Equal", {"no_group_32", "groups"}, {"alone"});
  m.node("Where", {"alone", "zeros", "there"}, {"alone_mask"});
  m.node("ConstantOfShape", {"column"}, {"zeros"});
  m.constant("column", {3}, {1, 9, 1});
  m.node("Add", {"turned", "alone_mask"}, {"grouped"});
  m.weight("some_zeros", {9, 6});
  m.node("Constant", {}, {"least"},
         {{"value_float", "", -std::numeric_limits<double>::infinity()}});
  m.node("Where", {"padded", "least", "grouped"}, {"filled"});
  m.node("Where", {"kept", "some_zeros", "least"}, {"open"});
  m.node("Add", {"filled", "open"}, {"both"});
  m.node("MatMul", {"both", "w"}, {"out"});
  m.output("out");
  return m;
}

/// Convolutions and pooling by turns, lines of which need lines of the one before that overlap: on
/// 8x8 they are cut.
ModelBuilder stem() {
  ModelBuilder m;
  m.input("in", {1, 3, 48, 48});
  m.weight("w1", {16, 3, 7, 7}).weight("w2", {16, 16, 3, 3}).weight("w3", {8, 16, 1, 1});
  m.node("Conv", {"in", "w1"}, {"c1"}, {ints("pads", {3, 3, 3, 3}), ints("strides", {2, 2})});
  m.node("Relu", {"c1"}, {"r1"});
  m.node("MaxPool", {"r1"}, {"p1"},
         {ints("kernel_shape", {3, 3}), ints("strides", {2, 2}), ints("pads", {1, 1, 1, 1})});
  m.node("Conv", {"p1", "w2"}, {"c2"}, {ints("pads", {1, 1, 1, 1})});
  m.node(
      "AveragePool", {"c2"}, {"p2"},
      {ints("kernel_shape", {3, 3}), ints("pads", {1, 1, 1, 1}), number("count_include_pad", 0)});
  m.node("Conv", {"p2", "w3"}, {"out"});
  m.output("out");
  return m;
}

/// Blocks whose branches are parts of what they are put together to: halves of channels, one of
/// them through a residual, a dense block, pooling, functions and a softmax of parts.
ModelBuilder parts() {
  ModelBuilder m;
  m.input("in", {1, 3, 12, 12});
  const auto conv = [&](const std::string& to, const std::string& from, Dims weights) {
    m.weight("w_" + to, weights);
    const int64_t pad = weights[2] / 2;
    m.node("Conv", {from, "w_" + to}, {to}, {ints("pads", {pad, pad, pad, pad})});
  };
  const auto concat = [&](const std::string& to, const std::vector<std::string>& from,
                          int64_t axis) { m.node("Concat", from, {to}, {number("axis", axis)}); };
  conv("c1", "in", {24, 3, 3, 3});
  m.node("Relu", {"c1"}, {"r1"});
  m.constant("halves", {2}, {8, 16});
  m.node("Split", {"r1", "halves"}, {"h1", "h2"}, {number("axis", 1)});
  conv("c2", "h2", {16, 16, 3, 3});
  m.node("Add", {"c2", "h2"}, {"a2"});
  concat("k2", {"h1", "h2", "a2"}, 1);
  conv("c3", "k2", {8, 40, 1, 1});
  conv("c4", "c3", {4, 8, 3, 3});
  concat("k4", {"c3", "c4"}, 1);
  m.node("Sigmoid", {"k4"}, {"s4"});
  conv("c5", "s4", {4, 12, 3, 3});
  concat("k5", {"k4", "c5"}, 1);
  m.node("MaxPool", {"k5"}, {"p5"}, {ints("kernel_shape", {2, 2}), ints("strides", {2, 2})});
  conv("c6", "p5", {12, 16, 1, 1});
  m.node("MaxPool", {"p5"}, {"p6"}, {ints("kernel_shape", {3, 3}), ints("pads", {1, 1, 1, 1})});
  concat("k6", {"c6", "p6"}, 1);
  conv("c7", "k6", {20, 28, 1, 1});
  conv("c8", "k5", {20, 16, 1, 1});
  m.constant("flat", {3}, {1, 20, -1});
  m.node("Reshape", {"c7", "flat"}, {"f7"}).node("Reshape", {"c8", "flat"}, {"f8"});
  concat("k8", {"f7", "f8"}, 2);
  m.constant("boxes", {2}, {8, 12});
  m.node("Split", {"k8", "boxes"}, {"b8", "o8"}, {number("axis", 1)});
  m.node("Softmax", {"b8"}, {"q8"}, {number("axis", 1)});
  m.node("Sigmoid", {"o8"}, {"z8"});
  concat("out", {"q8", "z8"}, 1);
  m.output("out");
  return m;
}

/// Rotary embeddings of queries by halves, of keys by neighbours, of a part of long heads, with
/// angles that are given and such as are known.
ModelBuilder rotary() {
  ModelBuilder m(17);
  m.input("in", {1, 6, 32}).input("cos", {1, 1, 6, 16}).input("sin", {1, 1, 6, 16});
  m.weight("known_cos", {6, 64}).weight("known_sin", {6, 64});
  m.constant("heads", {4}, {1, 6, 2, 16}).constant("pairs", {5}, {1, 2, 6, 8, 1});
  m.constant("rows", {4}, {1, 2, 6, 16}).constant("last", {1}, {-1}).constant("two", {1}, {2});
  m.constant("zero", {1}, {0}).constant("unit", {1}, {1}).constant("end", {1}, {16});
  m.constant("part", {2}, {64, 16}).weight("w_q", {32, 32}).weight("w_k", {32, 32});
  m.weight("w_l", {32, 80});
  const auto concat = [&](const std::string& to, const std::string& a, const std::string& b) {
    m.node("Concat", {a, b}, {to}, {number("axis", -1)});
  };
  const auto turn = [&](const std::string& x, const std::string& cos, const std::string& sin) {
    m.node("Mul", {x, cos}, {x + "_cos"}).node("Mul", {x + "_turned", sin}, {x + "_sin"});
    m.node("Add", {x + "_cos", x + "_sin"}, {x + "_y"});
  };
  const auto halves = [&](const std::string& x) {
    m.node("Split", {x}, {x + "_low", x + "_high"}, {number("axis", -1)});
    m.node("Neg", {x + "_high"}, {x + "_minus"});
    concat(x + "_turned", x + "_minus", x + "_low");
  };
  for (const std::string x : {"q", "k"}) {
    m.node("MatMul", {"in", "w_" + x}, {x + "_m"}).node("Reshape", {x + "_m", "heads"}, {x + "_h"});
    m.node("Transpose", {x + "_h"}, {x}, {ints("perm", {0, 2, 1, 3})});
  }
  halves("q");
  m.node("Slice", {"k", "zero", "end", "last", "two"}, {"even"});
  m.node("Slice", {"k", "unit", "end", "last", "two"}, {"odd"});
  m.node("Neg", {"odd"}, {"minus"}).node("Reshape", {"minus", "pairs"}, {"minus_column"});
  m.node("Reshape", {"even", "pairs"}, {"even_column"});
  concat("columns", "minus_column", "even_column");
  m.node("Reshape", {"columns", "rows"}, {"k_turned"});
  turn("q", "cos", "sin");
  turn("k", "sin", "cos");
  m.node("Transpose", {"k_y"}, {"k_t"}, {ints("perm", {0, 1, 3, 2})});
  m.node("MatMul", {"q_y", "k_t"}, {"out"}).output("out");
  m.node("MatMul", {"in", "w_l"}, {"l_m"});
  m.node("Split", {"l_m", "part"}, {"l", "rest"}, {number("axis", -1)});
  halves("l");
  turn("l", "known_cos", "known_sin");
  concat("all", "l_y", "rest");
  m.node("Sigmoid", {"all"}, {"out_l"}).output("out_l");
  return m;
}

/// Heads that share keys and values, in pieces that take turns.
ModelBuilder grouped() { return test::grouped_attention({4, 2, 64, 40, 8}, true); }

/// Attention of some queries to a window of the keys, of heads that share them, and of a latent
/// cache: products that read parts of their operands and write parts of a result where they lie.
ModelBuilder windows() {
  ModelBuilder m(17);
  const auto slice = [&](const std::string& to, const std::string& from, int64_t axis,
                         int64_t first, int64_t end) {
    m.constant(to + "_first", {1}, {first}).constant(to + "_end", {1}, {end});
    m.constant(to + "_axis", {1}, {axis});
    m.node("Slice", {from, to + "_first", to + "_end", to + "_axis"}, {to});
  };
  m.input("q", {1, 6, 12, 16}).input("k", {1, 3, 40, 16}).input("v", {1, 3, 40, 16});
  m.input("past", {1, 30, 24}).input("new", {1, 2, 24}).input("latent", {1, 10, 24});
  m.constant("grouped", {5}, {1, 3, 2, 20, 16}).constant("heads", {4}, {1, 6, 20, 16});
  m.constant("two", {1}, {2}).weight("w_q", {6, 16, 16});
  m.node("MatMul", {"q", "w_q"}, {"queries"});
  for (const std::string part : {"a", "b"}) {
    slice("q_" + part, "queries", 2, part == "a" ? 0 : 4, part == "a" ? 4 : 12);
    for (const std::string x : {"k", "v"}) {
      std::string at = x;
      at.append("_").append(part);
      slice(at, x, 2, part == "a" ? 3 : 11, part == "a" ? 23 : 31);
      m.node("Unsqueeze", {at, "two"}, {at + "_one"});
      m.node("Expand", {at + "_one", "grouped"}, {at + "_all"});
      m.node("Reshape", {at + "_all", "heads"}, {at + "_heads"});
    }
    m.node("Transpose", {"k_" + part + "_heads"}, {"t_" + part}, {ints("perm", {0, 1, 3, 2})});
    m.node("MatMul", {"q_" + part, "t_" + part}, {"s_" + part});
    m.node("Softmax", {"s_" + part}, {"p_" + part}, {number("axis", -1)});
    m.node("MatMul", {"p_" + part, "v_" + part + "_heads"}, {"y_" + part});
  }
  m.node("Concat", {"y_a", "y_b"}, {"out"}, {number("axis", 2)}).output("out");
  m.node("Concat", {"past", "new"}, {"cache"}, {number("axis", 1)}).output("cache");
  m.node("Transpose", {"cache"}, {"c_t"}, {ints("perm", {0, 2, 1})});
  m.node("MatMul", {"latent", "c_t"}, {"c_s"});
  m.node("Softmax", {"c_s"}, {"c_p"}, {number("axis", -1)});
  slice("c_v", "cache", 2, 0, 16);
  m.node("MatMul", {"c_p", "c_v"}, {"out_c"}).output("out_c");
  return m;
}

struct Network {
  hw::HwConfig hw;
  Graph graph;
  CostedNetwork costed;
};

Network network(const ModelBuilder& model, const std::string& machine) {
  Network out;
  out.hw = *hw::load_hw(kSource + "/configs/" + machine + ".yaml");
  Result<Graph> graph = elaborate(model.model(), {});
  EXPECT_TRUE(graph.ok()) << (graph ? "" : graph.errors().front().text());
  out.graph = std::move(*graph);
  Result<CostedNetwork> costed = cost_network(out.graph, out.hw, {});
  EXPECT_TRUE(costed.ok()) << (costed ? "" : costed.errors().front().text());
  out.costed = std::move(*costed);
  return out;
}

using Named = std::pair<const char*, ModelBuilder (*)()>;
class VerifyNetwork : public testing::TestWithParam<Named> {};

/// The report's total is what the core takes for the whole network in one program, each command in
/// the cycle that the timing model says, and all bytes are those of golden and of the reference.
TEST_P(VerifyNetwork, IsExactFromTheFirstByteToTheLast) {
  const auto rtl = test::rtl_options();
  if (!rtl) GTEST_SKIP() << "there is no verilator";
  const Network n = network(GetParam().second(), "8x8");
  VerifyOptions options;
  options.variant = *rtl;
  options.variant.assertions = true;
  for (const uint64_t seed : {1, 2}) {
    const Result<NetworkCase> made = network_case(n.graph, n.costed, n.hw, seed);
    ASSERT_TRUE(made.ok()) << (made ? "" : made.errors().front().text());
    const VerifyReport report = verify_network(*made, n.costed, options);
    const VerifyRow& row = report.rows.at(0);
    EXPECT_EQ(row.error, "");
    EXPECT_EQ(row.difference, "");
    EXPECT_TRUE(row.has_passed());
    EXPECT_EQ(row.rtl_cycles, n.costed.report.totals.cycles);
    EXPECT_EQ(report.network->left_out, std::vector<std::string>());
    EXPECT_GE(report.network->referenced + std::ssize(report.network->taken),
              std::ssize(made->network.parts));
  }
}

/// From each layer on, as a program of its own that begins with golden's memory: cycles and bytes.
TEST_P(VerifyNetwork, IsExactFromEachLayerOn) {
  const auto rtl = test::rtl_options();
  if (!rtl) GTEST_SKIP() << "there is no verilator";
  const Network n = network(GetParam().second(), "8x8");
  const Result<NetworkCase> made = network_case(n.graph, n.costed, n.hw, 3);
  ASSERT_TRUE(made.ok());
  const int64_t all = hw::commands_of(made->network.program, 0, made->network.program.body.size());
  std::set<size_t> layers;
  for (const NetworkPart& part : made->network.parts) layers.insert(part.layer);
  VerifyOptions options;
  options.variant = *rtl;
  options.variant.assertions = true;
  for (const size_t layer : layers) {
    SCOPED_TRACE(n.costed.lowered.layers[layer].name);
    options.layers.from = layer;
    const VerifyReport report = verify_network(*made, n.costed, options);
    const VerifyRow& row = report.rows.at(0);
    EXPECT_EQ(row.error, "");
    EXPECT_EQ(row.difference, "");
    EXPECT_TRUE(row.has_passed());
    EXPECT_EQ(report.network->from, n.costed.lowered.layers[layer].name);
    EXPECT_EQ(report.network->before + row.commands, all);
    EXPECT_GE(report.network->referenced + std::ssize(report.network->taken),
              std::ssize(made->network.parts))
        << "golden runs all of it";
  }
}

INSTANTIATE_TEST_SUITE_P(Networks, VerifyNetwork,
                         testing::Values(Named{"convolutions", &convolutions},
                                         Named{"attention", &attention}, Named{"gates", &gates},
                                         Named{"normalisations", &normalisations},
                                         Named{"embeddings", &embeddings}, Named{"parts", &parts},
                                         Named{"stem", &stem}, Named{"rotary", &rotary},
                                         Named{"grouped", &grouped}, Named{"windows", &windows}),
                         [](const auto& which) { return std::string(which.param.first); });

TEST(VerifiedNetwork, HasConvolutionsThatTakeTurnsWithPooling) {
  const Network n = network(stem(), "8x8");
  EXPECT_TRUE(std::ranges::any_of(
      n.costed.order, [](const ScheduledOp& s) { return s.piece > 0 && !s.whole.empty(); }));
}

TEST(VerifiedNetwork, HasHeadsInGroupsThatTakeTurns) {
  const Network n = network(grouped(), "8x8");
  EXPECT_TRUE(
      std::ranges::any_of(n.costed.order, [](const ScheduledOp& s) { return s.piece > 0; }));
}

TEST(VerifiedNetwork, HasPartsThatAreNeverCopied) {
  const Network n = network(parts(), "8x8");
  for (const Layer& l : n.costed.lowered.layers) {
    const bool moves = l.op_type == "Split" || l.op_type == "Concat";
    EXPECT_TRUE(!moves || l.fate == Fate::view) << l.name;
  }
}

TEST(VerifiedNetwork, HasWindowsOfKeysThatAreNeverCopied) {
  const Network n = network(windows(), "8x8");
  int images = 0;
  for (const Layer& l : n.costed.lowered.layers) {
    EXPECT_TRUE(l.op_type != "Slice" || l.fate == Fate::view) << l.name;
    for (const WorkItem& item : l.work)
      if (const auto* op = std::get_if<GemmOp>(&item)) images += op->images > 1 ? 1 : 0;
  }
  EXPECT_EQ(images, 4) << "heads that share keys, some rows of each";
}

TEST(VerifiedNetwork, HasRotaryEmbeddingsWithoutWorkThatOnlyMoves) {
  const Network n = network(rotary(), "8x8");
  int64_t turned = 0;
  for (const Layer& l : n.costed.lowered.layers) {
    EXPECT_TRUE(l.op_type != "Neg" || l.work.empty()) << l.name;
    turned += l.turned ? 1 : 0;
  }
  EXPECT_EQ(turned, 3);
}

/// A product of it that stands alone has operands of its own.
TEST(NetworkCases, AreNoPartsOfOtherTensors) {
  const auto rtl = test::rtl_options();
  if (!rtl) GTEST_SKIP() << "there is no verilator";
  const Network n = network(parts(), "8x8");
  VerifyOptions options;
  options.variant = *rtl;
  options.variant.assertions = true;
  const auto rows = verify_cases(network_cases(n.graph, n.costed, n.hw), options);
  EXPECT_GE(rows.size(), 7U);
  for (const VerifyRow& row : rows) EXPECT_TRUE(row.has_passed()) << row.name << row.error;
}

/// Golden's end of a case.
hw::MemoryImage golden_of(const NetworkCase& c) {
  hw::MemoryImage out = c.image;
  const Status s = hw::run_golden(c.network.program, c.hw, out);
  EXPECT_TRUE(s.ok());
  return out;
}

TEST(NetworkReference, SeesWhateverIsOtherThanItShouldBe) {
  const Network n = network(attention(), "8x8");
  NetworkCase c = *network_case(n.graph, n.costed, n.hw, 1);
  const hw::MemoryImage golden = golden_of(c);
  const auto difference = [&](const std::vector<PartNumbers>& numbers, const hw::MemoryImage& end) {
    return compare_with_reference(n.costed, c.network, numbers, c.image, end).difference;
  };
  EXPECT_EQ(difference(c.numbers, golden), "");
  int seen = 0;
  for (size_t i = 0; i < c.network.parts.size(); ++i) {
    const std::string& layer = n.costed.lowered.layers[c.network.parts[i].layer].name;
    SCOPED_TRACE(layer);
    const auto out = static_cast<size_t>(
        c.network.parts[i]
            .tensors[is<GemmSource>(c.numbers[i])  ? 2
                     : is<RowSource>(c.numbers[i]) ? 1
                                                   : c.network.parts[i].tensors.size() - 1]);
    hw::MemoryImage wrong = golden;
    wrong[out].front() ^= 1;
    EXPECT_TRUE(difference(c.numbers, wrong).starts_with("layer '" + layer + "': element 0 of "));
    std::vector<PartNumbers> numbers = c.numbers;
    if (!is<GemmSource>(numbers[i])) continue;
    for (int8_t& w : numbers[i].operands.weights) w = static_cast<int8_t>(w ^ 64);
    if (c.network.parts[i].constant[1]) {
      EXPECT_NE(difference(numbers, golden), "");
      ++seen;
    }
  }
  EXPECT_EQ(seen, 6) << "products with weights of their own";
}

TEST(NetworkCase, HasTheSameNumbersForTheSameSeed) {
  const Network n = network(gates(), "8x8");
  const auto end = [&](uint64_t seed) {
    return golden_of(*network_case(n.graph, n.costed, n.hw, seed));
  };
  EXPECT_EQ(end(3), end(3));
  EXPECT_NE(end(3), end(4));
}

/// Layers that have no commands are named, with the cycles that they are.
TEST(NetworkCase, NamesWhatItLeavesOut) {
  ModelBuilder m;
  m.input("in", {1, 8, 10, 10}).weight("w", {8, 8, 3, 3});
  m.node("Conv", {"in", "w"}, {"c"}, {ints("pads", {1, 1, 1, 1})});
  m.node("CumSum", {"c", "axis"}, {"sums"});
  m.constant("axis", {}, {3});
  m.node("Conv", {"sums", "w"}, {"out"}, {ints("pads", {1, 1, 1, 1})});
  m.output("out");
  const Network n = network(m, "8x8");
  const NetworkCase c = *network_case(n.graph, n.costed, n.hw, 1);
  EXPECT_EQ(c.report.left_out, std::vector<std::string>{"sums (CumSum)"});
  EXPECT_EQ(c.report.report_cycles, n.costed.report.totals.cycles);
  EXPECT_EQ(c.report.left_cycles, n.costed.report.layers[1].costs.cycles);
  EXPECT_EQ(c.network.parts.size(), 2U);
}

}  // namespace
}  // namespace accsim::sim
