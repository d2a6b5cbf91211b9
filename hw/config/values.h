#pragma once
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hw/config/fields.h"
#include "hw/config/yaml_tree.h"

namespace accsim::hw {

/// Reads `node` into the field's place in `hw`. Returns what is wrong, if anything, as a sentence
/// that starts with the field's path; `hw` is unchanged then.
std::optional<std::string> read_value(const Field& field, const YamlNode& node, HwConfig& hw);

/// The field's value as YAML that read_value() reads back to the same value.
std::string print_value(const Field& field, HwConfig& hw);

/// The closest of `candidates` by edit distance when it is close enough to be a typing slip.
std::optional<std::string> nearest_word(std::string_view word,
                                        const std::vector<std::string>& candidates);

}  // namespace accsim::hw
