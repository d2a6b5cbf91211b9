#include "sim/report/assumptions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <span>

#include "sim/report/format.h"

namespace accsim::sim {
namespace {

constexpr size_t kNamed = 3;

std::string taken_text(const Assumption& a) {
  if (!a.branch.empty())
    return fmt::format("{}{}", a.branch,
                       a.given || a.of != "branch" ? "" : " (not the cheaper one)");
  const char* why = a.size == a.bound ? " (the most there can be)" : " (by default)";
  return fmt::format("{}{}", format_count(a.size), a.given ? "" : why);
}

std::string text_of(const std::vector<const Assumption*>& nodes) {
  std::string out = fmt::format("{} of {}: ", nodes.front()->of, nodes.front()->op_type);
  for (size_t i = 0; i < std::min(nodes.size(), kNamed); ++i) {
    const Assumption& a = *nodes[i];
    out += fmt::format("{}{} = {}", i == 0 ? "" : ", ", a.node, taken_text(a));
  }
  if (nodes.size() > kNamed) out += fmt::format(" and {} more", nodes.size() - kNamed);
  const Assumption& first = *nodes.front();
  return out + (first.input            ? "; others by --assume INPUT=N"
                : first.branch.empty() ? "; others by --assume NODE=N"
                                       : "; the other by --branch NODE=then or else");
}

}  // namespace

std::vector<std::string> assumption_texts(const std::vector<Assumption>& assumed) {
  std::vector<std::string> order, out;
  std::map<std::string, std::vector<const Assumption*>> by_op;
  for (const Assumption& a : assumed) {
    const std::string kind = a.of + " of " + a.op_type;
    std::vector<const Assumption*>& nodes = by_op[kind];
    if (nodes.empty()) order.push_back(kind);
    nodes.push_back(&a);
  }
  for (const std::string& op : order) out.push_back(text_of(by_op[op]));
  return out;
}

std::vector<std::string> unsupported_texts(const std::vector<std::string>& nodes) {
  std::vector<std::string> order, out;
  std::map<std::string, std::vector<std::string>> by_op;
  for (const std::string& node : nodes) {
    const size_t at = std::min(node.rfind(" ("), node.size());
    std::vector<std::string>& names = by_op[node.substr(at)];
    if (names.empty()) order.push_back(node.substr(at));
    names.push_back(node.substr(0, at));
  }
  for (const std::string& op : order) {
    const std::vector<std::string>& names = by_op[op];
    const auto first = std::span(names).first(std::min(names.size(), kNamed));
    out.push_back(fmt::format("{}", fmt::join(first, ", ")));
    if (names.size() > kNamed) out.back() += fmt::format(" and {} more", names.size() - kNamed);
    out.back() += op;
  }
  return out;
}

Json assumptions_json(const std::vector<Assumption>& assumed) {
  Json out = Json::array();
  for (const Assumption& a : assumed)
    out.push_back({{"node", a.node},
                   {"op_type", a.op_type},
                   {"of", a.of},
                   {"bound", a.bound},
                   {"size", a.size},
                   {"branch", a.branch.empty() ? Json() : Json(a.branch)},
                   {"given", a.given}});
  return out;
}

}  // namespace accsim::sim
