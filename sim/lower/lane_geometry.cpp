#include "sim/lower/lane_geometry.h"

#include <utility>

namespace accsim::sim {
namespace {

constexpr int64_t kWindows = 2;  ///< axes over which a lane command's taps may lie

bool is_dense(const std::vector<LaneDim>& dims) {
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    if (dims[i].count > 1 && dims[i].out != stride) return false;
    stride *= dims[i].count;
  }
  return true;
}

/// Do `inner`'s elements go on in `outer` in all tensors?
bool are_joinable(const LaneAxis& outer, const LaneAxis& inner) {
  if (outer.slide.is_plain() && inner.slide.is_plain())
    return outer.a == inner.a * inner.count && outer.b == inner.b * inner.count;
  const auto reduced = [](const LaneAxis& x) { return x.count == 1 && x.slide.is_whole_axis(); };
  return reduced(outer) && reduced(inner) && outer.a == inner.a * inner.slide.extent;
}

LaneAxis joined_lane_axis(const LaneAxis& outer, const LaneAxis& inner) {
  LaneAxis out = inner;
  out.count *= outer.count;
  out.slide.extent *= outer.slide.extent;
  out.slide.kernel *= outer.slide.kernel;
  out.slide.counted_to = out.slide.extent;
  return out;
}

/// Innermost elements that make one result together.
void take_across(LaneWork& work, std::vector<LaneDim>& dims) {
  const auto goes_on = [&](const LaneDim& d) {
    return d.count == 1 && d.slide.kernel > 1 && d.slide.is_whole_axis() && d.a == work.across;
  };
  while (!dims.empty() && goes_on(dims.back())) {
    work.across *= dims.back().slide.extent;
    dims.pop_back();
  }
}

void swap_operands(LaneWork& work) {
  std::swap(work.a_port, work.b_port);
  for (LaneAxis& x : work.axes) std::swap(x.a, x.b);
  if (work.op == LaneArithmetic::sub || work.op == LaneArithmetic::sub_from)
    work.op = work.op == LaneArithmetic::sub ? LaneArithmetic::sub_from : LaneArithmetic::sub;
}

bool is_contiguous(const LaneWork& work) {
  const LaneAxis& last = work.axes.back();
  return last.count == 1 || ((last.a == 1 || (last.a == 0 && !work.has_b())) && last.b <= 1);
}

}  // namespace

std::optional<LaneWork> lane_axes(LaneWork work, std::vector<LaneDim> dims) {
  std::erase_if(dims, [](const LaneDim& d) { return d.count == 1 && d.slide.extent == 1; });
  const bool gathers = work.gather != LaneGather::none;
  std::ranges::stable_sort(dims, [&](const LaneDim& x, const LaneDim& y) {
    return gathers ? x.a > y.a : x.out > y.out;
  });
  if (!is_dense(dims)) return std::nullopt;
  take_across(work, dims);
  for (const LaneDim& d : dims) {
    const LaneAxis axis{d.count, d.a, d.b, d.slide, d.turned};
    if (!work.axes.empty() && are_joinable(work.axes.back(), axis))
      work.axes.back() = joined_lane_axis(work.axes.back(), axis);
    else
      work.axes.push_back(axis);
  }
  if (work.axes.empty()) work.axes.push_back({.count = 1, .a = 1});
  const auto window = [](const LaneAxis& x) { return x.slide.kernel > 1; };
  if (std::ranges::count_if(work.axes, window) > kWindows) return std::nullopt;
  if (work.across > 1) return work;
  const bool turned = std::ranges::any_of(work.axes, &LaneAxis::turned);
  if (work.has_b() && work.axes.back().a != 1 && work.axes.back().b == 1 && !turned)
    swap_operands(work);
  return is_contiguous(work) ? std::optional(work) : std::nullopt;
}

}  // namespace accsim::sim
