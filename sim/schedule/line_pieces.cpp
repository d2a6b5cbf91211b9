#include "sim/schedule/line_pieces.h"

#include <algorithm>

#include "sim/schedule/ports.h"

namespace accsim::sim {
namespace {

int64_t port_element_bytes(const OpRequest& r, const OperandPort& p, const hw::HwConfig& hw) {
  if (p.side == OperandPort::Side::internal) return hw.activation_bytes();
  const auto& side = p.side == OperandPort::Side::input ? r.inputs : r.outputs;
  return side[static_cast<size_t>(p.index)].element_bytes;
}

/// The window of lines `first` .. `first` + `count` - 1 of the result on the lines that they are
/// made of, of which the first is line `from` of all.
struct WindowCut {
  int64_t from = 0;
  LaneSlide window;
};
WindowCut cut_window(const LaneSlide& w, int64_t first, int64_t count) {
  const int64_t begin = w.input_coordinate(first, 0);
  WindowCut out{std::max<int64_t>(0, begin), w};
  const int64_t end = std::min(w.extent, w.input_coordinate(first + count - 1, w.kernel - 1) + 1);
  out.window.extent = end - out.from;
  out.window.pad = out.from - begin;
  // Of what a mean counts, all that the windows cover: then equal pieces are equal.
  const int64_t covered = w.input_coordinate(first + count - 1, w.kernel - 1) + 1;
  out.window.counted_from = std::max(w.counted_from, begin) - out.from;
  out.window.counted_to = std::min(w.counted_to, covered) - out.from;
  return out;
}

// ---- products -----------------------------------------------------------------------------------

LaneSlide window_of(const GemmOp& op) {
  return {.extent = op.in[1],
          .kernel = op.kernel[1],
          .stride = op.stride[1],
          .dilation = op.dilation[1],
          .pad = op.pad[1]};
}

/// Is it a convolution of one image with constant weights? A new member of GemmOp doesn't compile
/// here: it may say that lines lie or depend otherwise.
bool has_lines(const GemmOp& op, const OpRequest& r) {
  const auto& [batch, images, channels, outputs, in, out, kernel, stride, dilation, pad, grouped,
               a_shared, b_shared, a_transposed, b_transposed, a_port, b_port, bias_port,
               out_port] = op;
  static_cast<void>(channels * outputs);
  static_cast<void>(b_transposed || b_shared);
  static_cast<void>(stride == dilation || pad == kernel);
  static_cast<void>(bias_port + out_port);
  return (batch == 1 || grouped) && images == 1 && in[0] == 1 && out[0] == 1 && out[1] > 1 &&
         !a_shared && !a_transposed && a_port != b_port && b_port >= 0 &&
         r.inputs[static_cast<size_t>(b_port)].place.constant;
}

std::optional<LineFlow> flow_of(const GemmOp& op, const OpRequest& r, const hw::HwConfig& hw) {
  if (!has_lines(op, r)) return std::nullopt;
  LineFlow f{.in = input_port(op.a_port), .out = output_port(op.out_port)};
  f.lines = op.out[1];
  f.window = window_of(op);
  const int64_t groups = op.grouped ? op.batch : 1;
  f.in_line = op.in[2] * groups * op.channels * port_element_bytes(r, f.in, hw);
  f.out_line = op.out[2] * groups * op.outputs * port_element_bytes(r, f.out, hw);
  return f;
}

void cut_op(GemmOp& op, const WindowCut& cut, int64_t count) {
  op.in[1] = cut.window.extent;
  op.pad[1] = cut.window.pad;
  op.out[1] = count;
}

// ---- lane operations ----------------------------------------------------------------------------

/// The axis of lines: the outermost one.
std::optional<size_t> line_axis(const LaneWork& w) {
  for (size_t i = 0; i < w.axes.size(); ++i)
    if (w.axes[i].count > 1)
      return w.axes[i].a > 0 && !w.axes[i].turned ? std::optional(i) : std::nullopt;
  return std::nullopt;
}

/// Does a line's operand lie between the beginnings of it and of the next one?
bool lies_in_lines(const LaneWork& w, size_t axis) {
  int64_t last = w.across - 1;
  for (size_t i = 0; i < w.axes.size(); ++i)
    if (i != axis) last += (w.axes[i].slide.extent - 1) * w.axes[i].a;
  return last < w.axes[axis].a;
}

int64_t results_of_line(const LaneWork& w, size_t axis) {
  int64_t out = 1;
  for (size_t i = axis + 1; i < w.axes.size(); ++i) out *= w.axes[i].count;
  return out;
}

std::optional<LineFlow> flow_of(const VectorOp& op, const OpRequest& r, const hw::HwConfig& hw) {
  if (!op.lane || op.row_work || op.outputs.size() != 1 || hw.types.activation != DType::int8)
    return std::nullopt;
  const LaneWork& w = *op.lane;
  const auto axis = line_axis(w);
  if (!axis || !lies_in_lines(w, *axis)) return std::nullopt;
  LineFlow f{.in = input_port(w.a_port), .out = output_port(op.outputs[0].port)};
  if (port_element_bytes(r, f.in, hw) != 1 || port_element_bytes(r, f.out, hw) != 1)
    return std::nullopt;
  f.lines = w.axes[*axis].count;
  f.window = w.axes[*axis].slide;
  f.in_line = w.axes[*axis].a;
  f.out_line = results_of_line(w, *axis);
  return f;
}

/// Elements and operations as their share of the lines is, rounded up: they only count where the op
/// is streamed, not computed by lane commands.
void take_share(VectorOp& op, int64_t count, int64_t of) {
  const auto share = [&](int64_t& n) { n = ceil_div(n * count, of); };
  for (int64_t& n : op.ops) share(n);
  for (auto* side : {&op.inputs, &op.outputs})
    for (Access& a : *side) share(a.elements);
}

}  // namespace

int64_t LineFlow::lines_needed(int64_t results) const {
  return std::clamp<int64_t>(window.input_coordinate(results - 1, window.kernel - 1) + 1, 0,
                             window.extent);
}

int64_t OpLines::offset(const OperandPort& port) const {
  const auto found = std::ranges::find(ports, port, &Port::port);
  return found == ports.end() ? 0 : found->offset;
}

std::optional<LineFlow> line_flow(const OpRequest& request, const hw::HwConfig& hw) {
  if (const auto* gemm = std::get_if<GemmOp>(&request.item)) return flow_of(*gemm, request, hw);
  if (const auto* vector = std::get_if<VectorOp>(&request.item))
    return flow_of(*vector, request, hw);
  return std::nullopt;
}

OpLines cut_lines(const OpRequest& request, int64_t first, int64_t count, const hw::HwConfig& hw) {
  const LineFlow flow = *line_flow(request, hw);
  const WindowCut cut = cut_window(flow.window, first, count);
  OpLines out{.request = request};
  out.request.room = 0;
  out.ports = {{flow.in, cut.from * flow.in_line}, {flow.out, first * flow.out_line}};
  if (auto* gemm = std::get_if<GemmOp>(&out.request.item)) {
    cut_op(*gemm, cut, count);
    if (request.residual >= 0) {
      const OperandPort port = input_port(request.residual);
      const int64_t line = flow.out_line / port_element_bytes(request, flow.out, hw);
      out.ports.push_back({port, first * line * port_element_bytes(request, port, hw)});
    }
    return out;
  }
  auto& op = std::get<VectorOp>(out.request.item);
  LaneAxis& axis = op.lane->axes[*line_axis(*op.lane)];
  axis.count = count;
  axis.slide = cut.window;
  take_share(op, count, flow.lines);
  if (op.lane->has_b()) out.ports.push_back({input_port(op.lane->b_port), first * axis.b});
  return out;
}

}  // namespace accsim::sim
