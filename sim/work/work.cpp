#include "sim/work/work.h"

#include <algorithm>

namespace accsim::sim {

std::string_view name(Fate fate) {
  constexpr std::array<std::string_view, 6> kNames = {"gemm", "vector", "memory",
                                                      "view", "folded", "unsupported"};
  return kNames[static_cast<size_t>(fate)];
}

std::string_view name(VectorClass c) {
  constexpr std::array<std::string_view, kVectorClasses> kNames = {
      "elementwise", "special", "reduce", "pool", "resize", "convert", "search"};
  return kNames[static_cast<size_t>(c)];
}

std::vector<MoveAxis> joined_axes(const std::vector<MoveAxis>& axes) {
  std::vector<MoveAxis> out;
  for (const MoveAxis& axis : axes) {
    if (axis.count == 1) continue;
    if (!out.empty() && out.back().stride == axis.count * axis.stride)
      out.back() = {out.back().count * axis.count, axis.stride};
    else
      out.push_back(axis);
  }
  return out;
}

MemoryOp box_move(const std::vector<BoxAxis>& axes, ValuePort in_port, ValuePort out_port,
                  int64_t from, int64_t to) {
  std::vector<BoxAxis> rest;
  int64_t elements = 1;
  for (const BoxAxis& a : axes) {
    elements *= a.count;
    if (a.count == 1) continue;
    const bool goes_on =
        !rest.empty() && rest.back().in == a.count * a.in && rest.back().out == a.count * a.out;
    if (goes_on)
      rest.back() = {rest.back().count * a.count, a.in, a.out};
    else
      rest.push_back(a);
  }
  // Where neighbours of one side aren't neighbours on the other, each element is a piece.
  if (rest.empty() || rest.back().in != 1 || rest.back().out != 1) rest.push_back({});
  const int64_t run = rest.back().count == elements ? 0 : rest.back().count;
  MemoryOp op{{{in_port, elements, run}}, {{out_port, elements, run}}};
  op.from = from;
  op.to = to;
  for (const BoxAxis& a : rest) {
    op.axes.push_back({a.count, a.in});
    op.spacing.push_back(a.out);
  }
  return op;
}

std::vector<int64_t> spacing_of(const MemoryOp& op) {
  if (!op.spacing.empty()) return op.spacing;
  std::vector<int64_t> out(op.axes.size(), 1);
  for (size_t i = out.size(); i-- > 1;) out[i - 1] = out[i] * op.axes[i].count;
  return out;
}

int64_t turned_side(const std::vector<MoveAxis>& axes) {
  const auto contiguous = std::ranges::find(axes, 1, &MoveAxis::stride);
  if (contiguous == axes.end() || axes.back().stride == 1) return kTurnedSide;
  return std::min({contiguous->count, axes.back().count, kTurnedSide});
}

void set_axes(MemoryOp& op, std::vector<MoveAxis> axes) {
  const auto contiguous = std::ranges::find(axes, 1, &MoveAxis::stride);
  if (contiguous == axes.end()) return;
  const bool turned = axes.back().stride != 1;
  const auto run = [&](Access& side, int64_t count) {
    if (turned) count = std::min(count, kTurnedSide);
    side.run = count < side.elements ? count : 0;
  };
  run(op.inputs[0], contiguous->count);
  run(op.outputs[0], axes.back().count);
  op.axes = std::move(axes);
}

}  // namespace accsim::sim
