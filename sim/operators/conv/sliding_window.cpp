#include "sim/operators/conv/sliding_window.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/operators/rules.h"
#include "sim/operators/work_counts.h"

namespace accsim::sim {
namespace {

/// No kernel, stride, dilation or pad of a real model comes near; below it nothing overflows.
constexpr int64_t kMostAttr = int64_t{1} << 30;

Status check_list(const NodeView& node, std::string_view name, const std::vector<int64_t>& list,
                  size_t size, int64_t least) {
  if (list.size() != size)
    return bad_node(
        node, fmt::format("attribute '{}' must have {} entries, not {}", name, size, list.size()));
  for (int64_t v : list)
    if (v < least || v > kMostAttr)
      return bad_node(node, fmt::format("attribute '{}' has entry {}, outside {} to {}", name, v,
                                        least, kMostAttr));
  return ok();
}

/// Windows along one dim whose padding is known.
int64_t window_count(int64_t in, int64_t before, int64_t after, int64_t extent, int64_t stride,
                     bool ceil_mode) {
  const int64_t room = in + before + after - extent;
  int64_t count = room / stride + 1;
  if (!ceil_mode || room % stride == 0) return count;
  // The partial window would start at count * stride of the padded input.
  return count * stride < in + before ? count + 1 : count;
}

}  // namespace

Dims SlidingWindow::out_dims() const {
  return Dims(out.end() - static_cast<ptrdiff_t>(rank), out.end());
}

int64_t SlidingWindow::tap_count() const {
  return capped_product({kernel[0], kernel[1], kernel[2]});
}

Status want_spatial(const NodeView& node, size_t rank) {
  if (rank >= 1 && rank <= 3) return ok();
  if (rank > 3)
    return unsupported_node(node,
                            fmt::format("{} spatial dims; at most 3 (depth, height, width) can be "
                                        "costed",
                                        rank));
  return bad_node(node, "the input needs a batch, a channel and at least one spatial dim");
}

Result<Dims> kernel_shape(const NodeView& node, size_t rank) {
  const std::optional<std::vector<int64_t>> kernel = node.attr_ints("kernel_shape");
  if (!kernel) return bad_node(node, "attribute 'kernel_shape' is missing");
  if (Status s = check_list(node, "kernel_shape", *kernel, rank, 1); !s) return s.errors();
  return *kernel;
}

Result<WindowAttrs> window_attrs(const NodeView& node, size_t rank) {
  WindowAttrs attrs;
  attrs.strides = node.attr("strides", std::vector<int64_t>(rank, 1));
  attrs.dilations = node.attr("dilations", std::vector<int64_t>(rank, 1));
  attrs.auto_pad = node.attr("auto_pad", "NOTSET");
  if (attrs.auto_pad.empty()) attrs.auto_pad = "NOTSET";
  std::vector<int64_t> pads = node.attr("pads", std::vector<int64_t>(2 * rank, 0));
  if (Status s = check_list(node, "strides", attrs.strides, rank, 1); !s) return s.errors();
  if (Status s = check_list(node, "dilations", attrs.dilations, rank, 1); !s) return s.errors();
  if (attrs.auto_pad != "NOTSET" && attrs.auto_pad != "VALID" && attrs.auto_pad != "SAME_UPPER" &&
      attrs.auto_pad != "SAME_LOWER")
    return bad_node(node, fmt::format("attribute 'auto_pad' is '{}', not NOTSET, VALID, "
                                      "SAME_UPPER or SAME_LOWER",
                                      attrs.auto_pad));
  // Exporters leave stale pads beside an auto_pad, which decides.
  if (attrs.auto_pad != "NOTSET") pads.assign(2 * rank, 0);
  if (Status s = check_list(node, "pads", pads, 2 * rank, 0); !s) return s.errors();
  const auto middle = pads.begin() + static_cast<ptrdiff_t>(rank);
  attrs.before.assign(pads.begin(), middle);
  attrs.after.assign(middle, pads.end());
  return attrs;
}

Result<SlidingWindow> slide_window(const NodeView& node, const Dims& spatial, const Dims& kernel,
                                   bool ceil_mode) {
  if (Status s = want_spatial(node, spatial.size()); !s) return s.errors();
  const Result<WindowAttrs> attrs = window_attrs(node, spatial.size());
  if (!attrs) return attrs.errors();
  if (Status s = check_list(node, "kernel_shape", kernel, spatial.size(), 1); !s) return s.errors();
  SlidingWindow w;
  w.rank = spatial.size();
  for (size_t d = 0; d < w.rank; ++d) {
    const size_t at = 3 - w.rank + d;
    const int64_t in = spatial[d], stride = attrs->strides[d];
    const int64_t extent = dilated_extent(kernel[d], attrs->dilations[d]);
    w.in[at] = in;
    w.kernel[at] = kernel[d];
    w.stride[at] = stride;
    w.dilation[at] = attrs->dilations[d];
    w.pad[at] = attrs->before[d];
    if (attrs->has_same_padding()) {
      w.out[at] = ceil_div(in, stride);
      const int64_t total = std::max<int64_t>(0, (w.out[at] - 1) * stride + extent - in);
      w.pad[at] = attrs->auto_pad == "SAME_UPPER" ? total / 2 : total - total / 2;
      continue;
    }
    if (in + attrs->before[d] + attrs->after[d] < extent)
      return bad_node(node, fmt::format("the kernel covers {} along spatial dim {}, but the padded "
                                        "input has only {}",
                                        extent, d, in + attrs->before[d] + attrs->after[d]));
    w.out[at] = window_count(in, attrs->before[d], attrs->after[d], extent, stride, ceil_mode);
    if (in == 0 && w.out[at] > 0)
      return bad_node(node,
                      fmt::format("the input has nothing but padding along spatial dim {}", d));
  }
  return w;
}

}  // namespace accsim::sim
