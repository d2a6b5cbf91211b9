#include "sim/work/op_space.h"

#include <algorithm>

namespace accsim::sim {
namespace {

using Term = OperandAxis::Term;

constexpr size_t dim_of(GemmDim d) { return static_cast<size_t>(d); }
/// The dim of the three spatial ones of a result, or of a window's taps.
constexpr size_t spatial_dim(size_t i) { return dim_of(GemmDim::depth) + i; }
constexpr size_t tap_dim(size_t i) { return dim_of(GemmDim::taps) + i; }

/// Adds axes of an operand, innermost first, each behind what stands inside of it.
class DenseAxes {
 public:
  explicit DenseAxes(SpaceOperand& operand) : operand_(operand) {
    operand.dense = true;
    operand.axes.reserve(kMostOperandAxes);
  }

  void add_axis(int64_t extent, std::initializer_list<Term> terms, int64_t shift = 0) {
    operand_.axes.push_back({.stride = next_, .extent = extent, .terms = terms, .shift = shift});
    next_ *= extent;
  }
  /// Channels or outputs of a product; where its batch is groups, those of all groups.
  void add_channels(const GemmOp& op, GemmDim dim, int64_t count) {
    if (op.grouped)
      add_axis(op.batch * count, {{dim_of(GemmDim::batch), count}, {dim_of(dim), 1}});
    else
      add_axis(count, {{dim_of(dim), 1}});
  }
  /// Outermost first, as operands have them.
  void finish_axes() { std::reverse(operand_.axes.begin(), operand_.axes.end()); }

