#pragma once
#include <string>
#include <string_view>

#include "hw/config/hw_config.h"
#include "sim/base/result.h"

namespace accsim::hw {

/// Reads a machine description. The file must hold every key of the field table (fields.h) once and
/// nothing else, with values of the right type and range that obey the cross-field rules (rules.h).
/// Everything that is wrong is reported at once, ordered by place, `where` = "file:line:column".
/// Errors: io (can't read), parse (not YAML, see yaml_tree.h), invalid (all others).
Result<HwConfig> load_hw(const std::string& path);

/// The same for text that was read already; `file_name` is only used in messages and in .file.
Result<HwConfig> parse_hw(std::string_view yaml_text, const std::string& file_name);

/// The machine as commented YAML, which parse_hw() reads back to the same machine.
std::string print_hw(const HwConfig& hw);

/// JSON Schema (draft-07) of the YAML file, for editors: configs/hw.schema.json.
std::string hw_schema();

/// Field table and rules as Markdown, for configs/README.md.
std::string fields_markdown();

}  // namespace accsim::hw
