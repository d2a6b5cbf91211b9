#include "sim/elaborate/support.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "sim/base/edit_distance.h"
#include "sim/elaborate/node_label.h"
#include "sim/operators/op_table.h"

namespace accsim::sim {
namespace {

std::string full_name(const OpRow& row) {
  return row.domain.empty() ? std::string(row.name) : fmt::format("{}::{}", row.domain, row.name);
}

std::string lower_case(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return out;
}

/// The operator of that domain whose name may have been meant: one letter of four may be wrong, and
/// the case of all. "" when there is none. Another domain's operators do something else.
std::string nearest_op(std::string_view domain, std::string_view wanted) {
  constexpr size_t kLongestName = 64;  // a name from a broken file may have any length
  if (wanted.size() > kLongestName) return "";
  size_t best = wanted.size() / 4 + 1;
  std::string nearest;
  for (const OpRow* row : all_ops()) {
    if (row->domain != domain) continue;
    const size_t distance = edit_distance(lower_case(wanted), lower_case(row->name));
    if (distance >= best) continue;
    best = distance;
    nearest = full_name(*row);
  }
  return nearest;
}

std::string capital(std::string_view text) {
  std::string out(text);
  if (!out.empty() && out[0] >= 'a' && out[0] <= 'z')
    out[0] = static_cast<char>(out[0] - 'a' + 'A');
  return out;
}

std::string more_nodes(size_t nodes) {
  return nodes > 1 ? fmt::format(" and {} more", nodes - 1) : std::string();
}

/// Of so many nodes of one operator, with the first one's name.
Error unsupported_error(const NodeDef& node, const std::string& name, size_t nodes) {
  if (const RefusedOp* refused = find_refused(node.domain, node.op_type))
    return Error{Errc::unsupported,
                 fmt::format("this operator is refused: it is {}. {}; --allow-unsupported costs it "
                             "as memory traffic",
                             refused->stands_for, capital(refused->instead)),
                 node_label(node, name) + more_nodes(nodes)};
  const std::string nearest = nearest_op(node.domain, node.op_type);
  const std::string hint =
      nearest.empty() ? "" : fmt::format(" (the nearest name known is {})", nearest);
  return Error{Errc::unsupported,
               fmt::format("no support for this operator{}; --allow-unsupported costs it as memory "
                           "traffic",
                           hint),
               node_label(node, name) + more_nodes(nodes)};
}

/// Nodes of one operator that there is no support for.
struct UnknownOp {
  const NodeDef* first = nullptr;
  std::string name;  ///< of the first
  size_t nodes = 0;
};

}  // namespace

Status SupportChecker::check_support(const std::vector<NodeDef>& nodes, const std::string& prefix) {
  std::vector<UnknownOp> unknown;
  const auto add = [&](const NodeDef& node, const std::string& name) {
    auto op = std::ranges::find_if(unknown, [&](const UnknownOp& u) {
      return u.first->op_type == node.op_type && u.first->domain == node.domain;
    });
    if (op == unknown.end()) op = unknown.insert(op, {&node, name, 0});
    ++op->nodes;
  };
  std::vector<std::pair<const std::vector<NodeDef>*, std::string>> pending{{&nodes, prefix}};
  while (!pending.empty()) {
    const auto [list, names] = std::move(pending.back());
    pending.pop_back();
    for (size_t i = 0; i < list->size(); ++i) {
      const NodeDef& node = (*list)[i];
      const FunctionDef* function = functions_.find(node);
      if (function == nullptr) {
        if (find_op(node.domain, node.op_type) == nullptr) add(node, names + node_name(node, i));
      } else if (checked_.insert(function).second) {
        pending.emplace_back(&function->nodes, names + node_name(node, i) + "/");
      }
    }
  }
  Errors errors;
  for (const UnknownOp& u : unknown) errors.push_back(unsupported_error(*u.first, u.name, u.nodes));
  if (!errors.empty()) return errors;
  return ok();
}

}  // namespace accsim::sim
