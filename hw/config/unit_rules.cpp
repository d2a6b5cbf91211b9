#include "hw/config/unit_rules.h"

#include <fmt/core.h>

#include <algorithm>

namespace accsim::hw {
namespace {

/// Is it a machine of units whose file has these fields?
bool has_unit_fields(const RuleContext& c, std::initializer_list<std::string_view> paths) {
  return c.hw.has_side_units() && c.has_read({"vector.template"}) && c.has_read(paths);
}

}  // namespace

void units_stand_beside_dot_products(RuleContext& c) {
  if (has_unit_fields(c, {"array.template"}) && !c.hw.has_dot_products())
    c.fail("vector.template",
           "vector.template is units, which run from DRAM to DRAM beside array.template: "
           "dot_product; use lanes");
}

void set_up_is_part_of_latencies(RuleContext& c) {
  if (!has_unit_fields(c, {"vector.lrn_set_up", "vector.lrn_latency", "vector.lrn_bypass_latency"}))
    return;
  const SideUnits& u = c.hw.vector.units;
  const int64_t least = std::min(u.lrn_latency, u.lrn_bypass_latency);
  if (u.lrn_set_up > least)
    c.fail("vector.lrn_set_up",
           fmt::format("vector.lrn_set_up is {} but LRN's latencies are {} and {}, which it is "
                       "part of; use at most {}",
                       u.lrn_set_up, u.lrn_latency, u.lrn_bypass_latency, least));
}

void units_take_atoms_in_time(RuleContext& c) {
  if (!has_unit_fields(c, {"array.cols", "types.activation", "dram.read_bytes_per_cycle",
                           "dram.write_bytes_per_cycle"}))
    return;
  const SideUnits units = side_units_of(c.hw);
  const auto field =
      std::ranges::find(side_unit_fields(), &SideUnits::request_interval, &SideUnitField::member);
  if (units.request_interval > field->most)
    c.fail("vector.template",
           fmt::format("DRAM takes {} cycles for an atom of {} elements, and vector.template: "
                       "units can wait for {}; use higher rates of DRAM",
                       units.request_interval, units.atom_elements, field->most));
}

}  // namespace accsim::hw
