#pragma once
#include <cstdint>
#include <vector>

#include "hw/dot_product/layer_timing.h"

namespace accsim::hw {

/// A convolution before its buffer is divided. What its lines need cuts it, where the features
/// don't fit.
struct Convolution {
  ConvolutionSizes sizes;
  int64_t stride = 1;  ///< lines from an output's to the next one's
  int64_t reach = 1;   ///< lines from a kernel's first tap to its last, both included
  int64_t pad = 0;     ///< lines above the first
};

/// The convolution as layers of the machine with these banks, in order: one where its features fit,
/// parts of all lines that fit otherwise. Errc::capacity: the lines of one output don't fit,
/// or there are more than kMostParts.
/// The engine must have passed check_engine(). Which weights stay is for keep_weights() to say.
Result<std::vector<DotProductLayer>> cut_by_lines(const Convolution& conv, BankDivision banks,
                                                  const DotProductEngine& engine);

/// Parts of a convolution: the timing takes them one by one.
inline constexpr int64_t kMostParts = 1 << 16;

/// Lets the first of several parts read the weights for all, where all of them fit.
void keep_weights(std::vector<DotProductLayer>& parts, const DotProductEngine& engine);

/// The division of NVIDIA's compiler (section "Division of the buffer"): whole weights, two groups
/// or one, whichever first fits beside all features; else beside lines, in at most
/// kSplitWeightBanks. Errc::capacity: a group needs more.
Result<BankDivision> compiler_division(const Convolution& conv, const DotProductEngine& engine);
inline constexpr int64_t kSplitWeightBanks = 8;

/// A division, the layers that it makes of a convolution, and their cycles to the last write.
struct ConvolutionPlan {
  BankDivision banks;
  std::vector<DotProductLayer> layers;
  Cycles cycles;
  int64_t read_wait = 0;  ///< of these, cycles by which blocks began later because of reads
};

/// Whether parts of a convolution read the weights anew, where the first could keep them for all.
enum class PartWeights : bool { kept, read };

/// A convolution with a division that is given. Parts overlap, with the weights kept where they
/// fit, unless they are to be read.
Result<ConvolutionPlan> divide(const Convolution& conv, BankDivision banks,
                               const DotProductEngine& engine,
                               PartWeights weights = PartWeights::kept);

/// The division of the fewest cycles of those that are tried; of those with as many, the first.
/// Every number of banks for weights is tried that leaves features one, but none beyond those that
/// hold all weights: fewest first, each with all banks that features can use of the others. Then,
/// beside the best number for weights, every smaller number for features. Errc::capacity: nothing
/// fits.
Result<ConvolutionPlan> search_division(const Convolution& conv, const DotProductEngine& engine);

}  // namespace accsim::hw
