#pragma once
#include <unordered_map>
#include <vector>

#include "sim/lower/lower.h"

namespace accsim::sim {

/// From one input of the node to one of its outputs, none of them a value within its work?
bool is_move(const MemoryOp& op);
/// What a move reads.
inline TensorId source_of(const Layer& l, const MemoryOp& op) {
  return l.inputs[op.inputs[0].port.index()];
}
/// What a move writes.
inline TensorId target_of(const Layer& l, const MemoryOp& op) {
  return l.outputs[op.outputs[0].port.index()];
}

/// Items of layers' work by the tensors that they move; of one layer at a time those that are left
/// out, because what they move lies where they would take it.
class LayerMoves {
 public:
  /// Items of a layer's work that may read or write a tensor.
  std::vector<size_t> items_of(const Layer& l, TensorId id);

  void begin_to_leave_out(const Layer& l);
  /// Of the layer of begin_to_leave_out().
  void leave_out(size_t item, bool out = true) { left_out_[item] = out; }
  bool is_left_out(const Layer& l, size_t item) const {
    return &l == leaving_out_ && left_out_[item];
  }
  /// Items that are left out are no work of the layer's any more.
  void erase_left_out(Layer& l);

 private:
  /// Items of a layer's work: moves by tensor, and all others.
  struct Items {
    std::unordered_map<TensorId, std::vector<size_t>> moves;
    std::vector<size_t> others;
  };
  const Items& index_of(const Layer& l);

  std::vector<bool> left_out_;  ///< by item of the work of ...
  const Layer* leaving_out_ = nullptr;
  std::unordered_map<const Layer*, Items> items_;
};

}  // namespace accsim::sim
