#include "sim/lower/product_layout.h"

#include <algorithm>
#include <numeric>

namespace accsim::sim {
namespace {

struct LeftOperand {
  const Dims& dims;
  const Layout& layout;
  size_t k;  ///< the dim that is summed over
};

DimOrder natural_order(size_t rank) {
  DimOrder order(rank);
  std::iota(order.begin(), order.end(), size_t{0});
  return order;
}

/// Matrices one behind the other, dim `outer` around dim `inner`.
Layout matrix_layout(const Dims& dims, size_t outer, size_t inner) {
  DimOrder order = natural_order(dims.size());
  order[dims.size() - 2] = outer;
  order[dims.size() - 1] = inner;
  return layout_in_order(dims, order);
}

/// Of matrices one behind the other: the layout nearest to theirs that has them in order, and
/// whether it has the last two dims in the other order.
std::pair<Layout, bool> either_way(const Dims& dims, const Layout& layout) {
  const size_t last = dims.size() - 1;
  const Layout as_is = row_major_layout(dims), turned = matrix_layout(dims, last, last - 1);
  if (layout == as_is) return {as_is, false};
  if (layout == turned) return {turned, true};
  const auto pieces = pieces_of(layout, dims);
  const bool turns = pieces && !pieces->empty() && pieces->back().dim == last - 1;
  return turns ? std::pair(turned, true) : std::pair(as_is, false);
}

/// Do these pieces go through their dims as the dims stand?
bool in_order(const std::vector<DimPiece>& pieces, const Dims& dims) {
  const Layout as_it_lies = layout_of(pieces, dims);
  std::vector<DimPiece> sorted = pieces;
  std::ranges::sort(sorted, [](const DimPiece& a, const DimPiece& b) {
    return a.dim != b.dim ? a.dim < b.dim : a.step > b.step;
  });
  return layout_of(sorted, dims) == as_it_lies;
}

/// Rows of A that all multiply one B.
class Rows {
 public:
  Rows(const LeftOperand& a, const Dims& out, bool any_k, bool any_rows)
      : a_(a), out_(out), any_k_(any_k), any_rows_(any_rows) {}

  /// Sets layout and turn of A, and the layout of the result.
  void lay_out(ProductLayouts& p) const {
    p.a = a_.layout;
    const auto pieces = pieces_of(a_.layout, a_.dims);
    if (!pieces || !lies_as_rows(*pieces, p.a_transposed)) {
      p.a_transposed = false;
      const size_t k[] = {a_.k};
      const auto moved = any_rows_ ? with_innermost(a_.layout, a_.dims, k) : std::nullopt;
      p.a = moved ? *moved : k_innermost();
    }
    p.out = row_major_layout(out_);
    if (any_rows_) p.out = result_layout(p.a);
  }

 private:
  bool is_k(const DimPiece& p) const { return p.dim == a_.k; }

  Layout k_innermost() const {
    DimOrder order = natural_order(a_.dims.size());
    order.erase(order.begin() + static_cast<ptrdiff_t>(a_.k));
    order.push_back(a_.k);
    return layout_in_order(a_.dims, order);
  }

  /// A block of rows with K on one side, each in an order that will do.
  bool lies_as_rows(const std::vector<DimPiece>& pieces, bool& turned) const {
    std::vector<DimPiece> k, rows;
    for (const DimPiece& p : pieces) (is_k(p) ? k : rows).push_back(p);
    const auto of_k = [&](const DimPiece& p) { return is_k(p); };
    const bool inside = std::ranges::is_partitioned(pieces.rbegin(), pieces.rend(), of_k);
    const bool outside = std::ranges::is_partitioned(pieces, of_k);
    turned = !inside;
    return (inside || outside) && (any_k_ || in_order(k, a_.dims)) &&
           (any_rows_ || in_order(rows, a_.dims));
  }

  Layout result_layout(const Layout& a) const {
    std::vector<DimPiece> rows = *pieces_of(a, a_.dims);
    std::erase_if(rows, [&](const DimPiece& p) { return is_k(p); });
    rows.push_back({out_.size() - 1, 1, out_.back()});
    return layout_of(rows, out_);
  }

  const LeftOperand& a_;
  const Dims& out_;
  const bool any_k_, any_rows_;
};

bool all_ones(const Dims& dims) {
  return std::all_of(dims.begin(), dims.end() - 2, [](int64_t d) { return d == 1; });
}

}  // namespace

ProductLayouts product_layouts(const Graph& graph, const Layer& layer, const GemmOp& gemm,
                               const std::vector<Layout>& layouts) {
  const TensorId a_id = layer.inputs[gemm.a_port.index()], b_id = layer.inputs[gemm.b_port.index()];
  const Tensor &a = graph.tensor(a_id), &b = graph.tensor(b_id);
  const Dims& out = graph.tensor(layer.outputs[0]).dims;
  ProductLayouts p{row_major_layout(a.dims), row_major_layout(b.dims), gemm.a_transposed,
                   gemm.b_transposed, row_major_layout(out)};
  const size_t rank = a.dims.size(), b_rank = b.dims.size();
  if (rank < 2 || b_rank < 2) return p;
  if (!b.constant) {
    const auto [lies, turned] = either_way(b.dims, layouts[static_cast<size_t>(b_id)]);
    p.b = lies;
    p.b_transposed = gemm.b_transposed != turned;
  }
  const size_t k = rank - (gemm.a_transposed ? 2 : 1);
  const LeftOperand left{a.dims, layouts[static_cast<size_t>(a_id)], k};
  if (gemm.batch == 1 && gemm.m() * gemm.k() == elements(a.dims)) {
    Dims rows = a.dims;
    rows.back() = out.empty() ? 0 : out.back();
    const bool any_rows = layer.work.size() == 1 && k == rank - 1 && rows == out;
    Rows(left, out, b.constant, any_rows).lay_out(p);
  } else if (all_ones(a.dims) ||
             Dims(a.dims.begin(), a.dims.end() - 2) == Dims(b.dims.begin(), b.dims.end() - 2)) {
    const auto [lies, turned] = either_way(a.dims, left.layout);
    p.a = lies;
    p.a_transposed = gemm.a_transposed != turned;
  }
  return p;
}

}  // namespace accsim::sim
