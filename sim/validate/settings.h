#pragma once
#include <vector>

#include "hw/config/fields.h"
#include "hw/config/yaml_tree.h"
#include "sim/sweep/spec_values.h"
#include "sim/validate/validation.h"

namespace accsim::sim {

/// A setting as a file has it.
struct ReadSetting {
  SourceSetting setting;
  const hw::Field* field = nullptr;
  hw::YamlNode value;
};

/// Reads `set`, a list of {field: PATH, value: VALUE, source: who says so}.
void read_settings(const hw::YamlEntry& list, std::vector<ReadSetting>& out, SpecErrors& errors);

/// Sets the fields in a machine. What was assumed of them is so no more. Errors: values that a
/// field doesn't take, and rules that the machine then breaks.
void apply_settings(const std::vector<ReadSetting>& settings, KnownMachine& machine,
                    SpecErrors& errors);

}  // namespace accsim::sim
