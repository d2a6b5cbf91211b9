#include "sim/schedule/op_flow.h"

#include <algorithm>
#include <span>

#include "sim/schedule/ports.h"

namespace accsim::sim {
namespace {

int64_t element_bytes(const OpRequest& request, const OperandPort& p, const hw::HwConfig& hw) {
  if (p.side == OperandPort::Side::internal) return hw.activation_bytes();
  const auto& side = p.side == OperandPort::Side::input ? request.inputs : request.outputs;
  return side[static_cast<size_t>(p.index)].element_bytes;
}

/// The space of an op that has slices along these dims.
std::shared_ptr<const SliceSpace> slice_space(const OpRequest& request, const hw::HwConfig& hw,
                                              const InlineVector<size_t, kRowLevels>& dims) {
  SliceSpace out{*space_of(request.item), dims};
  const auto add = [&](const OperandPort& port, size_t index) {
    out.operands.push_back({port, index, element_bytes(request, port, hw)});
  };
  for (size_t i = 0; i < out.space.operands.size(); ++i) {
    const SpaceOperand& its = out.space.operands[i];
    add(its.written() ? output_port(its.port) : input_port(its.port), i);
    if (its.role == OperandRole::result && request.residual.is_of_node())
      add(input_port(request.residual), i);
  }
  return std::make_shared<const SliceSpace>(std::move(out));
}

/// The window by which a dim of results slides over an axis of what they are made of.
LaneSlide window_on(const OpSpace& space, const OperandAxis& axis) {
  LaneSlide out{.extent = axis.extent, .pad = -axis.shift};
  for (const OperandAxis::Term& t : axis.terms)
    if (space.dims[t.dim].kind == DimKind::window) {
      out.kernel = space.dims[t.dim].length;
      out.dilation = t.factor;
    } else {
      out.stride = t.factor;
    }
  return out;
}

// ---- rows ---------------------------------------------------------------------------------------

/// Is it a batch of plain products of two tensors that the network computes? A new member of GemmOp
/// doesn't compile here: it may say that rows lie or depend otherwise.
bool has_rows(const GemmOp& op, const OpRequest& r) {
  const auto& [batch, images, channels, outputs, in, out, kernel, stride, dilation, pad, grouped,
               a_shared, b_shared, a_transposed, b_transposed, a_port, b_port, bias_port,
               out_port] = op;
  static_cast<void>(batch * channels * outputs);
  static_cast<void>(b_transposed);
  static_cast<void>(bias_port);
  const Extent3 one{1, 1, 1};
  const bool plain = images == 1 && in == out && in[0] == 1 && in[1] == 1 && kernel == one &&
                     stride == one && dilation == one && pad == Extent3{0, 0, 0} && !grouped;
  const bool computed = !b_port.is_of_node() || !r.inputs[b_port.index()].place.constant;
  return plain && !a_shared && !b_shared && !a_transposed && a_port != b_port && computed;
}

/// Do the rows lie densely, in the order of their nest, and is no operand of one of them alone?
bool has_rows(const VectorOp& op) {
  if (!op.row_work || op.lane) return false;
  const RowWork& w = *op.row_work;
  int64_t next = w.run;
  for (size_t l = kRowLevels; l-- > 0;) {
    if (w.rows[l] == 1) continue;
    if (w.row_stride[l] != next) return false;
    next *= w.rows[l];
  }
  return w.pieces == 1 && w.channel_stride == RowNest{} && op.outputs.size() == (w.log ? 2 : 1);
}

/// The dims that rows are counted by, outermost first; none where the op has no rows.
InlineVector<size_t, kRowLevels> row_dims(const OpRequest& r) {
  if (const auto* gemm = std::get_if<GemmOp>(&r.item); gemm != nullptr && has_rows(*gemm, r))
    return {static_cast<size_t>(GemmDim::batch), static_cast<size_t>(GemmDim::width)};
  if (const auto* vector = std::get_if<VectorOp>(&r.item); vector != nullptr && has_rows(*vector))
    return {0, 1, 2, 3};
  return {};
}

/// The first of the equal pieces of `rows` rows of a nest of dims; nullopt where it doesn't fall
/// into them.
std::optional<SpaceBox> first_piece(const OpSpace& space, std::span<const size_t> dims,
                                    int64_t rows) {
  SpaceBox out = space.whole_box();
  for (size_t i = dims.size(); i-- > 0;) {
    DimRange& its = out[dims[i]];
    const int64_t taken = std::min(its.count, rows);
    if (its.count % taken != 0 || rows % taken != 0) return std::nullopt;
    its.count = taken;
    rows /= taken;
  }
  return rows == 1 ? std::optional(out) : std::nullopt;
}

// ---- lines --------------------------------------------------------------------------------------

/// Is it a convolution of one image with constant weights? A new member of GemmOp doesn't compile
/// here: it may say that lines lie or depend otherwise.
bool has_lines(const GemmOp& op, const OpRequest& r) {
  const auto& [batch, images, channels, outputs, in, out, kernel, stride, dilation, pad, grouped,
               a_shared, b_shared, a_transposed, b_transposed, a_port, b_port, bias_port,
               out_port] = op;
  static_cast<void>(channels * outputs);
  static_cast<void>(b_transposed || b_shared);
  static_cast<void>(stride == dilation || pad == kernel);
  static_cast<void>(bias_port == out_port);
  return (batch == 1 || grouped) && images == 1 && in[0] == 1 && out[0] == 1 && out[1] > 1 &&
         !a_shared && !a_transposed && a_port != b_port && b_port.is_of_node() &&
         r.inputs[b_port.index()].place.constant;
}

/// Does a line's operand lie between the beginnings of it and of the next one?
bool lies_in_lines(const LaneWork& w, size_t axis) {
  int64_t last = w.across - 1;
  for (size_t i = 0; i < w.axes.size(); ++i)
    if (i != axis) last += (w.axes[i].slide.extent - 1) * w.axes[i].a;
  return last < w.axes[axis].a;
}

/// The axis of lines, the outermost one, of a lane operation of int8 elements.
std::optional<size_t> line_axis(const VectorOp& op, const hw::HwConfig& hw) {
  if (!op.lane || op.row_work || op.outputs.size() != 1 || !hw.computes_int8()) return std::nullopt;
  const std::vector<LaneAxis>& axes = op.lane->axes;
  const auto found = std::ranges::find_if(axes, [](const LaneAxis& a) { return a.count > 1; });
  if (found == axes.end() || found->a <= 0 || found->turned) return std::nullopt;
  const auto axis = static_cast<size_t>(found - axes.begin());
  return lies_in_lines(*op.lane, axis) ? std::optional(axis) : std::nullopt;
}

std::optional<size_t> line_dim(const OpRequest& r, const hw::HwConfig& hw) {
  if (const auto* gemm = std::get_if<GemmOp>(&r.item))
    return has_lines(*gemm, r) ? std::optional(static_cast<size_t>(GemmDim::height)) : std::nullopt;
  if (const auto* vector = std::get_if<VectorOp>(&r.item)) return line_axis(*vector, hw);
  return std::nullopt;
}

}  // namespace

int64_t OpFlow::slices_needed(int64_t results) const {
  return std::clamp<int64_t>(window.input_coordinate(results - 1, window.kernel - 1) + 1, 0,
                             window.extent);
}

const SliceSpace::Operand& SliceSpace::operand(OperandRole role) const {
  return *std::ranges::find_if(operands, [&](const Operand& o) { return axes_of(o).role == role; });
}

int64_t PieceOperands::offset(const OperandPort& port, int64_t piece) const {
  const auto found = std::ranges::find(ports, port, &Port::port);
  if (found == ports.end()) return 0;
  int64_t out = found->first;
  for (size_t l = found->levels.size(); l-- > 0;) {
    const auto& [count, stride] = found->levels[l];
    out += piece % count * stride;
    piece /= count;
  }
  return out;
}

std::optional<OpFlow> row_flow(const OpRequest& request, const hw::HwConfig& hw) {
  const auto dims = row_dims(request);
  if (dims.empty()) return std::nullopt;
  const auto slices = slice_space(request, hw, dims);
  const SliceSpace::Operand &a = slices->operand(OperandRole::a),
                            &result = slices->operand(OperandRole::result);
  OpFlow out{.in = a.port, .out = result.port, .count = 1, .slices = slices};
  SpaceBox row = slices->space.whole_box();
  for (const size_t d : dims) {
    out.count *= row[d].count;
    row[d].count = 1;
  }
  const auto row_bytes = [&](const SliceSpace::Operand& of) {
    const SpaceOperand& operand = slices->axes_of(of);
    return elements_spanned(operand, region(slices->space, operand, row)) * of.element_bytes;
  };
  out.window.extent = out.count;
  out.in_bytes = row_bytes(a);
  out.out_bytes = row_bytes(result);
  if (const auto* gemm = std::get_if<GemmOp>(&request.item)) out.batch = gemm->batch;
  return out;
}

std::optional<OpFlow> line_flow(const OpRequest& request, const hw::HwConfig& hw) {
  const auto dim = line_dim(request, hw);
  if (!dim) return std::nullopt;
  const auto slices = slice_space(request, hw, {*dim});
  const SliceSpace::Operand &a = slices->operand(OperandRole::a),
                            &result = slices->operand(OperandRole::result);
  const bool lanes = std::holds_alternative<VectorOp>(request.item);
  if (lanes && (a.element_bytes != 1 || result.element_bytes != 1)) return std::nullopt;
  const std::vector<OperandAxis>& axes = slices->axes_of(a).axes;
  const OperandAxis& axis = axes[axes.size() - *slices->axes_of(a).axis_from_back(*dim)];
  return OpFlow{.in = a.port,
                .out = result.port,
                .count = slices->space.dims[*dim].length,
                .window = window_on(slices->space, axis),
                .in_bytes = axis.stride * a.element_bytes,
                .out_bytes = slices->axes_of(result).stride_along(*dim) * result.element_bytes,
                .slices = slices};
}

OpPieces piece_of_lines(const WorkItem& item, const OpFlow& flow, int64_t first, int64_t count) {
  const SliceSpace& slices = *flow.slices;
  SpaceBox box = slices.space.whole_box();
  box[slices.dims[0]] = {first, count};
  SpaceTile part = *tile(item, slices.space, box);
  OpPieces out{std::move(part.item)};
  for (const auto& [port, index, bytes] : slices.operands)
    out.operands.ports.push_back(
        {port, first_element(slices.space.operands[index], part.regions[index]) * bytes});
  return out;
}

std::optional<OpPieces> pieces_of_rows(const WorkItem& item, const OpFlow& flow, int64_t count) {
  if (count < 1 || flow.count % count != 0) return std::nullopt;
  const SliceSpace& slices = *flow.slices;
  const auto box = first_piece(slices.space, slices.dims, flow.count / count);
  if (!box) return std::nullopt;
  auto part = tile(item, slices.space, *box);
  if (!part) return std::nullopt;
  OpPieces out{std::move(part->item)};
  for (const auto& [port, index, bytes] : slices.operands) {
    PieceOperands::Port its{port, 0};
    for (const size_t d : slices.dims) {
      const int64_t rows = (*box)[d].count;
      const int64_t stride = rows * slices.space.operands[index].stride_along(d) * bytes;
      its.levels.push_back({slices.space.dims[d].length / rows, stride});
    }
    out.operands.ports.push_back(its);
  }
  return out;
}

void move_rows(OpRequest& request, const OpFlow& flow, bool written, hw::MemoryId to) {
  auto& side = written ? request.outputs : request.inputs;
  const auto& [port, index, element_bytes] =
      flow.slices->operand(written ? OperandRole::result : OperandRole::a);
  if (port.side != OperandPort::Side::internal) {
    side[static_cast<size_t>(port.index)].place.memory = to;
    return;
  }
  const auto added = static_cast<int>(side.size());
  side.push_back({{"(internal)", to, false, port}, element_bytes});
  if (auto* gemm = std::get_if<GemmOp>(&request.item)) {
    (written ? gemm->out_port : gemm->a_port) = added;
    return;
  }
  auto& op = std::get<VectorOp>(request.item);
  (written ? op.row_work->out_port : op.row_work->in_port) = added;
  for (Access& a : written ? op.outputs : op.inputs)
    if (input_port(a.port) == port) a.port = added;
}

}  // namespace accsim::sim
