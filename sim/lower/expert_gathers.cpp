#include "sim/lower/expert_gathers.h"

#include <algorithm>
#include <vector>

#include "sim/lower/product_operands.h"
#include "sim/operators/expert_groups.h"
#include "sim/operators/names.h"
#include "sim/operators/op_table.h"

namespace accsim::sim {
namespace {

class ExpertGathers : ProductOperands {
 public:
  using ProductOperands::ProductOperands;

  void merge_gather(Layer& l) {
    GemmOp* gemm = product_of_matrices(l);
    if (!gemm) return;
    const size_t port = gemm->b_port.index();
    const auto picked = source_of(l.inputs[port], picks_matrices);
    if (!picked || matrix_count(l.inputs[port]) != gemm->batch) return;
    const std::vector<ExpertRows> groups = row_groups(picked->nodes.back(), *gemm);
    if (groups.empty()) return;
    gemm->b_transposed = gemm->b_transposed != picked->turned;
    l.inputs[port] = picked->of;
    split_product(l, groups);
    show_as_views(picked->nodes);
  }

 private:
  /// A Gather of constant matrices along their first axis.
  static bool picks_matrices(const NodeView& node) {
    return node.node().op_type == op::kGather && node.node().domain.empty() &&
           node.attr("axis", int64_t{0}) == 0 && node.rank(0) == 3 && node.input(0).constant &&
           !node.input(1).constant;
  }

  /// How many of the product's matrices are one and the same.
  std::vector<ExpertRows> row_groups(NodeId gather, const GemmOp& gemm) const {
    const NodeView view = view_of(gather);
    const int64_t all = view.dims(0)[0];
    if (const ConstData* indices = view.value(1)) {
      std::vector<int64_t> rows(static_cast<size_t>(all), 0);
      for (const int64_t i : indices->integers()) {
        if (i < -all || i >= all) return {};
        ++rows[static_cast<size_t>(i < 0 ? i + all : i)];
      }
      return groups_of_rows(rows);
    }
    const ExpertChoice choice = choice_behind(graph(), view.node().inputs[1], all);
    const int64_t used = view.noted_size(kExpertsAtWork).value_or(usual_experts(all, choice));
    return even_groups(gemm.batch, std::min(used, all));
  }

  /// Products of the rows that go to one matrix, each with its own one. Rows that all matrices
  /// share stay as they are.
  static void split_product(Layer& l, const std::vector<ExpertRows>& groups) {
    const GemmOp whole = std::get<GemmOp>(l.work.front());
    if (groups.size() == 1 && groups[0].rows == 1) return;
    if (whole.a_shared) return;
    l.work.clear();
    for (const ExpertRows& group : groups) {
      GemmOp part = whole;
      part.batch = group.experts;
      part.in[2] = part.out[2] = whole.m() * group.rows;
      l.work.emplace_back(part);
    }
  }
};

}  // namespace

void merge_expert_gathers(const Graph& graph, Lowered& lowered) {
  ExpertGathers gathers(graph, lowered);
  for (Layer& l : lowered.layers) gathers.merge_gather(l);
}

}  // namespace accsim::sim