 private:
  SpaceOperand& operand_;
  int64_t next_ = 1;
};

// ---- products -----------------------------------------------------------------------------------

SpaceOperand activations(const GemmOp& op) {
  SpaceOperand out{.role = OperandRole::a, .port = op.a_port};
  DenseAxes axes(out);
  const auto channels = [&] { axes.add_channels(op, GemmDim::channel, op.channels); };
  if (!op.a_transposed) channels();
  for (size_t i = 3; i-- > 0;)
    axes.add_axis(op.in[i], {{spatial_dim(i), op.stride[i]}, {tap_dim(i), op.dilation[i]}},
                  -op.pad[i]);
  axes.add_axis(op.images, {{dim_of(GemmDim::image), 1}});
  if (op.a_transposed) channels();
  if (!op.grouped && !op.a_shared) axes.add_axis(op.batch, {{dim_of(GemmDim::batch), 1}});
  axes.finish_axes();
  return out;
}

SpaceOperand weights(const GemmOp& op) {
  SpaceOperand out{.role = OperandRole::b, .port = op.b_port};
  DenseAxes axes(out);
  const auto columns = [&] { axes.add_axis(op.outputs, {{dim_of(GemmDim::output), 1}}); };
  if (!op.b_transposed) columns();
  axes.add_axis(op.channels, {{dim_of(GemmDim::channel), 1}});
  for (size_t i = 3; i-- > 0;) axes.add_axis(op.kernel[i], {{tap_dim(i), 1}});
  if (op.b_transposed) columns();
  if (!op.b_shared) axes.add_axis(op.batch, {{dim_of(GemmDim::batch), 1}});
  axes.finish_axes();
  return out;
}

SpaceOperand results(const GemmOp& op) {
  SpaceOperand out{.role = OperandRole::result, .port = op.out_port};
  DenseAxes axes(out);
  axes.add_channels(op, GemmDim::output, op.outputs);
  for (size_t i = 3; i-- > 0;) axes.add_axis(op.out[i], {{spatial_dim(i), 1}});
  axes.add_axis(op.images, {{dim_of(GemmDim::image), 1}});
  if (!op.grouped) axes.add_axis(op.batch, {{dim_of(GemmDim::batch), 1}});
  axes.finish_axes();
  return out;
}

OpSpace space_of_gemm(const GemmOp& op) {
  OpSpace out;
  for (const int64_t n : {op.batch, op.images, op.out[0], op.out[1], op.out[2], op.outputs})
    out.dims.push_back({DimKind::parallel, n});
  out.dims.push_back({DimKind::reduction, op.channels});
  for (const int64_t n : op.kernel) out.dims.push_back({DimKind::window, n});
  out.operands.reserve(3);
  out.operands.push_back(activations(op));
  out.operands.push_back(weights(op));
  out.operands.push_back(results(op));
  return out;
}

/// An operand without strides is one piece: whole axes inside of the one that is cut, and one
/// coordinate of those outside.
bool is_one_piece(const SpaceOperand& operand, const Region& part) {
  bool whole = true;
  for (size_t i = operand.axes.size(); i-- > 0;) {
    if (!whole && part[i].count > 1) return false;
    whole = whole && part[i] == DimRange{0, operand.axes[i].extent};
  }
  return true;
}

GemmOp tile_gemm(GemmOp op, const Region& in, const SpaceBox& box) {
  op.batch = box[dim_of(GemmDim::batch)].count;
  op.images = box[dim_of(GemmDim::image)].count;
  op.outputs = box[dim_of(GemmDim::output)].count;
  op.channels = box[dim_of(GemmDim::channel)].count;
  // The spatial axes stand before the channels, or behind those of a transposed operand.
  const size_t first = in.size() - (op.a_transposed ? 3 : 4);
  for (size_t i = 0; i < 3; ++i) {
    const DimRange& its = box[spatial_dim(i)];
    if (its == DimRange{0, op.out[i]}) continue;
    op.out[i] = its.count;
    op.pad[i] = in[first + i].first - (its.first * op.stride[i] - op.pad[i]);
    op.in[i] = in[first + i].count;
  }
  return op;
}

// ---- rows ---------------------------------------------------------------------------------------

constexpr size_t kPieceDim = kRowLevels, kRunDim = kRowLevels + 1;

void add_axis(SpaceOperand& operand, int64_t stride, int64_t extent, size_t dim) {
  operand.axes.push_back({.stride = stride, .extent = extent, .terms = {{dim, 1}}});
}

OpSpace space_of_rows(const RowWork& w) {
  OpSpace out;
  for (const int64_t n : w.rows) out.dims.push_back({DimKind::parallel, n});
  out.dims.push_back({DimKind::reduction, w.pieces});
  out.dims.push_back({DimKind::reduction, w.run});
  const auto add = [&](OperandRole role, ValuePort port, const RowNest& strides) -> SpaceOperand& {
    SpaceOperand its{.role = role, .port = port};
    for (size_t l = 0; l < kRowLevels; ++l) add_axis(its, strides[l], w.rows[l], l);
    out.operands.push_back(its);
    return out.operands.back();
  };
  const auto add_row = [&](SpaceOperand& its, int64_t piece_stride) {
    add_axis(its, piece_stride, w.pieces, kPieceDim);
    add_axis(its, 1, w.run, kRunDim);
  };
  add_row(add(OperandRole::a, w.in_port, w.row_stride), w.piece_stride);
  add_row(add(OperandRole::result, w.out_port, w.row_stride), w.piece_stride);
  if (w.mask)
    add_row(add(OperandRole::mask, w.mask->port, w.mask->row_stride), w.mask->piece_stride);
  if (w.log) add(OperandRole::log, w.log->port, w.log->row_stride);
  return out;
}

bool divide(int64_t& count, int64_t parts) {
  const bool even = count % parts == 0;
  count /= parts;
  return even;
}

/// `mask`: elements that the addend's region spans.
std::optional<WorkItem> tile_rows(VectorOp op, int64_t mask, const SpaceBox& box) {
  RowWork& w = *op.row_work;
  const int64_t all = w.row_count();
  for (size_t l = 0; l < kRowLevels; ++l) w.rows[l] = box[l].count;
  if (all % w.row_count() != 0) return std::nullopt;
  const int64_t parts = all / w.row_count();
  bool even = true;
  for (int64_t& n : op.ops) even = divide(n, parts) && even;
  for (Access& a : op.outputs) even = divide(a.elements, parts) && even;
  for (Access& a : op.inputs)
    if (a.port == w.in_port) {
      even = divide(a.elements, parts) && even;
    } else if (w.mask && a.port == w.mask->port) {
      w.mask->elements = mask;
      a.elements = std::min(a.elements, mask);
    } else {
      return std::nullopt;
    }
  return even ? std::optional<WorkItem>(std::move(op)) : std::nullopt;
}

// ---- lane operations ----------------------------------------------------------------------------

OpSpace space_of_lanes(const LaneWork& w, ValuePort out_port) {
  OpSpace out;
  const size_t n = w.axes.size();
  for (const LaneAxis& axis : w.axes) out.dims.push_back({DimKind::parallel, axis.count});
  out.dims.push_back({DimKind::reduction, w.across});
  for (const LaneAxis& axis : w.axes) out.dims.push_back({DimKind::window, axis.slide.kernel});
  SpaceOperand a{.role = OperandRole::a, .port = w.a_port};
  SpaceOperand b{.role = OperandRole::b, .port = w.b_port};
  for (size_t i = 0; i < n; ++i) {
    const LaneSlide& s = w.axes[i].slide;
    a.axes.push_back({.stride = w.axes[i].a,
                      .extent = s.extent,
                      .terms = {{i, s.stride}, {n + 1 + i, s.dilation}},
                      .shift = -s.pad});
    add_axis(b, w.axes[i].b, w.axes[i].count, i);
  }
  if (w.across > 1) add_axis(a, 1, w.across, n);
  SpaceOperand result{.role = OperandRole::result, .port = out_port};
  DenseAxes axes(result);
  for (size_t i = n; i-- > 0;) axes.add_axis(w.axes[i].count, {{i, 1}});
  axes.finish_axes();
  out.operands.push_back(std::move(a));
  if (w.has_b()) out.operands.push_back(std::move(b));
  out.operands.push_back(std::move(result));
  return out;
}

/// The window of an interval of results on the coordinates that they are made of. Of what a mean
/// counts, all that the windows cover: then equal pieces are equal.
LaneSlide tile_slide(const LaneSlide& w, const DimRange& results, const DimRange& made_of) {
  LaneSlide out = w;
  const int64_t begin = w.input_coordinate(results.first, 0);
  const int64_t covered = w.input_coordinate(results.end() - 1, w.kernel - 1) + 1;
  out.extent = made_of.count;
  out.pad = made_of.first - begin;
  out.counted_from = std::max(w.counted_from, begin) - made_of.first;
  out.counted_to = std::min(w.counted_to, covered) - made_of.first;
  return out;
}

std::optional<WorkItem> tile_lanes(VectorOp op, const Region& in, const SpaceBox& box) {
  LaneWork& w = *op.lane;
  int64_t points = 1, all = 1;
  for (size_t i = 0; i < w.axes.size(); ++i) {
    LaneAxis& axis = w.axes[i];
    all *= axis.count;
    points *= box[i].count;
    if (box[i] == DimRange{0, axis.count}) continue;
    if (axis.turned) return std::nullopt;
    axis.count = box[i].count;
    axis.slide = tile_slide(axis.slide, box[i], in[i]);
  }
  // They only count where the op is streamed, not computed by lane commands: rounded up.
  const auto share = [&](int64_t& n) { n = ceil_div(n * points, all); };
  for (int64_t& n : op.ops) share(n);
  for (auto* side : {&op.inputs, &op.outputs})
    for (Access& access : *side) share(access.elements);
  return op;
}

bool is_whole(const OpSpace& space, const OperandAxis& axis, const SpaceBox& box) {
  return std::all_of(axis.terms.begin(), axis.terms.end(), [&](const Term& t) {
    return box[t.dim] == DimRange{0, space.dims[t.dim].length};
  });
}

}  // namespace

int64_t SpaceOperand::stride_along(size_t dim) const {
  int64_t out = 0;
  for (const OperandAxis& axis : axes)
    for (const Term& term : axis.terms)
      if (term.dim == dim) out += axis.stride * term.factor;
  return out;
}

std::optional<size_t> SpaceOperand::axis_from_back(size_t dim) const {
  const auto leads = [dim](const OperandAxis& axis) {
    return std::ranges::find(axis.terms, dim, &Term::dim) != axis.terms.end();
  };
  const auto found = std::ranges::find_if(axes, leads);
  return found == axes.end() ? std::nullopt : std::optional<size_t>(axes.end() - found);
}

SpaceBox OpSpace::whole_box() const {
  SpaceBox out;
  for (const SpaceDim& dim : dims) out.push_back({0, dim.length});
  return out;
}

const SpaceOperand* OpSpace::operand(OperandRole role) const {
  const auto found = std::ranges::find(operands, role, &SpaceOperand::role);
  return found == operands.end() ? nullptr : &*found;
}

std::optional<OpSpace> space_of(const WorkItem& item) {
  if (const auto* gemm = std::get_if<GemmOp>(&item)) return space_of_gemm(*gemm);
  const auto* vector = std::get_if<VectorOp>(&item);
  if (vector == nullptr || vector->outputs.empty()) return std::nullopt;
  if (vector->row_work) return space_of_rows(*vector->row_work);
  if (vector->lane) return space_of_lanes(*vector->lane, vector->outputs[0].port);
  return std::nullopt;
}

Region region(const OpSpace& space, const SpaceOperand& operand, const SpaceBox& box) {
  Region out;
  for (const OperandAxis& axis : operand.axes) {
    if (is_whole(space, axis, box)) {
      out.push_back({0, axis.extent});
      continue;
    }
    int64_t low = axis.shift, high = axis.shift;
    for (const Term& t : axis.terms) {
      const int64_t from = t.factor * box[t.dim].first, to = t.factor * (box[t.dim].end() - 1);
      low += std::min(from, to);
      high += std::max(from, to);
    }
    low = std::max<int64_t>(0, low);
    high = std::min(axis.extent, high + 1);
    out.push_back(low < high ? DimRange{low, high - low} : DimRange{0, 0});
  }
  return out;
}

int64_t first_element(const SpaceOperand& operand, const Region& region) {
  int64_t out = 0;
  for (size_t i = 0; i < region.size(); ++i) out += region[i].first * operand.axes[i].stride;
  return out;
}

int64_t elements_spanned(const SpaceOperand& operand, const Region& region) {
  int64_t out = 1;
  for (size_t i = 0; i < region.size(); ++i) out += (region[i].count - 1) * operand.axes[i].stride;
  return out;
}

std::optional<SpaceTile> tile(const WorkItem& item, const OpSpace& space, const SpaceBox& box) {
  for (size_t d = 0; d < box.size(); ++d)
    if (space.dims[d].kind != DimKind::parallel && box[d] != DimRange{0, space.dims[d].length})
      return std::nullopt;
  SpaceTile out;
  int64_t mask = 0;
  for (const SpaceOperand& operand : space.operands) {
    out.regions.push_back(region(space, operand, box));
    const Region& its = out.regions.back();
    if (operand.dense && !is_one_piece(operand, its)) return std::nullopt;
    if (operand.role == OperandRole::mask) mask = elements_spanned(operand, its);
  }
  const Region& in = out.regions[0];
  if (const auto* gemm = std::get_if<GemmOp>(&item)) {
    out.item = tile_gemm(*gemm, in, box);
    return out;
  }
  const auto& vector = std::get<VectorOp>(item);
  auto part = vector.row_work ? tile_rows(vector, mask, box) : tile_lanes(vector, in, box);
  if (!part) return std::nullopt;
  out.item = std::move(*part);
  return out;
}

GemmOp product_on(const GemmOp& op, const OpSpace& space, const SpaceBox& box) {
  GemmOp out = tile_gemm(op, region(space, *space.operand(OperandRole::a), box), box);
  for (int64_t& extent : out.in) extent = std::max<int64_t>(extent, 1);
  return out;
}

}  // namespace accsim::sim
