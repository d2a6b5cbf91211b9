#include "hw/cosim/gemm_operands.h"

#include <fmt/format.h>

#include <algorithm>

#include "hw/cosim/descriptors.h"
#include "hw/cosim/rtl_layout.h"
#include "hw/program/contract.h"

namespace accsim::hw {

static_assert(contract::kWindowLines == rtl::kWindowLines);
static_assert(rtl::gemm_cmd::kWindow + rtl::window::kWords == rtl::gemm_cmd::kBlocks);
static_assert(rtl::gemm_cmd::kBlocks + rtl::blocks::kWords == rtl::gemm_cmd::kWords);

void put_window(DescriptorWords& d, const OperandWindow& v, int64_t k,
                std::span<const int64_t> indices) {
  namespace at = rtl::window;
  const int64_t line = v.tile[2] * v.pixel, plane = v.tile[1] * line;
  const int64_t offset = evaluate(v.offset, indices);
  const int64_t first_line = offset / v.line, in_line = offset % v.line;
  const int64_t first = evaluate(v.first, indices), lines = first / v.count[2];
  const int64_t z = evaluate(v.origin[0], indices) + lines / v.count[1] * v.stride[0];
  const int64_t y = evaluate(v.origin[1], indices) + first_line * v.line_step;
  const int64_t x = evaluate(v.origin[2], indices) * v.pixel + in_line;
  const auto seg_end = [&](size_t s) {
    return std::min(k, (static_cast<int64_t>(s) + 1) * v.line - in_line);
  };
  if (seg_end(rtl::kWindowLines - 1) < k)
    return d.refuse(fmt::format("{} bytes of {}-byte kernel lines; the core reads {} lines a cycle",
                                k, v.line, rtl::kWindowLines));
  constexpr size_t kWindow = rtl::gemm_cmd::kWindow;
  const auto number = [&](size_t field, int64_t value, std::string_view what) {
    d.put_number(kWindow + field, value, what);
  };
  const auto address = [&](size_t field, int64_t value) { d.put_wrapped(kWindow + field, value); };
  const int64_t step_x = v.stride[2] * v.pixel, step_y = v.stride[1];
  const int64_t width = (v.count[2] - 1) * step_x, height = (v.count[1] - 1) * step_y;
  const int64_t first_x = x + first % v.count[2] * step_x;
  const int64_t first_y = y + lines % v.count[1] * step_y;
  address(at::kStartAddr, z * plane + first_y * line + first_x);
  number(at::kFirstX, first_x, "first byte of a line");
  number(at::kFirstY, first_y, "first line");
  number(at::kStartX, x, "byte of a line");
  number(at::kStartY, y, "line");
  number(at::kStartZ, z, "plane");
  number(at::kTileLine, line, "bytes of a tile's line");
  number(at::kTileHeight, v.tile[1], "lines of a tile");
  number(at::kTileDepth, v.tile[0], "planes of a tile");
  number(at::kLastX, x + width, "last byte of a line");
  number(at::kLastY, y + height, "last line");
  d.put_stride(kWindow + at::kStepX, v.count[2], step_x, "step along a line");
  d.put_stride(kWindow + at::kStepY, v.count[1], step_y, "step to a line");
  address(at::kStepYAddr, step_y * line - width);
  d.put_stride(kWindow + at::kStepZ, v.count[0], v.stride[0], "step to a plane");
  address(at::kStepZAddr, v.stride[0] * plane - height * line - width);
  number(at::kSegYStep, v.line_step, "lines between kernel lines");
  number(at::kSegXStep, -v.line, "bytes of a kernel line");
  address(at::kSegAddrStep, v.line_step * line - v.line);
  for (size_t s = 0; s < rtl::kWindowLines; ++s)
    number(at::kSegEnd + s, seg_end(s), "end of a kernel line");
  number(at::kPad, v.pad_value, "padding");
}

int64_t put_blocks(DescriptorWords& d, const WeightTile& t, int64_t first_k, bool turned) {
  namespace at = rtl::blocks;
  const int64_t round = t.groups * t.group_k;
  const auto set = [&](size_t field, int64_t value) {
    d.put_count(rtl::gemm_cmd::kBlocks + field, value, "packed groups");
  };
  set(at::kGroups, t.groups);
  set(at::kGroupK, t.group_k);
  set(at::kGroupN, t.group_n);
  set(at::kFirstGroup, first_k / t.group_k % t.groups);
  set(at::kFirstInGroup, first_k % t.group_k);
  set(at::kRowsBefore, turned ? first_k % round : 0);
  return turned ? first_k / round * t.group_k : 0;
}

}  // namespace accsim::hw
