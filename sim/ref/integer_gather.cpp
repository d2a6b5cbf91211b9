#include "sim/ref/integer_gather.h"

#include <algorithm>

namespace accsim::sim::ref {

std::vector<int8_t> integer_rows_picked(const IntegerGather& p) {
  std::vector<int8_t> out;
  const int64_t row = p.rows.row * p.element_bytes;
  for (int64_t group = 0; group < p.rows.groups; ++group)
    for (int64_t item = 0; item < p.rows.count; ++item) {
      const int64_t i = group % p.rows.lists * p.rows.count + item;
      uint32_t index = 0;
      for (size_t byte = 0; byte < sizeof(index); ++byte) {
        const auto at = static_cast<size_t>(i * p.index_bytes) + byte;
        index |= static_cast<uint32_t>(static_cast<uint8_t>(p.indices[at])) << (8 * byte);
      }
      const int64_t picked = std::min<int64_t>(index, p.rows.rows - 1);
      const auto from = p.data.subspan(static_cast<size_t>((group * p.rows.rows + picked) * row),
                                       static_cast<size_t>(row));
      out.insert(out.end(), from.begin(), from.end());
    }
  return out;
}

}  // namespace accsim::sim::ref
