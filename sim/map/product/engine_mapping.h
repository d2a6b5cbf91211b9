#pragma once
#include "hw/dot_product/division.h"
#include "sim/map/mapping.h"
#include "sim/map/pin.h"

namespace accsim::sim {

/// A product as layers of an engine of dot products, which run one by one.
struct EngineLayers {
  hw::Convolution convolution;
  int64_t times = 1;  ///< equal ones
  /// Parts that a convolution's channels are cut into, where a kernel group of all is too large:
  /// sums of a part leave and come back (docs/dot-product.md, "On a machine").
  int64_t channel_parts = 1;
  bool leaves_sums = false;   ///< instead of results: the next part adds to them
  int64_t column_stride = 1;  ///< columns from an output's to the next one's
  int64_t column_reach = 1;   ///< columns from a kernel's first tap to its last, both included
};

/// The layers where `together` groups (1 to op.batch) are one convolution, block-diagonal, with
/// zeros between them: those of as many groups first, then the rest. Of other batches 1.
std::vector<EngineLayers> engine_layers(const GemmOp& op, int64_t together);

/// A machine of dot products, and how the banks of its engine are divided.
struct DotProductMachine {
  const hw::HwConfig& hw;
  bool is_searching = true;  ///< for the fewest cycles; else as NVIDIA's compiler does
};

/// A product on a machine that has_dot_products(): groups put together, and a division of the
/// banks, of the fewest cycles; `pin` may say the division. It has no program. Errors:
/// Errc::capacity where nothing fits, Errc::overflow, Errc::usage of pins that engines don't have.
Result<Mapping> map_on_engine(const GemmOp& op, const OpRequest& r, const MappingPin& pin,
                              const DotProductMachine& machine);

}  // namespace accsim::sim
