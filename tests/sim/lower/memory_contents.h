#pragma once
#include <vector>

#include "sim/work/work.h"
#include "tests/support/index.h"

namespace accsim::test {

/// Row-major indices of a tensor's elements in the order in which they lie in memory, by what a
/// layout is: nested loops over its axes.
inline std::vector<int64_t> contents(const std::vector<sim::MoveAxis>& layout) {
  std::vector<int64_t> out{0};
  for (const auto& [count, stride] : layout) {
    std::vector<int64_t> next;
    for (const int64_t base : out)
      for (int64_t i = 0; i < count; ++i) next.push_back(base + i * stride);
    out = std::move(next);
  }
  return out;
}

/// What a move with these axes makes of a memory.
inline std::vector<int64_t> moved(const std::vector<int64_t>& memory,
                                  const std::vector<sim::MoveAxis>& axes) {
  std::vector<int64_t> out;
  for (const int64_t from : contents(axes)) out.push_back(memory.at(as_index(from)));
  return out;
}

/// Row-major index in a tensor of `dims` of element n of its transpose by `perm`.
inline int64_t before_transpose(int64_t n, const std::vector<int64_t>& dims,
                                const std::vector<int64_t>& perm) {
  std::vector<int64_t> at(dims.size());
  for (size_t k = perm.size(); k-- > 0;) {
    const size_t axis = as_index(perm[k]);
    at[axis] = n % dims[axis];
    n /= dims[axis];
  }
  int64_t from = 0;
  for (size_t i = 0; i < dims.size(); ++i) from = from * dims[i] + at[i];
  return from;
}

}  // namespace accsim::test
