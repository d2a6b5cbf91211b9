#pragma once
#include <cstdint>
#include <optional>

#include "sim/lower/lower.h"

namespace accsim::sim {

/// Sub-tensor `inner`, of so many elements, of a tensor that is itself `outer`. nullopt where its
/// rows would be pieces of rows.
std::optional<SubTensor> sub_tensor_within(const SubTensor& inner, const SubTensor& outer,
                                           int64_t elements);

/// Where the box of a move lies in the input (`cut_out`) or the output, in the order of the other
/// side, which it fills with so many elements; its whole is kNoTensor. nullopt where it doesn't, or
/// lies in more than rows of one pitch.
std::optional<SubTensor> moved_sub_tensor(const MemoryOp& op, bool cut_out, int64_t elements);

/// Where a tensor of so many elements lies whose `part` lies at `place`; nullopt where it can't: it
/// would begin before the first element, or its rows are others than those of the place.
std::optional<SubTensor> place_of_whole(const SubTensor& part, const SubTensor& place,
                                        int64_t elements);

}  // namespace accsim::sim
