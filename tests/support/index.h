#pragma once
#include <cstddef>
#include <cstdint>

namespace accsim::test {

/// An offset or count as the index of an element.
inline size_t as_index(int64_t i) { return static_cast<size_t>(i); }

}  // namespace accsim::test
