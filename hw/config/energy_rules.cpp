#include "hw/config/energy_rules.h"

#include <fmt/core.h>

#include "hw/config/derive.h"
#include "hw/config/fields.h"
#include "hw/config/mode_list.h"

namespace accsim::hw {

/// Of a file's keys that are missing without a technology the reader has told.
void energies_are_known(RuleContext& c) {
  if (!c.has_read({"energy.technology"})) return;
  const bool technology = c.hw.energy.technology != Technology::custom;
  const bool kind =
      !c.has_read({"dram.model", "energy.dram"}) || dram_kind(c.hw) != DramKind::custom;
  for (const Field& field : fields()) {
    if (!is_derived(field, c.hw)) continue;
    if (!technology && c.has_read({field.path}))
      c.fail(
          field.path,
          fmt::format(
              "{} is missing, and without energy.technology it follows from nothing; give it, or "
              "name a technology",
              field.path));
    if (technology && !kind && field.path.starts_with("energy.dram_"))
      c.fail(
          "energy.technology",
          fmt::format(
              "{} is missing, and a technology says nothing of an ideal DRAM; give it, or name the "
              "kind in energy.dram",
              field.path));
  }
}

void modes_have_energies(RuleContext& c) {
  if (!c.has_read({"types.modes", "energy.technology"})) return;
  if (c.hw.energy.technology != Technology::custom) return;
  for (size_t i = 0; i < c.hw.types.modes.size(); ++i) {
    if (c.hw.types.modes[i].mac.given) continue;
    const std::string path = mode_path(i);
    c.fail(c.has_read({path}) ? path : "types.modes",
           fmt::format("missing key \"mac_pj\" in {} (number, pJ: one multiply-accumulate); it may "
                       "be left out where energy.technology names one",
                       path));
  }
}

void dram_has_one_kind(RuleContext& c) {
  if (!c.has_read({"dram.model", "energy.dram", "energy.technology"})) return;
  const EnergyConfig& e = c.hw.energy;
  if (e.dram == DramKind::custom) return;
  if (c.hw.dram_model == DramModel::banked)
    c.fail("energy.dram",
           fmt::format("energy.dram is {}, but a banked DRAM's kind is its dram.preset; remove it",
                       name(e.dram)));
  else if (e.technology == Technology::custom)
    c.fail("energy.dram",
           fmt::format("energy.dram is {}, but without energy.technology nothing follows from it; "
                       "remove it, or name a technology",
                       name(e.dram)));
}

}  // namespace accsim::hw
