#include "sim/report/assumptions.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "sim/report/format.h"

namespace accsim::sim {
namespace {

constexpr size_t kNamed = 3;

std::string taken(const Assumption& a) {
  if (!a.branch.empty())
    return fmt::format("{}{}", a.branch, a.given ? "" : " (not the cheaper one)");
  const char* why = a.size == a.bound ? " (the most there can be)" : " (by default)";
  return fmt::format("{}{}", format_count(a.size), a.given ? "" : why);
}

std::string text_of(const std::vector<const Assumption*>& nodes) {
  std::string out = fmt::format("{} of {}: ", nodes.front()->of, nodes.front()->op_type);
  for (size_t i = 0; i < std::min(nodes.size(), kNamed); ++i) {
    const Assumption& a = *nodes[i];
    out += fmt::format("{}{} = {}", i == 0 ? "" : ", ", a.node, taken(a));
  }
  if (nodes.size() > kNamed) out += fmt::format(" and {} more", nodes.size() - kNamed);
  return out + (nodes.front()->branch.empty() ? "; others by --assume NODE=N"
                                              : "; the other by --branch NODE=then or else");
}

}  // namespace

std::vector<std::string> assumption_texts(const std::vector<Assumption>& assumed) {
  std::vector<std::string> order, out;
  std::map<std::string, std::vector<const Assumption*>> by_op;
  for (const Assumption& a : assumed) {
    std::vector<const Assumption*>& nodes = by_op[a.op_type];
    if (nodes.empty()) order.push_back(a.op_type);
    nodes.push_back(&a);
  }
  for (const std::string& op : order) out.push_back(text_of(by_op[op]));
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
