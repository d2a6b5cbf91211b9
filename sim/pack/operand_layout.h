#pragma once
#include <cstdint>
#include <vector>

#include "hw/golden/golden.h"
#include "sim/map/product/gemm_problem.h"

namespace accsim::sim {

/// The operands of a GemmOp as a mathematician writes them, whatever the program wants them to be.
/// For an int8 machine.
struct GemmOperands {
  /// Grouped or convolution: [images][depth][height][width][channels of all groups]; products:
  /// [batch][M][K], without the batch when it is shared.
  std::vector<int8_t> a;
  /// [batch or groups][kernel z][y][x][channel][output], without the batch when it is shared; of a
  /// problem with weights of 4 bits within -8 .. 7.
  std::vector<int8_t> weights;
  struct Channel {
    int32_t bias = 0, multiplier = 1, shift = 0;
    bool operator==(const Channel&) const = default;
  };
  std::vector<Channel> channels;  ///< per output channel, those of all groups
  /// What the post unit adds, in the order of the output; of a problem with a residual.
  std::vector<int8_t> residual;
  /// Of each scale but the first (GemmProblem::scale_count()) the multiplier of each output
  /// channel.
  std::vector<int16_t> scales;
  /// Of a problem with a table: entry v + 128 of the int8 v.
  std::vector<int8_t> table;
};

/// Elements that GemmOperands::a and ::weights must have.
int64_t logical_a(const GemmOp& op);
/// Elements of the weights, of all batches or groups.
int64_t logical_weights(const GemmOp& op);

/// The problem with operands that are no parts of other tensors, as pack_operands() lays them out:
/// that of a product that stands alone.
GemmProblem without_pitches(GemmProblem p);

/// The memory image of emit(p, hw, t) with the operands where that program reads them: constant
/// weights in the order of its tile loops, of packed groups the blocks of the diagonal. The output
/// is zero.
/// Precondition: the operands have their sizes.
hw::MemoryImage pack_operands(const GemmProblem& p, const hw::HwConfig& hw,
                              const ProductTiling& tiling, const GemmOperands& operands);

/// The output tensor as [images][depth][height][width][outputs of all groups], or [batch][M][N].
std::vector<int8_t> unpack_output(const hw::MemoryImage& image);

}  // namespace accsim::sim
