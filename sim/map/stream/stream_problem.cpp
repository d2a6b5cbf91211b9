#include "sim/map/stream/stream_problem.h"

#include <fmt/format.h>

#include <algorithm>

#include "hw/program/contract.h"
#include "sim/map/stream/stream_emitter.h"

namespace accsim::sim {

bool StreamProblem::is_vector() const {
  return std::any_of(ops.begin(), ops.end(), [](int64_t n) { return n > 0; });
}

std::string to_string(const StreamProblem&, const StreamCut& t) {
  return fmt::format("{} chunk{}{}", t.chunks, t.chunks == 1 ? "" : "s",
                     t.passes > 1 ? fmt::format(", {} passes", t.passes) : "");
}

namespace {

/// An operand of which only counts what moves: a row at a time of one that has rows.
VectorOperand streamed_operand(const Operand& o, const Access& a) {
  VectorOperand out{o.place, a.elements, o.element_bytes, a.run};
  if (const int64_t row = o.place.pitch.run / o.element_bytes; row > 0)
    out.run = a.run > 0 ? std::min(a.run, row) : row;
  out.place.pitch = {};
  return out;
}

std::vector<VectorOperand> operands_of_side(const std::vector<Access>& from,
                                            const std::vector<Operand>& operands,
                                            const hw::HwConfig& hw) {
  std::vector<VectorOperand> out;
  for (const Access& a : from)
    if (a.elements > 0) out.push_back(streamed_operand(operand_of_port(operands, a.port, hw), a));
  return out;
}

int64_t largest_side(const StreamProblem& p) {
  int64_t out = 1;
  for (const auto* operands : {&p.inputs, &p.outputs})
    for (const VectorOperand& o : *operands) out = std::max(out, o.elements);
  return out;
}

int64_t passes_of(const StreamProblem& p, int64_t chunks) {
  return chunks <= p.rows ? 1 : p.passes;
}

/// Cycles of a transfer on a channel, at least. A banked DRAM's bus counts parts of a cycle: what
/// comes next may begin within the last one.
int64_t channel_cycles(const hw::HwConfig& hw, hw::MemoryId memory, bool reads, int64_t bytes) {
  const hw::Memory at = hw.memory(memory);
  const hw::ByteRate rate = at.rate(!reads);
  return at.banked ? std::max<int64_t>(0, rate.cycles(bytes) - 1) : rate.cycles(bytes);
}

/// Cycles that one chunk's operands occupy a queue.
int64_t chunk_occupancy(const StreamProblem& p, const hw::HwConfig& hw, hw::Buffer buffer,
                        bool reads, int64_t chunks, bool last) {
  int64_t sum = 0;
  for (const VectorOperand& o : reads ? p.inputs : p.outputs) {
    const int64_t elements = chunk_elements(p, o, reads, chunks, last);
    for (const Piece& piece : transfer_pieces(o, elements))
      sum += std::max({int64_t{1}, channel_cycles(hw, o.place.memory, reads, piece.walk.bytes()),
                       hw::contract::port_beats(piece.walk.run_count(), piece.walk.run,
                                                hw.buffer(buffer).width)});
  }
  return sum;
}

int64_t least_latency(const std::vector<VectorOperand>& side, const hw::HwConfig& hw) {
  int64_t least = INT64_MAX;
  for (const VectorOperand& o : side)
    least = std::min(least, hw.memory(o.place.memory).channel.latency);
  return side.empty() ? 0 : least;
}

int64_t vector_cycles(const StreamProblem& p, const hw::HwConfig& hw, int64_t chunks, bool last) {
  int64_t sum = 0;
  for (size_t i = 0; i < kVectorClasses; ++i)
    sum += (last ? last_chunk(p.ops[i], chunks) : p.ops[i] / chunks) / hw.vector.lanes[i];
  return sum;
}

}  // namespace

std::optional<StreamProblem> StreamSource::of_request(const OpRequest& r, const hw::HwConfig& hw) {
  StreamProblem p;
  if (const auto* memory = std::get_if<MemoryOp>(&r.item)) {
    p.inputs = operands_of_side(memory->inputs, r.inputs, hw);
    p.outputs = operands_of_side(memory->outputs, r.outputs, hw);
    return p;
  }
  const auto& vector = std::get<VectorOp>(r.item);
  p.inputs = operands_of_side(vector.inputs, r.inputs, hw);
  p.outputs = operands_of_side(vector.outputs, r.outputs, hw);
  p.ops = vector.ops;
  int64_t elements = 1;
  for (const VectorOperand& o : p.inputs) elements = std::max(elements, o.elements);
  p.rows = std::max<int64_t>(1, elements / std::max<int64_t>(1, vector.row));
  p.passes = vector.passes;
  return p;
}

int64_t lower_bound(const StreamProblem& p, const hw::HwConfig& hw, const StreamCut& t) {
  const int64_t chunks = t.chunks;
  const hw::Buffer into = p.is_vector() ? hw::Buffer::activation : hw::Buffer::output;
  const int64_t passes = p.is_vector() ? t.passes : 1;
  const auto load = [&](bool last) { return chunk_occupancy(p, hw, into, true, chunks, last); };
  const auto store = [&](bool last) {
    return chunk_occupancy(p, hw, hw::Buffer::output, false, chunks, last);
  };
  const auto vector = [&](bool last) { return vector_cycles(p, hw, chunks, last); };
  const auto total = [&](auto part) { return (chunks - 1) * part(false) + part(true); };
  // A queue does one chunk after the other; before its first one comes the way in (the first
  // chunk's load, if there is something in it), behind its last one the way out (the last chunk's
  // store).
  const int64_t first_load = load(chunks == 1);
  const int64_t in = first_load > 0 ? first_load + least_latency(p.inputs, hw) : 0;
  const int64_t out = store(true) + least_latency(p.outputs, hw);
  const int64_t load_queue = total(load) * passes + least_latency(p.inputs, hw) + out;
  const int64_t vector_unit = in + total(vector) + out;
  const int64_t store_queue = in + total(store) + least_latency(p.outputs, hw);
  return std::max({load_queue, vector_unit, store_queue});
}

bool fits(const StreamProblem& p, const hw::HwConfig& hw, int64_t chunks) {
  const auto most = [](const std::vector<VectorOperand>& side) {
    int64_t elements = 0;
    for (const VectorOperand& o : side) elements = std::max(elements, o.elements);
    return elements;
  };
  // What a move has loaded it must store: no chunk may be without output.
  if (!p.is_vector() && chunks > 1 && chunks > most(p.outputs)) return false;
  const auto largest = [&](const std::vector<VectorOperand>& side) {
    int64_t sum = 0;
    for (const VectorOperand& o : side)
      sum += chunk_elements(p, o, &side == &p.inputs, chunks, true) * o.element_bytes;
    return sum;
  };
  const int64_t in = largest(p.inputs), out = largest(p.outputs);
  const int64_t output_slot = hw.buffer(hw::Buffer::output).slot_bytes();
  if (!p.is_vector()) return std::max(in, out) <= output_slot;
  return in <= hw.buffer(hw::Buffer::activation).slot_bytes() && out <= output_slot;
}

std::optional<StreamCut> rule_tiling(const StreamProblem& p, const hw::HwConfig& hw) {
  return first_chunks(largest_side(p), [&](int64_t chunks) -> std::optional<StreamCut> {
    if (!fits(p, hw, chunks)) return std::nullopt;
    return StreamCut{chunks, passes_of(p, chunks)};
  });
}

std::vector<std::pair<int64_t, StreamCut>> tilings(const StreamProblem& p, const hw::HwConfig& hw) {
  const int64_t elements = largest_side(p);
  std::vector<std::pair<int64_t, StreamCut>> out;
  for_chunk_counts(elements, [&](int64_t chunks) {
    const StreamCut t{chunks, passes_of(p, chunks)};
    if (chunks <= elements && fits(p, hw, chunks)) out.push_back({lower_bound(p, hw, t), t});
  });
  sort_by_bound(out);
  return out;
}

}  // namespace accsim::sim
