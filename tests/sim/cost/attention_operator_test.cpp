#include "sim/elaborate/attention_operator.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sim/elaborate/elaborate.h"
#include "sim/operators/names.h"
#include "sim/ref/executor.h"
#include "tests/support/models.h"

/// Attentions and the nodes that they stand for: what the operators' kernels compute, of every form
/// that is spelled out, and which forms aren't.
namespace accsim::sim {
namespace {

using test::ModelBuilder;

Attribute number(const std::string& name, int64_t value) { return {name, "", value}; }
Attribute real(const std::string& name, double value) { return {name, "", value}; }

/// A model of one attention.
struct Form {
  std::string name, domain;
  ModelBuilder model;
  ModelDef def() const {
    ModelDef out = model.model();
    out.opsets[domain] = domain.empty() ? 25 : 1;
    out.graph.nodes[0].domain = domain;
    return out;
  }
};

using Inputs = std::vector<std::pair<std::string, Dims>>;
using Integers = std::vector<std::pair<std::string, std::vector<int64_t>>>;

/// Named so, of an operator and of inputs by port; "" is an absent one. Integers are constants of
/// one dim.
Form form(const std::pair<std::string, std::string>& name, const std::string& domain,
          const Inputs& inputs, const std::vector<Attribute>& attributes,
          const std::vector<std::string>& outputs, const Integers& integers = {}) {
  Form out{name.first, domain, ModelBuilder(17)};
  std::vector<std::string> names;
  for (const auto& [input, dims] : inputs) {
    names.push_back(input);
    const bool known =
        std::ranges::any_of(integers, [&](const auto& i) { return i.first == input; });
    if (input.empty() || known) continue;
    const bool keeps = input.starts_with("keep");
    out.model.input(input, dims, keeps ? DType::boolean : DType::float32);
  }
  for (const auto& [input, values] : integers)
    out.model.constant(input, {std::ssize(values)}, values);
  out.model.node(name.second, names, outputs, attributes);
  for (const std::string& output : outputs)
    if (!output.empty()) out.model.output(output);
  return out;
}

constexpr int64_t kBatch = 2, kSize = 8;
const std::vector<std::string> kCaches = {"y", "keys", "values"};

/// Attention of ai.onnx: four query heads for two of keys.
Form onnx(const std::string& name, int64_t queries, int64_t past, const Inputs& more,
          const std::vector<Attribute>& attributes, bool caches = true) {
  Inputs inputs = {{"q", {kBatch, 4, queries, kSize}},
                   {"k", {kBatch, 2, queries, kSize}},
                   {"v", {kBatch, 2, queries, kSize + 2}}};
  inputs.insert(inputs.end(), more.begin(), more.end());
  if (past > 0) {
    inputs.resize(4, {"", {}});
    inputs.push_back({"past_k", {kBatch, 2, past, kSize}});
    inputs.push_back({"past_v", {kBatch, 2, past, kSize + 2}});
  }
  return form({name, "Attention"}, "", inputs, attributes,
              caches ? kCaches : std::vector<std::string>{"y"});
}

std::vector<Form> onnx_forms() {
  std::vector<Form> out;
  out.push_back(onnx("plain", 5, 0, {}, {}));
  out.push_back(onnx("past", 3, 6, {}, {real("scale", 0.3)}));
  out.push_back(onnx("one token", 1, 9, {}, {number("is_causal", 1)}));
  out.push_back(onnx("causal", 5, 4, {}, {number("is_causal", 1), real("softcap", 2)}));
  out.push_back(onnx("blocks", 200, 0, {}, {number("is_causal", 1)}));
  out.push_back(onnx("window", 200, 30, {},
                     {number("left_window_size", 20), number("right_window_size", 3)}));
  out.push_back(onnx("window of one token", 1, 50, {},
                     {number("left_window_size", 7), number("is_causal", 1)}));
  out.push_back(onnx("keys before", 90, 0, {}, {number("left_window_size", 10)}, false));
  out.push_back(onnx("mask", 4, 5, {{"m", {1, 4, 4, 9}}}, {}));
  out.push_back(onnx("mask of blocks", 150, 0, {{"m", {150, 150}}}, {number("is_causal", 1)}));
  out.push_back(onnx("kept keys", 6, 0, {{"keep", {kBatch, 1, 1, 6}}}, {}, false));
  out.push_back(form(
      {"three dims", "Attention"}, "",
      {{"q", {kBatch, 7, 4 * kSize}}, {"k", {kBatch, 6, 2 * kSize}}, {"v", {kBatch, 6, 2 * kSize}}},
      {number("q_num_heads", 4), number("kv_num_heads", 2)}, kCaches));
  for (const int64_t causal : {0, 1}) {
    const Inputs buffers = {{"q", {kBatch, 4, 3, kSize}},
                            {"k", {kBatch, 2, 12, kSize}},
                            {"v", {kBatch, 2, 12, kSize}},
                            {"", {}},
                            {"", {}},
                            {"", {}},
                            {"length", {}}};
    for (const std::vector<int64_t>& lengths : {std::vector<int64_t>{7, 7}, {5, 9}})
      out.push_back(
          form({lengths[0] == lengths[1] ? "keys of a buffer" : "two lengths", "Attention"}, "",
               buffers, {number("is_causal", causal), number("left_window_size", causal ? 4 : -1)},
               {"y"}, {{"length", lengths}}));
  }
  return out;
}

std::vector<Form> head_forms() {
  std::vector<Form> out;
  const auto add = [&](const std::string& name, const std::string& op_type, const Inputs& inputs,
                       const std::vector<Attribute>& attributes,
                       const std::vector<std::string>& outputs) {
    out.push_back(form({name, op_type}, std::string(kMicrosoft), inputs, attributes, outputs));
  };
  const Dims tokens{kBatch, 3, 4 * kSize}, past{kBatch, 4, 5, kSize};
  const Inputs three = {{"q", tokens}, {"k", tokens}, {"v", tokens}};
  const auto multi = [&](const std::string& name, Inputs more,
                         std::vector<Attribute> attributes = {}, bool caches = true) {
    Inputs all = three;
    all.insert(all.end(), more.begin(), more.end());
    attributes.push_back(number("num_heads", 4));
    add(name, "MultiHeadAttention", all, attributes,
        caches ? kCaches : std::vector<std::string>{"y"});
  };
  multi("heads", {}, {}, false);
  multi("heads with a past", {{"", {}}, {"", {}}, {"", {}}, {"past_k", past}, {"past_v", past}});
  multi("heads, all inputs",
        {{"b", {12 * kSize}}, {"", {}}, {"s", {1, 4, 3, 8}}, {"past_k", past}, {"past_v", past}},
        {number("unidirectional", 1), real("scale", 0.2)});
  add("projected", "Attention",
      {{"x", {kBatch, 3, 6}},
       {"w", {6, 12 * kSize}},
       {"b", {12 * kSize}},
       {"", {}},
       {"past", {2, kBatch, 4, 5, kSize}},
       {"s", {1, 1, 3, 8}}},
      {number("num_heads", 4), number("unidirectional", 1)}, {"y", "present"});
  add("projected, no past", "Attention", {{"x", {kBatch, 3, 6}}, {"w", {6, 12 * kSize}}},
      {number("num_heads", 4)}, {"y", "present"});
  return out;
}

std::vector<Form> group_forms() {
  std::vector<Form> out;
  const auto group = [&](const std::string& name, int64_t queries, int64_t room, int64_t total,
                         std::vector<Attribute> attributes, bool packed = false,
                         const Inputs& more = {}) {
    const auto columns = [&](int64_t heads) { return Dims{kBatch, queries, heads * kSize}; };
    Inputs all = {{"q", columns(packed ? 8 : 4)}};
    if (packed)
      all.resize(3, {"", {}});
    else
      all.insert(all.end(), {{"k", columns(2)}, {"v", columns(2)}});
    const Dims cache{kBatch, 2, room, kSize};
    all.insert(all.end(), {{room > 0 ? "past_k" : "", cache}, {room > 0 ? "past_v" : "", cache}});
    all.insert(all.end(), {{"last", {}}, {"total", {}}});
    all.insert(all.end(), more.begin(), more.end());
    attributes.insert(attributes.end(), {number("num_heads", 4), number("kv_num_heads", 2)});
    out.push_back(form({name, "GroupQueryAttention"}, std::string(kMicrosoft), all, attributes,
                       kCaches,
                       {{"last", std::vector<int64_t>(kBatch, total - 1)}, {"total", {total}}}));
  };
  const Inputs angles = {{"cos", {64, kSize / 2}}, {"sin", {64, kSize / 2}}};
  group("groups", 3, 5, 8, {});
  group("groups, one token", 1, 9, 10, {real("scale", 0.4), real("softcap", 3)});
  group("groups in a buffer", 2, 20, 9, {});
  group("groups, first prompt", 6, 0, 6, {number("local_window_size", 3)});
  group("groups with a window", 1, 30, 31, {number("local_window_size", 8)});
  const Attribute slides = number("sliding_window_cache", 1),
                  window = number("local_window_size", 6);
  group("groups in a sliding cache", 1, 8, 20, {slides, window});
  group("groups in a sliding cache of a window", 1, 6, 31, {slides, window});
  group("groups that fill a sliding cache", 2, 8, 7, {slides, window});
  group("groups beyond a sliding cache", 3, 8, 9, {slides, window, number("do_rotary", 1)}, false,
        angles);
  group("groups, first prompt of a sliding cache", 12, 8, 12, {slides, window});
  group("groups that turn", 3, 20, 11, {number("do_rotary", 1)}, false, angles);
  group("groups of packed columns", 3, 5, 8, {number("do_rotary", 1)}, true, angles);
  group("groups, smooth", 3, 5, 8, {number("smooth_softmax", 1)});
  group("groups with sinks", 3, 5, 8, {}, false,
        {{"", {}}, {"", {}}, {"", {}}, {"s", {1, 4, 3, 8}}, {"sinks", {4}}});
  group("groups of normed heads", 3, 5, 8, {number("do_rotary", 1)}, false,
        {{"cos", {64, kSize / 2}},
         {"sin", {64, kSize / 2}},
         {"", {}},
         {"", {}},
         {"", {}},
         {"", {}},
         {"", {}},
         {"q_gain", {kSize}},
         {"k_gain", {kSize}}});
  return out;
}

/// All results by name, on random inputs.
std::map<std::string, std::vector<double>> values_of(const ModelDef& model,
                                                     const ElaborateOptions& options,
                                                     size_t& nodes) {
  const auto graph = elaborate(model, options);
  EXPECT_TRUE(graph.ok()) << graph.errors().front().text();
  nodes = graph->nodes.size();
  ref::Arrays inputs;
  for (const TensorId id : graph->inputs) {
    const Tensor& t = graph->tensor(id);
    if (is_float(t.dtype)) {
      inputs[t.name] = ref::random_input(*graph, id, 7);
      continue;
    }
    ref::Array kept(t.dtype, t.dims);
    for (int64_t i = 0; i < kept.size(); ++i) kept.data<uint8_t>()[i] = i % 3 != 1 ? 1 : 0;
    inputs[t.name] = std::move(kept);
  }
  const auto result = ref::run_graph(*graph, inputs, {});
  EXPECT_TRUE(result.ok()) << result.errors().front().text();
  std::map<std::string, std::vector<double>> out;
  if (!result.ok()) return out;
  for (const auto& [name, array] : result->outputs) out[name] = array.reals();
  return out;
}

/// Kernels round once, nodes round each result: sums of up to 200 numbers, in float.
void expect_same_values(const ModelDef& model) {
  size_t nodes = 0;
  const auto want = values_of(model, {.as_written = true}, nodes);
  EXPECT_EQ(nodes, 1U);
  const auto got = values_of(model, {}, nodes);
  EXPECT_GT(nodes, 3U) << "it is spelled out";
  ASSERT_EQ(got.size(), want.size());
  for (const auto& [name, values] : want) {
    SCOPED_TRACE(name);
    ASSERT_TRUE(got.contains(name));
    ASSERT_EQ(got.at(name).size(), values.size());
    double largest = 0;
    for (const double v : values) largest = std::max(largest, std::abs(v));
    EXPECT_GT(largest, 0);
    for (size_t i = 0; i < values.size(); ++i) {
      if (values[i] == 0) continue;  // the kernel's, where a buffer has room: nodes leave the past
      ASSERT_NEAR(got.at(name)[i], values[i], 200 * largest * std::ldexp(1, -24)) << i;
    }
  }
}

TEST(AttentionOperator, GivesWhatItsKernelGives) {
  for (const Form& f : onnx_forms()) {
    SCOPED_TRACE(f.name);
    expect_same_values(f.def());
  }
}

TEST(AttentionOperator, OfMicrosoftGivesWhatItsKernelGives) {
  for (const std::vector<Form>& forms : {head_forms(), group_forms()})
    for (const Form& f : forms) {
      SCOPED_TRACE(f.name);
      expect_same_values(f.def());
    }
}

TEST(AttentionOperator, StaysWhereItGivesScores) {
  const Form f = onnx("scores", 4, 0, {}, {});
  ModelDef model = f.def();
  model.graph.nodes[0].outputs.push_back("scores");
  model.graph.outputs.push_back({"scores", DType::undefined, std::nullopt, true});
  const auto graph = elaborate(model, {});
  ASSERT_TRUE(graph.ok()) << graph.errors().front().text();
  EXPECT_EQ(graph->nodes.size(), 1U);
}

TEST(AttentionOperator, StaysWhereAQuerySeesNoKey) {
  const Form f = onnx("none", 4, 0, {}, {number("is_causal", 0), number("left_window_size", 2)});
  ModelDef model = f.def();
  model.graph.inputs[0].dims->at(2).value =
      40;  // the last ones look back at keys that aren't there
  const auto graph = elaborate(model, {});
  ASSERT_TRUE(graph.ok()) << graph.errors().front().text();
  EXPECT_EQ(graph->nodes.size(), 1U);
}

/// A block of queries has the keys that any of it sees: blocks above the diagonal aren't computed.
TEST(AttentionOperator, ComputesNoBlocksThatNobodySees) {
  const auto scores_of = [](const Form& f) {
    const auto graph = elaborate(f.def(), {});
    EXPECT_TRUE(graph.ok());
    int64_t sum = 0;
    for (const Node& n : graph->nodes)
      if (n.op_type == op::kSoftmax) sum += elements(graph->tensor(n.outputs[0]).dims);
    return sum;
  };
  const int64_t heads = kBatch * 4, n = 1024, block = n / 8;
  EXPECT_EQ(scores_of(onnx("full", n, 0, {}, {})), heads * n * n);
  EXPECT_EQ(scores_of(onnx("causal", n, 0, {}, {number("is_causal", 1)})),
            heads * (n * n + n * block) / 2);
  const int64_t seen = 127 + 64;  // of each of 64 queries; fewer where keys begin
  const Form window =
      onnx("window", n, 0, {}, {number("left_window_size", 127), number("is_causal", 1)});
  EXPECT_LE(scores_of(window), heads * n * seen);
  EXPECT_GE(scores_of(window), heads * (n - 128) * seen);
}

/// Masks of equal blocks are made once, for all layers.
TEST(AttentionOperator, SharesMasksWithOthers) {
  ModelBuilder m(25);
  m.input("q", {1, 2, 128, 8});
  for (const char* y : {"a", "b", "c"})
    m.node("Attention", {"q", "q", "q"}, {y}, {number("is_causal", 1)}).output(y);
  const auto graph = elaborate(m.model(), {});
  ASSERT_TRUE(graph.ok()) << graph.errors().front().text();
  const auto masks = std::ranges::count(graph->nodes, std::string(op::kWhere), &Node::op_type);
  const auto blocks = std::ranges::count(graph->nodes, std::string(op::kSoftmax), &Node::op_type);
  EXPECT_EQ(blocks, 3 * 2);
  EXPECT_EQ(masks, 2);
}

}  // namespace
}  // namespace accsim::sim
