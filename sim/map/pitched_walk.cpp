#include "sim/map/pitched_walk.h"

#include "sim/base/check.h"

namespace accsim::sim {
namespace {

int64_t step_of(int64_t stride, const Pitch& pitch) {
  const bool stays = stride > 0 && stride < pitch.run;
  check(pitch.is_dense() || stays || stride % pitch.run == 0,
        "a step that leaves its row for the middle of another one");
  return pitch.stride_of(stride);
}

}  // namespace

hw::Affine pitched(hw::Affine at, const Pitch& pitch) {
  at.base = pitch.offset_of(at.base);
  for (hw::Affine::Term& term : at.terms) term.coeff = step_of(term.coeff, pitch);
  return at;
}

hw::Walk pitched(const hw::Walk& walk, const Pitch& pitch) {
  if (pitch.is_dense()) return walk;
  hw::Walk out;
  for (const hw::Walk::Level& l : walk.levels) {
    const bool stays = (l.count - 1) * l.stride < pitch.run;  // its last step is shorter than a row
    if (stays || l.stride % pitch.run == 0) {
      out.levels.push_back({l.count, l.count == 1 ? 0 : step_of(l.stride, pitch)});
      continue;
    }
    const int64_t inner = pitch.run / l.stride;
    check(pitch.run % l.stride == 0 && l.count % inner == 0, "a walk of pieces of rows");
    out.levels.push_back({l.count / inner, pitch.pitch});
    out.levels.push_back({inner, l.stride});
  }
  out.run = walk.run;
  if (walk.run > pitch.run) {
    check(walk.run % pitch.run == 0, "a run of pieces of rows");
    out.levels.push_back({walk.run / pitch.run, pitch.pitch});
    out.run = pitch.run;
  }
  return out;
}

hw::PaddedWindow pitched(hw::PaddedWindow window, const Pitch& pitch) {
  for (int64_t& p : window.pitch) p = step_of(p, pitch);
  window.image_pitch = step_of(window.image_pitch, pitch);
  return window;
}

}  // namespace accsim::sim
