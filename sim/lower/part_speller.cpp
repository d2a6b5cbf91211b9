#include "sim/lower/part_speller.h"

#include "sim/operators/names.h"

namespace accsim::sim {

TensorId PartSpeller::add_slice(const std::string& part, TensorId of, int64_t dim, int64_t from,
                                int64_t count) {
  Dims to = dims(of);
  if (from == 0 && to[static_cast<size_t>(dim)] == count) return of;
  to[static_cast<size_t>(dim)] = count;
  return add(op::kSlice, part,
             {of, add_number(part + "_first", from), add_number(part + "_last", from + count),
              add_number(part + "_dim", dim)},
             std::move(to));
}

TensorId PartSpeller::add_reshape(const std::string& part, TensorId of, Dims to) {
  if (dims(of) == to) return of;
  return reshaped(graph_, of, std::move(to), node_.name + "/" + part);
}

}  // namespace accsim::sim
