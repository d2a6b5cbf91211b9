#pragma once
#include "tests/support/models.h"

namespace accsim::test {

/// Sizes of attention: heads of queries, and the groups of them that share keys and values.
struct AttentionShape {
  int64_t heads, groups, queries, keys, size;
};

/// softmax(q k + mask) v as exporters spell out grouped-query attention: queries, keys and values
/// lie position by position, as projections leave them; nodes of their own turn all three, and
/// repeat keys and values head by head. Without a mask where `masked` is false.
inline ModelBuilder grouped_attention(const AttentionShape& s, bool masked) {
  ModelBuilder m(17);
  m.input("q_rows", {1, s.queries, s.heads, s.size});
  m.input("k_rows", {1, s.keys, s.groups, s.size}).input("v_rows", {1, s.keys, s.groups, s.size});
  const auto turned = [&](const std::string& from, const std::string& to, Dims order) {
    m.node("Transpose", {from}, {to}, {ModelBuilder::ints("perm", {order.begin(), order.end()})});
  };
  const auto dims = [&](const std::string& name, std::vector<int64_t> values) {
    const auto rank = static_cast<int64_t>(values.size());
    m.constant(name, {rank}, std::move(values));
  };
  dims("one", {1, s.groups, 1, s.keys, s.size});
  dims("each", {1, s.groups, s.heads / s.groups, s.keys, s.size});
  dims("all", {1, s.heads, s.keys, s.size});
  turned("q_rows", "q", {0, 2, 1, 3});
  for (const std::string t : {"k", "v"}) {
    turned(t + "_rows", t + "_turned", {0, 2, 1, 3});
    m.node("Reshape", {t + "_turned", "one"}, {t + "_one"});
    m.node("Expand", {t + "_one", "each"}, {t + "_each"});
    m.node("Reshape", {t + "_each", "all"}, {t});
  }
  turned("k", "k_columns", {0, 1, 3, 2});
  m.node("MatMul", {"q", "k_columns"}, {"scores"});
  if (masked)
    m.input("mask", {1, 1, s.queries, s.keys}).node("Add", {"scores", "mask"}, {"masked"});
  m.node("Softmax", {masked ? "masked" : "scores"}, {"weights"});
  m.node("MatMul", {"weights", "v"}, {"y"}).output("y");
  return m;
}

}  // namespace accsim::test
