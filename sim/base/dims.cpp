#include "sim/base/dims.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "sim/base/check.h"

namespace accsim {

std::optional<int64_t> checked_elements(const Dims& dims) {
  constexpr int64_t kMost = int64_t{1} << 62;
  int64_t product = 1;
  bool empty = false;
  for (int64_t d : dims) {
    if (d < 0) return std::nullopt;
    if (d == 0) empty = true;
    if (d != 0 && (__builtin_mul_overflow(product, d, &product) || product > kMost))
      return std::nullopt;
  }
  return empty ? 0 : product;
}

int64_t elements(const Dims& dims) { return elements(dims, 0, dims.size()); }

int64_t elements(const Dims& dims, size_t from, size_t to) {
  int64_t product = 1;
  for (size_t i = from; i < to; ++i)
    check(!__builtin_mul_overflow(product, dims[i], &product), "element count overflow");
  return product;
}

std::string to_string(const Dims& dims) {
  return dims.empty() ? "scalar" : fmt::format("{}", fmt::join(dims, "x"));
}

std::optional<Dims> broadcast_dims(const Dims& a, const Dims& b) {
  Dims out(std::max(a.size(), b.size()));
  for (size_t i = 0; i < out.size(); ++i) {
    const int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    if (x != y && x != 1 && y != 1) return std::nullopt;
    out[out.size() - 1 - i] = x == 1 ? y : x;
  }
  return out;
}

}  // namespace accsim
