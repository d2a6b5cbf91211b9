#include "sim/lower/pixel_layouts.h"

#include "sim/operators/op_table.h"

namespace accsim::sim {
namespace {

/// A convolution that makes of each pixel one takes them in any order.
bool lay_pointwise(OperandWants& o) {
  const GemmOp* g = o.gemm();
  constexpr Extent3 kOne{1, 1, 1};
  if (!g || o.layer().work.size() != 1 || g->kernel != kOne || g->stride != kOne || g->in != g->out)
    return false;
  const Dims &from = o.dims(o.tensor_at(g->a_port)), &to = o.out_dims();
  if (from.size() < 3 || from.size() != to.size()) return false;
  Dims as_out = from;
  as_out[1] = to[1];
  const size_t channels[] = {1};
  if (as_out != to ||
      with_innermost(o.layout_at(g->a_port), from, channels) != o.layout_at(g->a_port))
    return false;
  std::vector<DimPiece> pieces = *pieces_of(o.layout_at(g->a_port), from);
  std::erase_if(pieces, [](const DimPiece& p) { return p.dim == 1; });
  pieces.push_back({1, 1, to[1]});
  o.want_layout(g->a_port, o.layout_at(g->a_port));
  o.found().outs[0] = layout_of(pieces, to);
  return true;
}

}  // namespace

void lay_pixels(OperandWants& o, bool only_first) {
  if (!o.has_result() || lay_pointwise(o)) return;
  const size_t rank = o.dims(o.tensor_at(o.ports()[0])).size();
  if (rank >= 3) o.found().order = channels_last_order(rank);
  for (const ValuePort p : o.ports()) {
    const bool weights = o.gemm() && (p == o.gemm()->b_port || p == o.gemm()->bias_port);
    if (!weights && (!only_first || p == o.ports()[0]))
      o.want_layout(p, channels_last_layout(o.dims(o.tensor_at(p))));
  }
  for (size_t i = 0; i < o.found().outs.size(); ++i)
    if (o.layer().outputs[i] != kNoTensor)
      o.found().outs[i] = channels_last_layout(o.dims(o.layer().outputs[i]));
}

bool lay_planes(OperandWants& o) {
  const OpRow* row = find_op(o.node().node());
  if (!row || !row->rows || !o.has_result() || o.layer().outputs != o.node().node().outputs)
    return false;
  const auto meaning = row->rows(o.node());
  const Dims& d = o.out_dims();
  if (!meaning || d.size() < 3 || o.dims(o.tensor_at(o.ports()[0])) != d) return false;
  int64_t channels = 1;
  bool keeps_channels = false;
  for (const RowAxis& a : meaning->axes) {
    if (a.channel && a.reduced) channels *= a.count;
    keeps_channels = keeps_channels || (a.channel && !a.reduced && a.count > 1);
  }
  if (!keeps_channels || elements(d, 2, d.size()) <= channels) return false;
  std::vector<size_t> pixel_dims;
  for (size_t dim = 2; dim < d.size(); ++dim) pixel_dims.push_back(dim);
  o.want_rows(pixel_dims);
  return !o.found().wants.empty();
}

}  // namespace accsim::sim
