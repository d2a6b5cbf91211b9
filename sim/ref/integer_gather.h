#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "sim/work/work.h"

namespace accsim::sim::ref {

/// Operands of PickedRows, as they lie in memory.
struct IntegerGather {
  sim::PickedRows rows;
  int64_t element_bytes = 1;
  int64_t index_bytes = 4;  ///< of an index, little-endian; its lower 32 bits count, without a sign
  std::span<const int8_t> data, indices;
};

/// The rows that the indices pick, one behind the other.
std::vector<int8_t> integer_rows_picked(const IntegerGather& p);

}  // namespace accsim::sim::ref
