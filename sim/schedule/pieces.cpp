#include "sim/schedule/pieces.h"

#include <algorithm>

#include "sim/lower/row_layout.h"
#include "sim/schedule/ports.h"

namespace accsim::sim {
namespace {

struct Op {
  const OpRequest& request;
  const hw::HwConfig& hw;
};

int64_t port_element_bytes(const Op& r, const OperandPort& p) {
  if (p.side == OperandPort::Side::internal) return r.hw.activation_bytes();
  const auto& side = p.side == OperandPort::Side::input ? r.request.inputs : r.request.outputs;
  return side[static_cast<size_t>(p.index)].element_bytes;
}

// ---- products -----------------------------------------------------------------------------------

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
  const bool computed = b_port < 0 || !r.inputs[static_cast<size_t>(b_port)].place.constant;
  return plain && !a_shared && !b_shared && !a_transposed && a_port != b_port && computed;
}

std::optional<RowFlow> flow_of(const GemmOp& op, const Op& r) {
  if (!has_rows(op, r.request)) return std::nullopt;
  RowFlow f{.in = input_port(op.a_port), .out = output_port(op.out_port)};
  f.rows = op.batch * op.m();
  f.batch = op.batch;
  f.in_row = op.k() * port_element_bytes(r, f.in);
  f.out_row = op.n() * port_element_bytes(r, f.out);
  return f;
}

std::optional<OpPieces> cut_op(const GemmOp& op, const Op& r, int64_t rows) {
  const int64_t m = op.m();
  const int64_t batches = rows < m ? 1 : rows / m;
  if (rows < m ? m % rows != 0 : rows % m != 0 || op.batch % batches != 0) return std::nullopt;
  const int64_t parts = rows < m ? m / rows : 1;  // of a batch entry
  OpPieces out{.request = r.request, .ports = {}};
  auto& piece = std::get<GemmOp>(out.request.item);
  piece.batch = batches;
  piece.in[2] = piece.out[2] = rows < m ? rows : m;
  const auto add = [&](const OperandPort& port, int64_t batch_elements, bool shared_by_parts) {
    const int64_t bytes = batches * batch_elements * port_element_bytes(r, port);
    PieceStrides s;
    s.levels.push_back({op.batch / batches, bytes});
    s.levels.push_back({parts, shared_by_parts ? 0 : bytes / parts});
    out.ports.push_back({port, s});
  };
  add(input_port(op.a_port), m * op.k(), false);
  add(input_port(op.b_port), op.k() * op.n(), true);
  add(output_port(op.out_port), m * op.n(), false);
  if (const int port = r.request.residual; port >= 0) add(input_port(port), m * op.n(), false);
  return out;
}

// ---- rows ---------------------------------------------------------------------------------------

/// Do the rows lie densely, in the order of their nest?
bool is_dense(const RowWork& w) {
  int64_t next = w.run;
  for (size_t l = kRowLevels; l-- > 0;) {
    if (w.rows[l] == 1) continue;
    if (w.row_stride[l] != next) return false;
    next *= w.rows[l];
  }
  return w.pieces == 1;
}

std::optional<RowFlow> flow_of(const VectorOp& op, const Op& r) {
  if (!op.row_work || op.lane) return std::nullopt;
  const RowWork& w = *op.row_work;
  if (op.outputs.size() != (w.log ? 2 : 1)) return std::nullopt;
  if (!is_dense(w) || w.channel_stride != RowNest{}) return std::nullopt;
  RowFlow f{.in = input_port(w.in_port), .out = output_port(w.out_port)};
  f.rows = w.row_count();
  f.in_row = w.run * port_element_bytes(r, f.in);
  f.out_row = w.run * port_element_bytes(r, f.out);
  return f;
}

/// The nest of a piece of `rows` rows, and by level the number of pieces; nothing where the nest
/// doesn't fall into them.
struct NestCut {
  RowNest rows{1, 1, 1, 1}, pieces{1, 1, 1, 1};
};
std::optional<NestCut> cut_nest(const RowNest& nest, int64_t rows) {
  NestCut out;
  for (size_t l = kRowLevels; l-- > 0;) {
    const int64_t taken = std::min(nest[l], rows);
    if (nest[l] % taken != 0 || rows % taken != 0) return std::nullopt;
    out.rows[l] = taken;
    out.pieces[l] = nest[l] / taken;
    rows /= taken;
  }
  return rows == 1 ? std::optional(out) : std::nullopt;
}

/// A part of an op's elements and operations; false where they don't fall into equal parts.
bool take_part(int64_t& count, int64_t parts) {
  const bool even = count % parts == 0;
  count /= parts;
  return even;
}

std::optional<OpPieces> cut_op(const VectorOp& op, const Op& r, int64_t rows) {
  const RowWork& w = *op.row_work;
  const auto nest = cut_nest(w.rows, rows);
  if (!nest) return std::nullopt;
  const int64_t count = w.row_count() / rows;
  OpPieces out{.request = r.request, .ports = {}};
  auto& piece = std::get<VectorOp>(out.request.item);
  RowWork& part = *piece.row_work;
  part.rows = nest->rows;
  bool even = true;
  for (int64_t& ops : piece.ops) even = take_part(ops, count) && even;
  for (Access& a : piece.inputs)
    if (a.port == w.in_port)
      even = take_part(a.elements, count) && even;
    else if (w.mask && a.port == w.mask->port)
      a.elements = std::min(a.elements, part.mask->elements = mask_elements(part));
    else
      return std::nullopt;
  for (Access& a : piece.outputs) even = take_part(a.elements, count) && even;
  if (!even) return std::nullopt;
  const auto add = [&](const OperandPort& port, const RowNest& strides) {
    PieceStrides s;
    for (size_t l = 0; l < kRowLevels; ++l)
      s.levels.push_back(
          {nest->pieces[l], nest->rows[l] * strides[l] * port_element_bytes(r, port)});
    out.ports.push_back({port, s});
  };
  add(input_port(w.in_port), w.row_stride);
  add(output_port(w.out_port), w.row_stride);
  if (w.mask) add(input_port(w.mask->port), w.mask->row_stride);
  if (w.log) add(output_port(w.log->port), w.log->row_stride);
  return out;
}

}  // namespace

