#include "sim/map/product/gemm_problem.h"

#include <fmt/format.h>

#include <algorithm>

#include "hw/program/contract.h"

namespace accsim::sim {

GemmProblem make_problem(const GemmOp& op, const hw::HwConfig& hw) {
  GemmProblem p;
  p.op = op;
  p.a_bytes = p.out_bytes = hw.activation_bytes();
  p.b_encoding = hw.weight_encoding(false);
  p.parameter_bytes = hw.parameter_bytes();
  const auto slide = [&](size_t d) {
    return Slide{.in = op.in[d],
                 .out = op.out[d],
                 .kernel = op.kernel[d],
                 .stride = op.stride[d],
                 .dilation = op.dilation[d],
                 .pad = op.pad[d]};
  };
  p.z = slide(0);
  p.y = slide(1);
  p.x = slide(2);
  if (op.grouped)
    p.most_groups = std::max<int64_t>(
        1, std::min({hw.array.rows / op.channels, hw.array.cols / op.outputs, op.batch}));
  return p;
}

bool packs_weights(const GemmOp& op) { return !op.grouped && (op.batch == 1 || op.b_shared); }

hw::Encoding weight_encoding(const GemmOp& op, bool constant, const hw::HwConfig& hw) {
  return hw.weight_encoding(constant && packs_weights(op));
}

void choose_weights(GemmProblem& p, const hw::HwConfig& hw) {
  p.b_encoding = weight_encoding(p.op, p.b.constant, hw);
  p.scale_group =
      p.b_encoding.is_packed() && hw.types.weight_group < p.op.channels ? hw.types.weight_group : 0;
}

std::string_view short_name(hw::Dataflow dataflow) {
  constexpr std::array<std::string_view, hw::kDataflows> kShort = {"ws", "is", "os"};
  return kShort[static_cast<size_t>(dataflow)];
}

std::string to_string(const Tiling& t) {
  return fmt::format("{} {}{}x{}{} n{} k{} {}{}{}", short_name(t.dataflow),
                     t.images > 1 ? fmt::format("{}x", t.images) : "", t.lines, t.pixels,
                     t.groups > 1 ? fmt::format(" g{}", t.groups) : "", t.outputs, t.channels,
                     t.outputs_outer ? "nmk" : "mnk", t.im2col ? " im2col" : "",
                     t.staged > 0 ? fmt::format(" s{}", t.staged) : "");
}

std::string to_string(const GemmProblem&, const ProductTiling& tiling) {
  if (const auto* array = std::get_if<Tiling>(&tiling)) return to_string(*array);
  const TapTiling& t = std::get<TapTiling>(tiling);
  return fmt::format("lanes {}x{} g{}{}", t.lines, t.pixels, t.channels,
                     t.repeats > 1 ? fmt::format(", {} times", t.repeats) : "");
}

Passes array_passes(const GemmProblem& p, const hw::HwConfig& hw, int64_t channels, bool im2col) {
  Passes out;
  if (im2col) {
    out.flat = out.line = p.kernel_taps() * channels;
    out.lanes = std::min(hw.array.rows, out.flat);
    return out;
  }
  out.by_column = p.x.kernel > 1 && p.x.dilation > 1;
  out.line = (out.by_column ? 1 : p.x.kernel) * channels;
  // Lines read in one cycle must lie in different banks of the activation SRAM.
  int64_t banks = hw::contract::kWindowLines;
  for (int64_t step = p.y.dilation; banks > 1 && step % 2 == 0; step /= 2) banks /= 2;
  out.by_line = out.by_column || p.y.kernel == 1 || banks == 1;
  out.outer = p.z.kernel * (out.by_column ? p.x.kernel : 1) * (out.by_line ? p.y.kernel : 1);
  out.flat = out.line * (out.by_line ? 1 : p.y.kernel);
  out.lanes = std::min(hw.array.rows, out.flat);
  if (out.by_line) return out;
  const auto lines_touched = [&](int64_t lanes) { return (lanes - 2) / out.line + 2; };
  if (lines_touched(out.lanes) > std::min(banks, p.y.kernel) && banks < p.y.kernel)
    out.lanes = out.lanes >= banks * out.line ? banks * out.line : (banks - 1) * out.line + 1;
  return out;
}

int64_t GemmProblem::a_tensor_bytes() const {
  const int64_t batches = op.grouped || op.a_shared ? 1 : op.batch;
  return batches * op.images * op.in[0] * op.in[1] * op.in[2] * pixel_channels() * a_bytes;
}

int64_t GemmProblem::out_tensor_bytes() const {
  return (op.grouped ? 1 : op.batch) * op.m() * pixel_outputs() * out_bytes;
}

namespace {

template <class Counts>
int64_t tensor_bytes_of(const GemmProblem& p, const Counts& counts) {
  const auto part = [&](const Place& place, int64_t bytes) { return counts(place) ? bytes : 0; };
  const int64_t weights = (p.op.b_shared ? 1 : p.op.batch) * p.op.k() * p.op.outputs;
  int64_t out = part(p.a, p.a_tensor_bytes()) + part(p.out, p.out_tensor_bytes());
  out += part(p.b, p.b_encoding.is_packed() ? weights / 2 : weights * p.b_bytes());
  if (p.has_parameters) out += part(p.parameters, p.all_parameters());
  if (p.residual) out += part(*p.residual, p.out_tensor_bytes());
  return out;
}

}  // namespace

int64_t GemmProblem::tensor_bytes() const {
  return tensor_bytes_of(*this, [](const Place&) { return true; });
}

int64_t GemmProblem::dram_tensor_bytes() const {
  return tensor_bytes_of(*this, [](const Place& p) { return p.memory == hw::MemoryId::dram; });
}

bool shares_parameters(const GemmProblem& p, hw::Dataflow d) {
  return p.same_parameters && d != hw::Dataflow::input_stationary;
}

int64_t parameter_channels(const GemmProblem& p, const hw::HwConfig& hw, hw::Dataflow d,
                           int64_t outputs) {
  return shares_parameters(p, d) ? std::min(p.op.outputs, hw.array.cols) : outputs;
}

bool weights_n_major(const GemmProblem& p) {
  return p.op.b_transposed || p.kernel_taps() > 1 || p.op.grouped;
}

int64_t pixel_lanes(const hw::HwConfig& hw, hw::Dataflow d) {
  return d == hw::Dataflow::input_stationary ? hw.array.cols : hw.array.rows;
}

int64_t pixel_block(const hw::HwConfig& hw, hw::Dataflow d, int64_t pixels) {
  const int64_t lanes = pixel_lanes(hw, d);
  if (d == hw::Dataflow::input_stationary) return std::min(pixels, lanes);
  // A pass streams max(m, k) cycles: of as many blocks, even ones have the smallest sum of those.
  return ceil_div(pixels, ceil_div(pixels, lanes));
}

Footprint tiling_footprint(const GemmProblem& p, const hw::HwConfig& hw, const Tiling& t) {
  const int64_t channels = t.channels, outputs = t.outputs;
  const int64_t m = t.images * t.lines * t.pixels;
  const auto span = [](const Slide& s, int64_t tile) {
    return std::min(s.in, s.input_reach(tile));
  };
  Footprint f;
  f.activation = p.a_bytes * channels *
                 (t.im2col ? m * p.kernel_taps()
                           : t.images * span(p.z, 1) * span(p.y, t.lines) * span(p.x, t.pixels));
  f.weight = weight_tile_bytes(p, hw, t, channels, outputs);
  f.parameter = p.has_parameters
                    ? parameter_channels(p, hw, t.dataflow, outputs) * p.channel_parameters()
                    : 0;
  if (p.epilogue.table)
    f.parameter = std::max(f.parameter, hw::SetTableCommand::kBytes);  // a slot's own
  f.output = m * outputs * p.out_bytes;
  if (t.dataflow == hw::Dataflow::input_stationary) {
    f.accumulator_rows = outputs * ceil_div(m, pixel_lanes(hw, t.dataflow));
  } else {
    f.accumulator_rows = m * ceil_div(outputs, hw.array.cols);
  }
  f.accumulator_rows *= p.scale_count();
  return f;
}

int64_t weight_tile_bytes(const GemmProblem& p, const hw::HwConfig& hw, const Tiling& t,
                          int64_t channels, int64_t outputs) {
  const int64_t k = p.kernel_taps() * channels;
  if (!p.b_encoding.is_packed()) return p.b_bytes() * k * outputs / t.groups;
  if (t.dataflow != hw::Dataflow::input_stationary)
    return k * p.weight_rows(outputs, hw.array.cols);
  const Passes cut = array_passes(p, hw, channels, t.im2col);
  return cut.outer * p.weight_rows(cut.flat, cut.lanes) * outputs;
}

int64_t weight_chunk_bytes(const GemmProblem& p, const hw::HwConfig& hw, const Tiling& t,
                           int64_t outputs) {
  int64_t bytes = 0;
  for (const Segment& s : split(p.op.channels, t.channels))
    bytes += s.count * weight_tile_bytes(p, hw, t, s.size, outputs);
  return bytes;
}

int64_t pack_weight_bytes(const GemmProblem& p, int64_t groups) {
  return groups * p.op.k() * p.op.outputs * p.b_bytes();
}

int64_t weight_tensor_bytes(const GemmProblem& p, const hw::HwConfig& hw, const Tiling& t) {
  if (p.b_encoding.is_packed())
    return p.op.outputs / t.outputs * weight_chunk_bytes(p, hw, t, t.outputs) +
           weight_chunk_bytes(p, hw, t, p.op.outputs % t.outputs);
  const int64_t batches = p.op.b_shared ? 1 : p.op.batch;
  return batches / t.groups * pack_weight_bytes(p, t.groups) +
         pack_weight_bytes(p, batches % t.groups);
}

bool fits(const Footprint& f, const hw::HwConfig& hw) {
  const auto holds = [&](hw::Buffer b, int64_t bytes) {
    return bytes <= hw.buffer(b).slot_bytes();
  };
  return holds(hw::Buffer::activation, f.activation) && holds(hw::Buffer::weight, f.weight) &&
         holds(hw::Buffer::parameter, f.parameter) && holds(hw::Buffer::output, f.output) &&
         f.accumulator_rows <= hw.accumulator_rows();
}

hw::Epilogue GemmProblem::post_epilogue() const {
  check(residual.has_value() == epilogue.residual.has_value(), "factors of a residual, or none");
  hw::Epilogue out = epilogue;
  if (!residual) return out;
  out.low = -out.highest_limit() - 1;  // the sum alone is held to int8
  out.high = out.highest_limit();
  out.residual->low = clips_sum ? out.zero : INT8_MIN;
  return out;
}

namespace {

/// Where an operand lies, its pitch in the elements of `bytes` that a product takes it as.
Place place_of(const Operand& operand, int64_t bytes) {
  Place out = operand.place;
  out.pitch = Pitch{out.pitch.run / operand.element_bytes, out.pitch.pitch / operand.element_bytes}
                  .scaled_by(bytes);
  return out;
}

}  // namespace

GemmProblem GemmSource::of_request(const GemmOp& op, const OpRequest& r, const hw::HwConfig& hw) {
  GemmProblem p = make_problem(op, hw);
  p.a = place_of(operand_of_port(r.inputs, op.a_port, hw), p.a_bytes);
  p.b = place_of(operand_of_port(r.inputs, op.b_port, hw), p.b_bytes());
  p.out = place_of(operand_of_port(r.outputs, op.out_port, hw), p.out_bytes);
  // Beside their weights, where these stay from run to run.
  p.parameters = {p.b.name + " (bias and scale)", p.b.constant ? p.b.memory : hw::MemoryId::dram,
                  true};
  // Of integers a scale at least, also where they are the weights alone.
  p.has_parameters =
      op.bias_port.is_of_node() || !is_float(hw.types.accumulator) || !is_float(hw.types.weight);
  // Weights that are computed have one scale, and what zero points add is no constant.
  p.same_parameters =
      p.has_parameters && !p.b.constant && !op.bias_port.is_of_node() && !op.grouped;
  p.epilogue.relu = r.relu;
  p.epilogue.table = r.table;
  p.room = r.room;
  p.mode = r.mode;
  if (r.residual.is_of_node()) {
    p.residual = place_of(operand_of_port(r.inputs, r.residual, hw), p.out_bytes);
    p.epilogue.residual.emplace();
    p.clips_sum = r.clips_sum;
  }
  choose_weights(p, hw);
  return p;
}

}  // namespace accsim::sim
