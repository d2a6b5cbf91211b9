#include "sim/elaborate/budget.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "sim/operators/fold.h"

namespace accsim::sim {

Status Budget::take_step() {
  if (++steps_ <= kMostSteps) return ok();
  return Error{Errc::capacity,
               fmt::format("expanding loops and functions gives more than {} nodes", kMostSteps),
               ""};
}

Result<Budget::Level> Budget::descend() {
  if (depth_ >= kMostNested)
    return Error{Errc::capacity, fmt::format("is nested more than {} deep", kMostNested), ""};
  return Level(depth_);
}

Status Budget::take_tensor(const Tensor& tensor) {
  const std::optional<int64_t> count = checked_elements(tensor.dims);
  // An element has at most 16 bytes: below that many elements their bytes fit 64 bits.
  const bool fits = count && *count <= kMostBytes / 16 &&
                    storage_bytes(tensor.dtype, *count) <= kMostBytes - bytes_;
  if (!fits) {
    const bool negative = std::ranges::any_of(tensor.dims, [](int64_t dim) { return dim < 0; });
    return Error{negative ? Errc::invalid : Errc::overflow,
                 fmt::format("tensor '{}' would be {} of {}: {}", tensor.name,
                             to_string(tensor.dims), name(tensor.dtype),
                             negative ? "a dim is negative"
                                      : "more bytes than can be counted; check the shapes"),
                 ""};
  }
  bytes_ += storage_bytes(tensor.dtype, *count);
  return ok();
}

bool Budget::affords_values(DType dtype, int64_t count) const {
  const int64_t most = is_float(dtype) ? kMostFoldedReals : kMostFolded;
  return dtype != DType::string && count <= most && count <= kMostValues - values_;
}

}  // namespace accsim::sim
