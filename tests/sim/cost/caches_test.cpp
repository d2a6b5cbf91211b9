#include <gtest/gtest.h>

#include <utility>

#include "hw/config/load.h"
#include "sim/cost/cost.h"
#include "sim/cost/load_graph.h"
#include "sim/operators/names.h"
#include "tests/support/models.h"
#include "tests/support/source.h"

/// A cache that is given and given back stays where it is, whatever operator appends to it: a step
/// writes the new token's keys and values, and takes as long in all forms.
namespace accsim::sim {
namespace {

using test::ModelBuilder;

constexpr int64_t kHeads = 4, kKeys = 1024, kSize = 64, kToken = kHeads * kSize;

Attribute number(const std::string& name, int64_t value) { return {name, "", value}; }
Attribute perm(std::vector<int64_t> values) {
  return ModelBuilder::ints("perm", std::move(values));
}

/// One query for keys of which `past` are cached; `room`: of the caches.
ModelBuilder with_inputs(int64_t room, int64_t opset = 24) {
  ModelBuilder m(opset);
  for (const char* x : {"q", "k", "v"}) m.input(x, {1, kHeads, 1, kSize});
  for (const char* x : {"past_k", "past_v"}) m.input(x, {1, kHeads, room, kSize});
  return m;
}

void attend(ModelBuilder& m) {
  m.node("Transpose", {"keys"}, {"turned"}, {perm({0, 1, 3, 2})});
  m.node("MatMul", {"q", "turned"}, {"scores"});
  m.node("Softmax", {"scores"}, {"weights"}, {number("axis", -1)});
  m.node("MatMul", {"weights", "values"}, {"y"});
  m.output("y").output("keys").output("values");
}

ModelDef concatenated() {
  ModelBuilder m = with_inputs(kKeys - 1);
  m.node("Concat", {"past_k", "k"}, {"keys"}, {number("axis", 2)});
  m.node("Concat", {"past_v", "v"}, {"values"}, {number("axis", 2)});
  attend(m);
  return m.model();
}

/// A node of `op_type` replaces one row of each cache, where `at` says.
ModelDef replaced(const std::string& op_type, const Dims& at,
                  const std::vector<Attribute>& attributes, bool update_last) {
  ModelBuilder m = with_inputs(kKeys);
  m.input("at", at, DType::int64);
  for (const std::string x : {"k", "v"}) {
    std::vector<std::string> inputs = {"past_" + x, "at", x};
    if (!update_last) std::swap(inputs[1], inputs[2]);
    m.node(op_type, inputs, {x == "k" ? "keys" : "values"}, attributes);
  }
  attend(m);
  return m.model();
}

/// As exporters write a static cache.
ModelDef turned() {
  ModelBuilder m = with_inputs(kKeys);
  m.input("at", {1, 1}, DType::int64);
  for (const std::string x : {"k", "v"}) {
    m.node("Transpose", {"past_" + x}, {x + "_1"}, {perm({2, 0, 1, 3})});
    m.node("Transpose", {x}, {x + "_2"}, {perm({2, 0, 1, 3})});
    m.node("ScatterND", {x + "_1", "at", x + "_2"}, {x + "_3"});
    m.node("Transpose", {x + "_3"}, {x == "k" ? "keys" : "values"}, {perm({1, 2, 0, 3})});
  }
  attend(m);
  return m.model();
}

ModelDef of_attention() {
  ModelBuilder m = with_inputs(kKeys - 1);
  m.node("Attention", {"q", "k", "v", "", "past_k", "past_v"}, {"y", "keys", "values"});
  return m.output("y").output("keys").output("values").model();
}

/// An operator of com.microsoft on tokens. `total`: keys that are there, as a constant; 0: unknown.
ModelDef of_microsoft(bool grouped, int64_t room, int64_t total,
                      std::vector<Attribute> attributes = {}) {
  ModelBuilder m(17);
  for (const char* x : {"q", "k", "v"}) m.input(x, {1, 1, kToken});
  for (const char* x : {"past_k", "past_v"}) m.input(x, {1, kHeads, room, kSize});
  std::vector<std::string> inputs = {"q", "k", "v", "past_k", "past_v", "last", "total"};
  if (!grouped) inputs = {"q", "k", "v", "", "", "", "past_k", "past_v"};
  attributes.push_back(number("num_heads", kHeads));
  if (grouped) {
    attributes.push_back(number("kv_num_heads", kHeads));
    m.input("last", {1}, DType::int32);
    if (total == 0) m.input("total", {1}, DType::int32);
    if (total > 0) m.constant("total", {1}, {total});
  }
  m.node(grouped ? "GroupQueryAttention" : "MultiHeadAttention", inputs, {"y", "keys", "values"},
         attributes);
  ModelDef model = m.output("y").output("keys").output("values").model();
  model.graph.nodes[0].domain = kMicrosoft;
  model.opsets[std::string(kMicrosoft)] = 1;
  return model;
}

Costs costs_of(const ModelDef& model) {
  const hw::HwConfig hw = *hw::load_hw(kSource + "/configs/64x64.yaml");
  const auto graph = load_graph(model, {});
  EXPECT_TRUE(graph.ok()) << graph.errors().front().text();
  const auto costed = cost_network(*graph, hw, {});
  EXPECT_TRUE(costed.ok());
  return costed->report.totals;
}

TEST(Caches, CostTheSameWhateverAppends) {
  const Costs want = costs_of(concatenated());
  const int64_t token = kToken;  // bytes of int8: keys, values, and what is attended to
  EXPECT_EQ(want.dram_write, 3 * token);
  const std::vector<std::pair<std::string, ModelDef>> forms = {
      {"TensorScatter", replaced("TensorScatter", {1}, {}, false)},
      {"ScatterND", replaced("ScatterND", {1, kHeads, 1, 3}, {}, true)},
      {"ScatterElements",
       replaced("ScatterElements", {1, kHeads, 1, kSize}, {number("axis", 2)}, true)},
      {"a static cache", turned()},
      {"Attention", of_attention()},
      {"MultiHeadAttention", of_microsoft(false, kKeys - 1, 0)},
      {"GroupQueryAttention", of_microsoft(true, kKeys - 1, 0)},
      {"GroupQueryAttention, a buffer", of_microsoft(true, kKeys, kKeys)}};
  for (const auto& [name, model] : forms) {
    SCOPED_TRACE(name);
    const Costs got = costs_of(model);
    EXPECT_EQ(got.dram_write, want.dram_write);
    // Indices of single elements are 8 bytes each.
    EXPECT_LE(got.dram_read, want.dram_read + 2 * kToken * 9);
    const bool single = name == "ScatterElements";  // its rows are written element by element
    EXPECT_NEAR(static_cast<double>(got.cycles), static_cast<double>(want.cycles),
                (single ? 0.1 : 0.02) * static_cast<double>(want.cycles));
  }
}

/// Of a buffer only what is there is read, of a window only the window: as a cache of that length.
TEST(Caches, AreReadWhereThereAreKeysToSee) {
  constexpr int64_t kSeen = 128;
  const Costs all = costs_of(of_microsoft(true, kKeys, kKeys)),
              few = costs_of(of_microsoft(true, kSeen, kSeen)),
              buffer = costs_of(of_microsoft(true, kKeys, kSeen)),
              window =
                  costs_of(of_microsoft(true, kKeys - 1, 0, {number("local_window_size", kSeen)}));
  const int64_t most = few.dram_read + (all.dram_read - few.dram_read) / 50;
  for (const Costs& part : {buffer, window}) {
    EXPECT_LE(part.dram_read, most);
    EXPECT_EQ(part.dram_write, few.dram_write);
    EXPECT_LE(part.cycles, few.cycles + few.cycles / 10);
    EXPECT_LT(4 * part.cycles, all.cycles);
  }
}

}  // namespace
}  // namespace accsim::sim
