#include "sim/map/moves/move_problem.h"

#include <fmt/format.h>

#include <cmath>

#include "hw/program/reach.h"
#include "sim/base/key_bytes.h"
#include "sim/map/moves/move_emitter.h"

namespace accsim::sim {
namespace {

/// Sides of blocks that are larger come in multiples of it: whole bursts and whole turned blocks.
constexpr int64_t kSide = 64;

int64_t side_of(int64_t count, int64_t most) {
  const int64_t side = std::clamp<int64_t>(most, 1, count);
  return side < count && side > kSide ? side / kSide * kSide : side;
}

int64_t largest_side(const MoveProblem& p) {
  return std::max({int64_t{1}, p.in.elements, p.out.elements});
}

}  // namespace

std::string to_string(const MoveProblem&, const MoveCut& t) {
  return fmt::format("{} chunk{}", t.chunks, t.chunks == 1 ? "" : "s");
}

std::optional<MoveProblem> MoveSource::of_request(const OpRequest& r, const hw::HwConfig& hw) {
  const auto* op = std::get_if<MemoryOp>(&r.item);
  if (op == nullptr) return std::nullopt;
  std::optional<StreamProblem> sides = StreamSource::of_request(r, hw);
  if (sides->inputs.size() != 1 || sides->outputs.size() != 1) return std::nullopt;
  MoveProblem p{std::move(sides->inputs[0]),
                std::move(sides->outputs[0]),
                op->axes,
                spacing_of(*op),
                op->from,
                op->to};
  return has_move_commands(p) ? std::optional(std::move(p)) : std::nullopt;
}

bool has_move_commands(const MoveProblem& p) {
  if (p.axes.empty() || p.axes.size() > hw::kWalkLevels + 1) return false;
  if (std::ranges::find(p.axes, 1, &MoveAxis::stride) == p.axes.end()) return false;
  if (p.in.element_bytes != p.out.element_bytes) return false;
  const bool turns = contiguous_axis(p) + 1 != p.axes.size();
  return !turns || p.in.element_bytes == 1;
}

int64_t bytes_read(const MoveProblem& p) {
  int64_t last = p.from;
  for (const MoveAxis& a : p.axes) last += std::max<int64_t>(0, a.stride) * (a.count - 1);
  return (last + 1) * p.in.element_bytes;
}

int64_t bytes_written(const MoveProblem& p) {
  int64_t last = p.to;
  for (size_t i = 0; i < p.axes.size(); ++i) last += p.spacing[i] * (p.axes[i].count - 1);
  return (last + 1) * p.out.element_bytes;
}

size_t contiguous_axis(const MoveProblem& p) {
  if (p.axes.back().stride == 1) return p.axes.size() - 1;
  const auto at = std::ranges::find(p.axes, 1, &MoveAxis::stride);
  check(at != p.axes.end(), "a move whose input is nowhere contiguous");
  return static_cast<size_t>(at - p.axes.begin());
}

MoveTile move_tile(const MoveProblem& p, int64_t chunks) {
  const size_t last = p.axes.size() - 1, column = contiguous_axis(p);
  MoveTile tile(p.axes.size(), 1);
  int64_t left = std::max<int64_t>(1, p.in.elements / chunks);
  const auto grow = [&](size_t axis, int64_t most) {
    left *= tile[axis];
    tile[axis] = side_of(p.axes[axis].count, std::min(left, most));
    left /= tile[axis];
  };
  const auto square = static_cast<int64_t>(std::sqrt(static_cast<double>(left)));
  if (column != last) grow(column, square);
  grow(last, left);
  if (column != last) grow(column, left * tile[column]);
  for (size_t i = last; i-- > 0;)
    if (i != column) grow(i, left);
  return tile;
}

bool fits(const MoveProblem& p, const hw::HwConfig& hw, const MoveCut& t) {
  int64_t bytes = p.in.element_bytes;
  for (const int64_t n : move_tile(p, t.chunks)) bytes *= n;
  return bytes <= hw.buffer(hw::Buffer::output).slot_bytes();
}

int64_t lower_bound(const MoveProblem& p, const hw::HwConfig& hw) {
  const hw::ChannelConfig& in = hw.memory(p.in.place.memory).channel;
  const hw::ChannelConfig& out = hw.memory(p.out.place.memory).channel;
  const int64_t bytes = p.in.bytes();
  const int64_t beats = ceil_div(bytes, hw.buffer(hw::Buffer::output).width);
  // The other queue has at least a cycle before the first tile, or behind the last one.
  return in.latency + 1 + out.latency +
         std::max({in.read.cycles(bytes), out.write.cycles(bytes), beats});
}

std::optional<MoveCut> rule_tiling(const MoveProblem& p, const hw::HwConfig& hw) {
  return first_chunks(largest_side(p), [&](int64_t chunks) -> std::optional<MoveCut> {
    return fits(p, hw, {chunks}) ? std::optional(MoveCut{chunks}) : std::nullopt;
  });
}

std::vector<std::pair<int64_t, MoveCut>> tilings(const MoveProblem& p, const hw::HwConfig& hw) {
  std::vector<std::pair<int64_t, MoveCut>> out;
  for_chunk_counts(largest_side(p), [&](int64_t chunks) {
    if (chunks <= largest_side(p) && fits(p, hw, {chunks}))
      out.push_back({lower_bound(p, hw), {chunks}});
  });
  return out;
}

std::string alike_key(const MoveProblem& p) {
  KeyBytes key;
  key.add(p.in.place.memory, p.out.place.memory, p.in.element_bytes).add(p.spacing);
  for (const auto& [count, stride] : p.axes) key.add(count, stride);
  return key.take_bytes();
}

}  // namespace accsim::sim
