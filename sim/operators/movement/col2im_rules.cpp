#include <fmt/format.h>

#include "sim/operators/movement/movement_rules.h"
#include "sim/operators/rules.h"
#include "sim/operators/work_counts.h"

namespace accsim::sim {

Status col2im_shape(InferContext& node) {
  if (Status s = want_rank(node, 0, 3); !s) return s;
  const Result<std::vector<int64_t>> image =
      need_integers(node, 1, "image_shape", "the output shape");
  if (!image) return image.errors();
  const Result<std::vector<int64_t>> block = need_integers(node, 2, "block_shape", "output dim 1");
  if (!block) return block.errors();
  if (image->size() != block->size() || image->empty())
    return bad_node(node, "image_shape and block_shape must be of one length");
  const std::optional<int64_t> area = checked_elements(*block);
  if (!area || *area == 0 || node.dims(0)[1] % *area != 0)
    return bad_node(node, fmt::format("input dim 1 of {} isn't a multiple of a block of {}",
                                      node.dims(0)[1], to_string(*block)));
  Dims dims{node.dims(0)[0], node.dims(0)[1] / *area};
  dims.insert(dims.end(), image->begin(), image->end());
  return set_shape(node, 0, node.dtype(0), std::move(dims));
}

/// Every input element is added to one output element.
Result<Work> col2im_cost(const NodeView& node) {
  if (Status s = check_countable(node); !s) return s.errors();
  VectorOp op;
  read_input(node, 0, op.inputs);
  write_output(node, 0, op.outputs);
  op[VectorClass::reduce] = elements(node.dims(0));
  return Work{std::move(op)};
}

}  // namespace accsim::sim
