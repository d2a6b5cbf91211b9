#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "hw/config/fields.h"
#include "hw/config/rules.h"
#include "hw/config/yaml_tree.h"

namespace accsim::hw {

/// What an entry of types.modes says, for people.
inline constexpr std::string_view kModeKeys =
    "activation, weight, rate and mac_pj each; with int4 weights group";

/// The keys of an entry of types.modes: a field's path is its key, and its place that in the last
/// mode of a machine. Checked, printed and described as the fields of the file are.
const std::vector<Field>& mode_fields();

/// A list of modes as it was read: by entry where it stands, and all that is wrong with it.
struct ModeList {
  std::vector<TypeMode> modes;
  std::vector<TextPosition> at;
  std::vector<PlacedError> errors;
  std::vector<PlacedError> without_energy;  ///< errors where no technology says them
};
/// Reads the value of `path`, types.modes. What depends on the rest of the machine is checked by
/// rules.
ModeList read_mode_list(const std::string& path, const YamlNode& node);

/// As YAML on one line, which read_mode_list() reads back.
std::string print_modes(const std::vector<TypeMode>& modes);

/// "types.modes[0]", as messages and RuleContext call an entry.
std::string mode_path(size_t index);

}  // namespace accsim::hw
