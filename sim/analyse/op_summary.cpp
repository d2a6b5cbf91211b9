#include "sim/analyse/op_summary.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "sim/analyse/op_kinds.h"

namespace accsim::sim {
namespace {

constexpr size_t kLongestList = 64;

struct ToValue {
  using Value = std::optional<AttributeValue>;
  Value operator()(std::monostate) const { return std::nullopt; }
  Value operator()(const std::shared_ptr<const StoredTensor>& t) const {
    if (!t) return std::nullopt;
    return AttributeValue(fmt::format("tensor {} {}", name(t->dtype), to_string(t->dims)));
  }
  Value operator()(const std::shared_ptr<const GraphDef>&) const {
    return AttributeValue(std::string("graph"));
  }
  template <class T>
  Value operator()(const std::vector<T>& list) const {
    if (list.size() <= kLongestList) return AttributeValue(list);
    return AttributeValue(fmt::format("list of {}", list.size()));
  }
  template <class T>
  Value operator()(const T& v) const {
    return AttributeValue(v);
  }
};

void widen_range(double v, AttributeSummary& to) {
  if (std::isnan(v)) return;
  to.least = to.least ? std::min(*to.least, v) : v;
  to.most = to.most ? std::max(*to.most, v) : v;
}

struct Widen {
  AttributeSummary& to;
  void operator()(int64_t v) const { widen_range(static_cast<double>(v), to); }
  void operator()(double v) const { widen_range(v, to); }
  void operator()(const std::vector<int64_t>& list) const {
    for (int64_t v : list) (*this)(v);
  }
  void operator()(const std::vector<double>& list) const {
    for (double v : list) (*this)(v);
  }
  void operator()(const auto&) const {}
};

/// A total order that NaN doesn't break: by kind, then value, then text.
bool comes_before(const AttributeValue& a, const AttributeValue& b) {
  if (a.index() != b.index()) return a.index() < b.index();
  if (a < b) return true;
  if (b < a) return false;
  return value_text(a) < value_text(b);
}

struct Before {
  bool operator()(const std::pair<std::string, AttributeValue>& a,
                  const std::pair<std::string, AttributeValue>& b) const {
    return comes_before(a.second, b.second);
  }
};

/// Distinct values of each attribute of one operator, keyed by their text.
using Seen = std::map<std::string, std::map<std::string, AttributeValue>>;

void add_attributes(const Node& node, OpSummary& op, Seen& seen) {
  for (const Attribute& a : node.attributes) {
    const std::optional<AttributeValue> value = std::visit(ToValue{}, a.value);
    if (!value) continue;
    AttributeSummary& summary = op.attributes[a.name];
    ++summary.count;
    std::visit(Widen{summary}, a.value);
    seen[a.name].emplace(value_text(*value), *value);
  }
}

struct Text {
  std::string operator()(const std::string& v) const { return v; }
  std::string operator()(int64_t v) const { return fmt::format("{}", v); }
  std::string operator()(double v) const { return fmt::format("{}", v); }
  template <class T>
  std::string operator()(const std::vector<T>& list) const {
    return fmt::format("[{}]", fmt::join(list, ", "));
  }
};

}  // namespace

std::vector<Dims> shapes_of(const Graph& graph, const std::vector<TensorId>& ids) {
  std::vector<Dims> out;
  for (TensorId id : ids)
    if (id != kNoTensor) out.push_back(graph.tensor(id).dims);
  return out;
}

std::string value_text(const AttributeValue& value) { return std::visit(Text{}, value); }

std::map<std::string, OpSummary> summarise_ops(const Graph& graph) {
  std::map<std::string, OpSummary> out;
  std::map<std::string, Seen> seen;
  for (const Node& node : graph.nodes) {
    const std::string label = op_label(node);
    OpSummary& op = out[label];
    ++op.count;
    op.constant += node.folded;
    add_attributes(node, op, seen[label]);
    ++op.shapes[{shapes_of(graph, node.inputs), shapes_of(graph, node.outputs)}];
  }
  for (auto& [label, attributes] : seen)
    for (auto& [attribute, values] : attributes) {
      std::vector<std::pair<std::string, AttributeValue>> sorted(values.begin(), values.end());
      std::stable_sort(sorted.begin(), sorted.end(), Before{});
      AttributeSummary& summary = out[label].attributes[attribute];
      summary.distinct = static_cast<int64_t>(sorted.size());
      if (sorted.size() > kMostValues) sorted.resize(kMostValues);
      for (auto& [text, value] : sorted) summary.values.push_back(std::move(value));
    }
  return out;
}

}  // namespace accsim::sim
