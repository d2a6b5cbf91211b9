#pragma once
#include <array>
#include <cstdint>

#include "hw/dot_product/engine_fields.h"

namespace accsim::hw {

/// A convolution's sizes, in elements. Strides, pads and dilations matter by the output's size.
struct ConvolutionSizes {
  int64_t width = 1, height = 1, channels = 1;  ///< of the input
  int64_t kernels = 1;                          ///< output channels
  int64_t kernel_width = 1, kernel_height = 1;  ///< taps
  int64_t out_width = 1, out_height = 1;        ///< of the output

  bool operator==(const ConvolutionSizes&) const = default;
};

/// How many banks of the buffer hold features, and how many weights.
struct BankDivision {
  int64_t features = 1, weights = 1;

  bool operator==(const BankDivision&) const = default;
};

/// A layer as the engine runs it: all its features are in the buffer (docs/dot-product.md,
/// "Layer").
struct DotProductLayer {
  ConvolutionSizes sizes;
  BankDivision banks;
  bool keeps_weights = false;  ///< they stay in the buffer, for the next layer
  bool has_weights = false;    ///< the layer before has kept them

  bool operator==(const DotProductLayer&) const = default;
};

/// Stripes in a row that have the same number of outputs.
struct StripeRun {
  int64_t outputs = 0, number = 0;

  bool operator==(const StripeRun&) const = default;
};

/// What a layer is cut into: kernel groups, each of them of stripes, each of them of blocks.
struct DotProductWork {
  int64_t blocks = 0;                  ///< per stripe: channel blocks x kernel rows x columns
  std::array<StripeRun, 3> stripes{};  ///< of a group, in order; runs may have no stripe
  int64_t groups = 0;                  ///< kernel groups
  int64_t last_kernels = 0;            ///< kernels of the last group
  int64_t feature_entries = 0;         ///< entries of the buffer, read once
  int64_t weight_entries = 0;          ///< the same of all weights, padding included
  int64_t group_bytes = 0;             ///< bytes of weights of a group, but for the last

  /// Kernels of a group, counted from 0.
  int64_t kernels(int64_t group, const DotProductEngine& engine) const {
    return group + 1 < groups ? engine.atom_kernels : last_kernels;
  }
  /// Entries of weights, from the layer's first, that must have come before a group can begin.
  int64_t needed(int64_t group, const DotProductEngine& engine) const;
};

/// The stripes that so many outputs (> 0) are cut into.
std::array<StripeRun, 3> cut_stripes(int64_t outputs, const DotProductEngine& engine);

/// Entries of weights that may have been asked for when `freed` of the layer's entries are free: in
/// whole bursts, but all `total` once they fit (section "Reads", rule 3). `freed` is negative while
/// entries of the layer before are in the way.
int64_t allowed_entries(int64_t weight_banks, int64_t freed, int64_t total,
                        const DotProductEngine& engine);

/// Cuts a layer. Errc::invalid: a size isn't positive. Errc::capacity: features or the weights of a
/// group don't fit into their banks, a stripe has more outputs than there are places, or there are
/// more than kMostGroups groups. Errc::overflow: bytes or cycles leave 64 bits. The engine must
/// have passed check_engine().
Result<DotProductWork> cut_layer(const DotProductLayer& layer, const DotProductEngine& engine);

/// Kernel groups of one layer: the timing takes them one by one.
inline constexpr int64_t kMostGroups = 1 << 20;

}  // namespace accsim::hw
