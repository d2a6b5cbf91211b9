#include <cmath>

#include "hw/program/reach.h"
#include "sim/map/move_emitter.h"

namespace accsim::sim {
namespace {

/// Sides of blocks that are larger come in multiples of it: whole bursts and whole turned blocks.
constexpr int64_t kSide = 64;

int64_t side_of(int64_t count, int64_t most) {
  const int64_t side = std::clamp<int64_t>(most, 1, count);
  return side < count && side > kSide ? side / kSide * kSide : side;
}

}  // namespace

bool has_true_program(const VectorProblem& p) {
  if (p.is_vector() || p.axes.empty() || p.axes.size() > hw::kWalkLevels + 1) return false;
  if (p.inputs.size() != 1 || p.outputs.size() != 1) return false;
  if (std::ranges::find(p.axes, 1, &MoveAxis::stride) == p.axes.end()) return false;
  const int64_t bytes = p.inputs[0].element_bytes;
  if (bytes != p.outputs[0].element_bytes) return false;
  const bool turns = contiguous_axis(p) + 1 != p.axes.size();
  return !turns || bytes == 1;
}

int64_t bytes_read(const VectorProblem& p) {
  int64_t last = p.from;
  for (const MoveAxis& a : p.axes) last += std::max<int64_t>(0, a.stride) * (a.count - 1);
  return (last + 1) * p.inputs[0].element_bytes;
}

int64_t bytes_written(const VectorProblem& p) {
  int64_t last = p.to;
  for (size_t i = 0; i < p.axes.size(); ++i) last += p.spacing[i] * (p.axes[i].count - 1);
  return (last + 1) * p.outputs[0].element_bytes;
}

size_t contiguous_axis(const VectorProblem& p) {
  if (p.axes.back().stride == 1) return p.axes.size() - 1;
  const auto at = std::ranges::find(p.axes, 1, &MoveAxis::stride);
  check(at != p.axes.end(), "a move whose input is nowhere contiguous");
  return static_cast<size_t>(at - p.axes.begin());
}

MoveTile move_tile(const VectorProblem& p, int64_t chunks) {
  const size_t last = p.axes.size() - 1, column = contiguous_axis(p);
  MoveTile tile(p.axes.size(), 1);
  int64_t left = std::max<int64_t>(1, p.inputs[0].elements / chunks);
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

bool move_fits(const VectorProblem& p, const hw::HwConfig& hw, int64_t chunks) {
  int64_t bytes = p.inputs[0].element_bytes;
  for (const int64_t n : move_tile(p, chunks)) bytes *= n;
  return bytes <= hw.buffer(hw::Buffer::output).slot_bytes();
}

int64_t move_bound(const VectorProblem& p, const hw::HwConfig& hw) {
  const auto channel = [&](const VectorOperand& o) -> const hw::ChannelConfig& {
    return o.place.memory == hw::Memory::dram ? hw.dram : hw.shared.channel;
  };
  const hw::ChannelConfig &in = channel(p.inputs[0]), &out = channel(p.outputs[0]);
  const int64_t bytes = p.inputs[0].bytes();
  const int64_t beats = ceil_div(bytes, hw.buffer(hw::Buffer::output).width);
  // The other queue has at least a cycle before the first tile, or behind the last one.
  return in.latency + 1 + out.latency +
         std::max({in.read.cycles(bytes), out.write.cycles(bytes), beats});
}

}  // namespace accsim::sim
