#include "sim/lower/sub_tensor_geometry.h"

namespace accsim::sim {

std::optional<SubTensor> moved_sub_tensor(const MemoryOp& op, bool cut_out, int64_t elements) {
  if (op.axes.empty() || op.picked || op.inputs.size() != 1 || op.outputs.size() != 1)
    return std::nullopt;
  const std::vector<int64_t> spacing = spacing_of(op);
  std::vector<MoveAxis> in_whole;
  int64_t next = 1;
  for (size_t i = op.axes.size(); i-- > 0; next *= op.axes[i].count) {
    const int64_t in = op.axes[i].stride, out = spacing[i];
    if (op.axes[i].count > 1 && (cut_out ? out : in) != next) return std::nullopt;
    in_whole.insert(in_whole.begin(), {op.axes[i].count, cut_out ? in : out});
  }
  if (next != elements || (cut_out ? op.to : op.from) != 0) return std::nullopt;
  const std::vector<MoveAxis> axes = joined_axes(in_whole);
  SubTensor out{kNoTensor, cut_out ? op.from : op.to, {}};
  if (axes.empty() || (axes.size() == 1 && axes[0].stride == 1)) return out;
  if (axes.size() == 1) out.pitch = {1, axes[0].stride};
  if (axes.size() == 2 && axes[1].stride == 1) out.pitch = {axes[1].count, axes[0].stride};
  const bool apart = !out.pitch.is_dense() && out.pitch.pitch > out.pitch.run;
  return apart ? std::optional(out) : std::nullopt;
}

std::optional<SubTensor> sub_tensor_within(const SubTensor& inner, const SubTensor& outer,
                                           int64_t elements) {
  const Pitch &p = inner.pitch, &q = outer.pitch;
  SubTensor out{outer.whole, outer.offset + q.offset_of(inner.offset), p};
  if (q.is_dense()) return out;
  const int64_t before = inner.offset % q.run;
  if (before + p.extent_of(elements) <= q.run) return out;  // within a row
  if (p.is_dense() && before == 0 && elements % q.run == 0) {
    out.pitch = q;
    return out;
  }
  if (p.is_dense() || p.pitch % q.run != 0 || before + p.run > q.run) return std::nullopt;
  out.pitch = {p.run, p.pitch / q.run * q.pitch};
  return out;
}

std::optional<SubTensor> place_of_whole(const SubTensor& part, const SubTensor& place,
                                        int64_t elements) {
  SubTensor out{place.whole, place.offset - part.offset, {part.pitch.pitch, place.pitch.pitch}};
  if (out.pitch.run == elements) out.pitch = {};
  return part.pitch.run == place.pitch.run && out.offset >= 0 ? std::optional(out) : std::nullopt;
}

}  // namespace accsim::sim