int64_t PieceStrides::offset(int64_t piece) const {
  int64_t out = 0;
  for (size_t l = levels.size(); l-- > 0;) {
    out += piece % levels[l].count * levels[l].bytes;
    piece /= levels[l].count;
  }
  return out;
}

int64_t OpPieces::offset(const OperandPort& port, int64_t piece) const {
  const auto found = std::ranges::find(ports, port, &Port::port);
  return found == ports.end() ? 0 : found->strides.offset(piece);
}

std::optional<RowFlow> row_flow(const OpRequest& request, const hw::HwConfig& hw) {
  const Op op{request, hw};
  if (const auto* gemm = std::get_if<GemmOp>(&request.item)) return flow_of(*gemm, op);
  if (const auto* vector = std::get_if<VectorOp>(&request.item)) return flow_of(*vector, op);
  return std::nullopt;
}

void move_rows(OpRequest& request, bool written, hw::Memory to, const hw::HwConfig& hw) {
  const RowFlow flow = *row_flow(request, hw);
  auto& side = written ? request.outputs : request.inputs;
  const OperandPort& port = written ? flow.out : flow.in;
  if (port.side != OperandPort::Side::internal) {
    side[static_cast<size_t>(port.index)].place.memory = to;
    return;
  }
  const auto added = static_cast<int>(side.size());
  side.push_back({{"(internal)", to, false, port}, hw.activation_bytes()});
  if (auto* gemm = std::get_if<GemmOp>(&request.item)) {
    (written ? gemm->out_port : gemm->a_port) = added;
    return;
  }
  auto& op = std::get<VectorOp>(request.item);
  (written ? op.row_work->out_port : op.row_work->in_port) = added;
  for (Access& a : written ? op.outputs : op.inputs)
    if (input_port(a.port) == port) a.port = added;
}

std::optional<OpPieces> cut_request(const OpRequest& request, int64_t count,
                                    const hw::HwConfig& hw) {
  const auto flow = row_flow(request, hw);
  if (!flow || count < 1 || flow->rows % count != 0) return std::nullopt;
  const int64_t rows = flow->rows / count;
  const Op op{request, hw};
  if (const auto* gemm = std::get_if<GemmOp>(&request.item)) return cut_op(*gemm, op, rows);
  return cut_op(std::get<VectorOp>(request.item), op, rows);
}

}  // namespace accsim::sim
