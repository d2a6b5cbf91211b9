#include "sim/map/rows/row_problem.h"

#include <fmt/format.h>

#include <algorithm>

#include "hw/program/contract.h"
#include "sim/map/rows/row_operands.h"
#include "sim/map/tile_segments.h"

namespace accsim::sim {
namespace {

/// Equal chunks of a program: rows of one and how many of them there are.
struct RowChunks {
  RowNest rows{};
  int64_t count = 1;
};

/// All chunks, with the first one's kind in front and the last one's at the end.
std::vector<RowChunks> chunks_of(const RowProblem& p, const RowTile& t) {
  std::vector<RowChunks> out = {{}};
  for (size_t l = 0; l < kRowLevels; ++l) {
    std::vector<RowChunks> next;
    const auto segments = split(p.work.rows[l], t.rows[l]);
    for (const RowChunks& outer : out)
      for (const Segment& s : segments) {
        next.push_back(outer);
        next.back().rows[l] = s.size;
        next.back().count *= s.count;
      }
    out = std::move(next);
  }
  return out;
}

int64_t transfer_cycles(const hw::HwConfig& hw, const Place& place, const hw::Walk& walk,
                        hw::Buffer b) {
  const hw::ByteRate rate = hw.memory(place.memory).rate(b == hw::Buffer::output);
  return std::max({int64_t{1}, rate.cycles(walk.bytes()),
                   hw::contract::port_beats(walk.run_count(), walk.run, hw.buffer(b).width)});
}

int64_t place_latency(const hw::HwConfig& hw, const Place& place) {
  return hw.memory(place.memory).channel.latency;
}

/// What a chunk takes of each queue.
struct RowTimes {
  int64_t load = 0, vector = 0, store = 0;
};

RowTimes times_of(const RowProblem& p, const hw::HwConfig& hw, const RowTile& t,
                  const RowNest& rows) {
  const hw::Walk walk = rows_part(p, rows).walk;
  RowTimes out{transfer_cycles(hw, p.in, walk, hw::Buffer::activation), 0,
               transfer_cycles(hw, p.out, walk, hw::Buffer::output)};
  if (p.work.mask)
    out.load += transfer_cycles(hw, p.mask, mask_part(p, rows).walk, hw::Buffer::activation);
  if (p.work.log)
    out.store += transfer_cycles(hw, p.log, log_part(p, rows).walk, hw::Buffer::output);
  const int64_t commands = row_commands(t);
  if (t.parameters != RowParameters::once) {
    hw::Walk parameters = parameter_part(p, rows).walk;
    parameters.run /= commands;
    out.load += commands * transfer_cycles(hw, p.parameters, parameters, hw::Buffer::parameter);
  }
  out.vector = commands * hw::contract::row_cycles(row_command(p, t, rows, 0), hw);
  return out;
}

/// A row's channels can be taken in two halves: rows one behind the other, a channel an element.
bool has_halves(const RowProblem& p) {
  const RowWork& w = p.work;
  return !p.is_softmax() && w.pieces == 1 && w.per_channel == 1 && w.run % 2 == 0 &&
         w.rows[kRowLevels - 1] == w.row_count() &&
         (w.row_count() == 1 || w.row_stride[kRowLevels - 1] == w.run) &&
         w.channel_stride == RowNest{};
}

/// At most `left` rows of a tile: those of level `first`, then of the others from the inside.
void fill_rows(const RowNest& rows, size_t first, int64_t left, RowTile& t) {
  const auto fill = [&](size_t l) {
    t.rows[l] = std::min(rows[l], left);
    left /= t.rows[l];
  };
  fill(first);
  for (size_t l = kRowLevels; l-- > 0;)
    if (l != first) fill(l);
}

/// May the machine have RowCommands of this length at all?
bool has_row_commands(const RowWork& work, const hw::HwConfig& hw) {
  return hw.computes_int8() && work.row_length() <= hw::RowCommand::kElements;
}

}  // namespace

std::optional<RowProblem> RowSource::of_request(const OpRequest& r, const hw::HwConfig& hw) {
  const auto* op = std::get_if<VectorOp>(&r.item);
  if (op == nullptr || !op->row_work) return std::nullopt;
  const RowWork& work = *op->row_work;
  const Operand in = operand_of_port(r.inputs, work.in_port, hw);
  const Operand out = operand_of_port(r.outputs, work.out_port, hw);
  if (in.element_bytes != 1 || out.element_bytes != 1 || !has_row_commands(work, hw))
    return std::nullopt;
  RowProblem p;
  p.work = work;
  p.in = in.place;
  p.out = out.place;
  p.parameters = {in.place.name + (p.is_softmax() ? " (tables)" : " (gain and shift)"),
                  hw::MemoryId::dram, true};
  if (work.mask) {
    const Operand mask = operand_of_port(r.inputs, work.mask->port, hw);
    if (mask.element_bytes != 1) return std::nullopt;
    p.mask = mask.place;
  }
  if (work.log) {
    const Operand log = operand_of_port(r.outputs, work.log->port, hw);
    if (log.element_bytes != 1) return std::nullopt;
    p.log = log.place;
  }
  return p;
}

std::string to_string(const RowProblem& p, const RowTile& t) {
  int64_t chunks = 1, rows = 1;
  for (size_t l = 0; l < kRowLevels; ++l) {
    chunks *= ceil_div(p.work.rows[l], t.rows[l]);
    rows *= t.rows[l];
  }
  const bool halves = t.parameters == RowParameters::halves;
  return fmt::format("{} row{} of {}{}, {} chunk{}", rows, rows == 1 ? "" : "s",
                     p.work.row_length(), halves ? " in halves" : "", chunks,
                     chunks == 1 ? "" : "s");
}

std::vector<RowTile> row_tiles(const RowProblem& p, int64_t chunks) {
  std::vector<RowTile> out;
  const auto add = [&](const RowTile& tile) {
    if (std::ranges::find(out, tile) == out.end()) out.push_back(tile);
  };
  // As many chunks, the last one shorter; or, rounded down, one more of what is left over.
  for (const int64_t rows : {ceil_div(p.work.row_count(), chunks), p.work.row_count() / chunks})
    for (size_t first = kRowLevels; first-- > 0;) {
      RowTile t;
      fill_rows(p.work.rows, first, std::max<int64_t>(1, rows), t);
      add(t);
      t.parameters = RowParameters::each_chunk;
      if (p.work.channel_stride != RowNest{}) add(t);
      t.parameters = RowParameters::halves;
      if (has_halves(p)) add(t);
    }
  return out;
}

std::optional<RowTile> rule_tiling(const RowProblem& p, const hw::HwConfig& hw) {
  return first_chunks(p.work.row_count(), [&](int64_t chunks) -> std::optional<RowTile> {
    for (const RowTile& t : row_tiles(p, chunks))
      if (fits(p, hw, t)) return t;
    return std::nullopt;
  });
}

std::vector<RowTile> chunked_tilings(const RowProblem& p, const hw::HwConfig& hw, int64_t chunks) {
  std::vector<RowTile> out;
  for (int64_t n = chunks; n > 0 && n <= p.work.row_count() && out.empty(); n *= 2)
    for (const RowTile& t : row_tiles(p, n))
      if (fits(p, hw, t)) out.push_back(t);
  return out;
}

std::vector<std::pair<int64_t, RowTile>> tilings(const RowProblem& p, const hw::HwConfig& hw) {
  std::vector<std::pair<int64_t, RowTile>> out;
  for_chunk_counts(p.work.row_count(), [&](int64_t chunks) {
    if (chunks > p.work.row_count()) return;
    for (const RowTile& t : row_tiles(p, chunks)) {
      const bool known =
          std::ranges::any_of(out, [&](const auto& other) { return other.second == t; });
      if (!known && fits(p, hw, t)) out.push_back({lower_bound(p, hw, t), t});
    }
  });
  sort_by_bound(out);
  return out;
}

bool fits(const RowProblem& p, const hw::HwConfig& hw, const RowTile& t) {
  const auto slot = [&](hw::Buffer b) { return hw.buffer(b).slot_bytes(); };
  const int64_t mask = p.work.mask ? mask_part(p, t.rows).bytes : 0;
  const int64_t parameters =
      p.parameter_bytes(t.parameters == RowParameters::once ? p.work.rows : t.rows);
  return rows_part(p, t.rows).bytes + mask <= slot(hw::Buffer::activation) &&
         output_bytes(p, t, t.rows) <= slot(hw::Buffer::output) &&
         parameters / row_commands(t) <= slot(hw::Buffer::parameter) &&
         hw::contract::row_beat(row_command(p, t, t.rows, 0), hw) >= 1;
}

int64_t lower_bound(const RowProblem& p, const hw::HwConfig& hw, const RowTile& t) {
  const std::vector<RowChunks> chunks = chunks_of(p, t);
  RowTimes sum;
  for (const RowChunks& c : chunks) {
    const RowTimes one = times_of(p, hw, t, c.rows);
    sum.load += c.count * one.load;
    sum.vector += c.count * one.vector;
    sum.store += c.count * one.store;
  }
  const RowTimes first = times_of(p, hw, t, chunks.front().rows);
  const RowTimes last = times_of(p, hw, t, chunks.back().rows);
  int64_t before = 0;  // parameters that are there before the first rows are asked for
  if (t.parameters == RowParameters::once)
    before = transfer_cycles(hw, p.parameters, parameter_part(p, p.work.rows).walk,
                             hw::Buffer::parameter);
  int64_t in = std::min(place_latency(hw, p.in), place_latency(hw, p.parameters));
  if (p.work.mask) in = std::min(in, place_latency(hw, p.mask));
  const int64_t out = place_latency(hw, p.out);
  const hw::Walk first_rows = rows_part(p, chunks.front().rows).walk;
  const int64_t first_in = before + transfer_cycles(hw, p.in, first_rows, hw::Buffer::activation);
  const int64_t load = before + sum.load + in + last.vector / row_commands(t) + last.store + out;
  const int64_t vector = first_in + in + sum.vector + last.store + out;
  const int64_t store = first_in + in + first.vector + sum.store + out;
  return std::max({load, vector, store});
}

}  // namespace accsim::sim
