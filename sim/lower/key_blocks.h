#pragma once
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/lower/rebuilt_graph.h"
#include "sim/work/op_space.h"

namespace accsim::sim {

/// Tensors of a graph cut into blocks of about as many keys each, along the axis of theirs that
/// keys are. What only shows or repeats another one is cut there, so that products still find whose
/// matrices they are; other tensors are split.
class KeyBlocks {
 public:
  /// A tensor for each block.
  using Blocks = std::vector<TensorId>;

  explicit KeyBlocks(RebuiltGraph& graph) : graph_(graph) {}

  /// From now on it is about so many keys, in blocks of about `each`.
  void begin_keys(int64_t keys, int64_t each);
  size_t count() const { return ranges_.size(); }
  /// The keys of block `b`.
  const DimRange& keys_of(size_t b) const { return ranges_[b]; }

  /// The blocks of a tensor along an axis of keys; they are made once.
  const Blocks& blocks_along(TensorId id, size_t axis);
  /// A tensor of these dims for block `b` of another one.
  TensorId add_block(TensorId of, size_t b, Dims dims);
  /// A tensor for block `b` of another one along an axis.
  TensorId add_block_along(TensorId of, size_t axis, size_t b) {
    return add_block(of, b, block_dims(of, axis, b));
  }
  /// Of what is made of something of that name for block `b`.
  std::string block_name(const std::string& of, size_t b) const;

 private:
  /// A node that only shows or repeats its first input: the axis of that which is its result's.
  struct Shown {
    TensorId id;
    size_t axis, in;
  };

  Dims block_dims(TensorId id, size_t axis, size_t b) const;
  Blocks split_into_blocks(TensorId id, size_t axis);
  /// The axis that its maker's input has in the place of this one; nullopt where that does more
  /// than show or repeat it.
  std::optional<size_t> axis_of_input(TensorId id, size_t axis) const;
  /// The same node for each block, of the blocks of its input; a Reshape where it has other dims.
  Blocks cut_shown(const Shown& shown, const Blocks& from);

  RebuiltGraph& graph_;
  std::vector<DimRange> ranges_;  ///< of keys, by block
  /// By tensor and axis; how long that is says what the blocks are.
  std::map<std::pair<TensorId, size_t>, Blocks> blocks_;
};

}  // namespace accsim::sim
