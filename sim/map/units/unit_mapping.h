#pragma once
#include <optional>

#include "sim/map/mapping.h"
#include "sim/map/pin.h"

namespace accsim::sim {

/// Why golden and the RTL core don't run what the units do.
inline constexpr std::string_view kUnitsAlone = "units for pooling, LRN and point-wise layers";
/// Why lanes do what the units could do in other shapes: kernels, strides, sizes, stages.
inline constexpr std::string_view kBeyondUnits = "on lanes: shapes beyond the units";

/// A vector op on a machine that has_side_units(), as layers that run one by one from DRAM to DRAM,
/// by the rules of docs/dot-product.md. It has no program. Nothing where the units don't do all of
/// it, or don't have its shape. `pin` may say strips, stages and a bypass. Errors: Errc::overflow;
/// where it is pinned, what time_pooling(), time_lrn() and time_point() refuse.
Result<std::optional<Mapping>> map_on_units(const VectorOp& op, const OpRequest& r,
                                            const MappingPin& pin, const hw::HwConfig& hw);

/// Why lanes do the op of a machine that has units: what these lack. Precondition: map_on_units()
/// gave nothing.
std::string_view lack_of_units(const OpRequest& r);

/// Cycles in which the units take the elements of some work: never more than it takes.
int64_t least_unit_cycles(const UnitWork& work, const hw::SideUnits& units);

}  // namespace accsim::sim
