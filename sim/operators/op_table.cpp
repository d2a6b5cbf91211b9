#include "sim/operators/op_table.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace accsim::sim {
namespace {

using Rows = std::vector<const OpRow*>;

Rows gather_rows() {
  constexpr std::array kFamilies = {elementwise_rows,
                                    logic_rows,
                                    activation_rows,
                                    random_rows,
                                    shape_rows,
                                    movement_rows,
                                    reduction_rows,
                                    norm_rows,
                                    conv_rows,
                                    matmul_rows,
                                    pool_rows,
                                    quant_rows,
                                    trained_quant_rows,
                                    signal_rows,
                                    control_rows,
                                    contrib_rows,
                                    contrib_attention_rows,
                                    contrib_quant_rows,
                                    spelled_rows};
  Rows rows;
  for (const auto family : kFamilies)
    for (const OpRow& row : family()) rows.push_back(&row);
  return rows;
}

/// By name; some names are of several domains.
std::unordered_multimap<std::string_view, const OpRow*> rows_by_name() {
  std::unordered_multimap<std::string_view, const OpRow*> out;
  for (const OpRow* row : gather_rows()) out.emplace(row->name, row);
  return out;
}

}  // namespace

const OpRow* find_op(std::string_view domain, std::string_view name) {
  static const auto kRows = rows_by_name();
  if (domain == "ai.onnx") domain = "";
  const auto [first, last] = kRows.equal_range(name);
  const auto at =
      std::find_if(first, last, [&](const auto& row) { return row.second->domain == domain; });
  return at != last ? at->second : nullptr;
}

std::span<const OpRow* const> all_ops() {
  static const Rows kRows = gather_rows();
  return kRows;
}

}  // namespace accsim::sim
