#include "sim/operators/op_table.h"

#include <algorithm>
#include <array>
#include <vector>

namespace accsim::sim {
namespace {

using Rows = std::vector<const OpRow*>;

Rows gather_rows() {
  constexpr std::array kFamilies = {
      elementwise_rows,  logic_rows,    activation_rows, random_rows,
      shape_rows,        movement_rows, reduction_rows,  norm_rows,
      conv_rows,         matmul_rows,   pool_rows,       quant_rows,
      signal_rows,       control_rows,  contrib_rows,    contrib_attention_rows,
      contrib_quant_rows};
  Rows rows;
  for (const auto family : kFamilies)
    for (const OpRow& row : family()) rows.push_back(&row);
  return rows;
}

bool before(const OpRow& row, std::string_view domain, std::string_view name) {
  return row.name != name ? row.name < name : row.domain < domain;
}

Rows sorted_rows() {
  Rows rows = gather_rows();
  std::ranges::sort(rows,
                    [](const OpRow* a, const OpRow* b) { return before(*a, b->domain, b->name); });
  return rows;
}

}  // namespace

const OpRow* find_op(std::string_view domain, std::string_view name) {
  static const Rows kSorted = sorted_rows();
  if (domain == "ai.onnx") domain = "";
  const auto at = std::partition_point(
      kSorted.begin(), kSorted.end(), [&](const OpRow* row) { return before(*row, domain, name); });
  const bool found = at != kSorted.end() && (*at)->name == name && (*at)->domain == domain;
  return found ? *at : nullptr;
}

std::span<const OpRow* const> all_ops() {
  static const Rows kRows = gather_rows();
  return kRows;
}

}  // namespace accsim::sim
