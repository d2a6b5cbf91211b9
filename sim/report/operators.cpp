#include "sim/report/operators.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "sim/operators/op_table.h"

namespace accsim::sim {
namespace {

std::string input_range(const OpRow& row) {
  if (row.max_inputs >= kVariadic) return fmt::format("{} or more", row.min_inputs);
  if (row.min_inputs == row.max_inputs) return fmt::format("{}", row.min_inputs);
  return fmt::format("{} to {}", row.min_inputs, row.max_inputs);
}

std::string_view domain_word(std::string_view domain) {
  return domain.empty() ? "ai.onnx" : domain;
}

std::string_view fate_word(const OpRow& row) {
  if (row.control_flow == ControlFlow::spelled) return "spelled out";
  return row.control_flow == ControlFlow::none ? name(row.fate) : "expanded";
}

}  // namespace

std::string operators_markdown() {
  std::map<std::string_view, std::vector<const OpRow*>> domains;
  for (const OpRow* row : all_ops()) domains[row->domain].push_back(row);
  std::string out =
      "# Operators\n\n"
      "`accsim ops` makes this page from the operator table, and a test compares. The column fate "
      "is for\n"
      "a node that isn't folded. The subgraphs of a node that is \"expanded\" take its place, and "
      "the\n"
      "operators that it stands for that of one that is \"spelled out\". Any other operator is an "
      "error,\n"
      "unless `--allow-unsupported` costs its traffic. The last section says what refused ones "
      "stand for.\n"
      "The column value says whether constant inputs are computed, so that shapes may depend on "
      "them.\n";
  for (auto& [domain, rows] : domains) {
    std::sort(rows.begin(), rows.end(),
              [](const OpRow* a, const OpRow* b) { return a->name < b->name; });
    out += fmt::format(
        "\n## {} ({} operators)\n\n| operator | since opset | inputs | fate | value |\n"
        "|---|---:|---|---|---|\n",
        domain_word(domain), rows.size());
    for (const OpRow* row : rows)
      out += fmt::format("| {} | {} | {} | {} | {} |\n", row->name, row->since, input_range(*row),
                         fate_word(*row), row->value ? "yes" : "");
  }
  out += fmt::format(
      "\n## Refused ({} operators)\n\n| operator | domain | stands for | instead |\n"
      "|---|---|---|---|\n",
      refused_ops().size());
  for (const RefusedOp& r : refused_ops())
    out += fmt::format("| {} | {} | {} | {} |\n", r.name, domain_word(r.domain), r.stands_for,
                       r.instead);
  return out;
}

}  // namespace accsim::sim
