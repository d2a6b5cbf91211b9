#pragma once
#include <vector>

#include "hw/golden/row_math.h"
#include "sim/cost/cost.h"
#include "sim/quantise/calibration.h"
#include "sim/quantise/function_table.h"

namespace accsim::sim {

/// Scale and zero point of every tensor of floats of a network that is int8 from end to end: the
/// range of the calibration in 255 steps, a zero point where 0 is. Tensors that have to have the
/// same codes share them: a view and what it shows, what is moved, what the largest of a window is
/// taken of. Operands that a product can't take a zero point of are symmetric. Scales and zero
/// points that the file states (Tensor::quantisation) are taken instead.
class TensorScales {
 public:
  /// Errors: a function that can't be computed.
  static Result<TensorScales> make(const Graph& graph, const CostedNetwork& network,
                                   const hw::HwConfig& hw, const Calibration& calibration,
                                   const Constants& constants);

  const hw::ElementScale& scale_of(TensorId id) const { return scales_[static_cast<size_t>(id)]; }

 private:
  std::vector<hw::ElementScale> scales_;  ///< by tensor id
};

/// 255 steps over a range, the zero point where 0 is; `symmetric`: 127 steps to either side.
hw::ElementScale element_scale(const ValueRange& range, bool symmetric);
/// The nearest code, within -128 .. 127.
int8_t code_of(double value, const hw::ElementScale& scale);

/// How far below others a mask has to put logits of such a range to take them away.
double mask_reach(const ValueRange& logits);
/// The input that a port of a layer's work reads: itself, or what it is a copy of; -1: none.
int input_of(const Layer& layer, ValuePort port);
/// The operand of the sum with a residual that the layer's product itself makes; kNoTensor: none.
TensorId addend_of(const Graph& graph, const Lowered& lowered, size_t layer);

}  // namespace accsim::sim
