#include <fmt/format.h>

#include "hw/config/fields.h"
#include "hw/config/load.h"
#include "hw/config/rules.h"
#include "hw/config/values.h"

namespace accsim::hw {
namespace {

/// "KiB, 1..1024: capacity"; the unit is left out when there is none.
std::string field_comment(const Field& field) {
  return fmt::format("{}{}{}: {}", field.unit, field.unit.empty() ? "" : ", ", range_text(field),
                     field.description);
}

/// What a technology gives isn't read back: seven digits say it.
std::string derived_text(const Field& field, HwConfig& hw) {
  const auto* number = std::get_if<Member<DerivableNumber>>(&field.target);
  return number != nullptr ? fmt::format("{:.7g}", number->in(hw).value) : print_value(field, hw);
}

void print_section(const KeyNode& section, size_t indent, HwConfig& hw, std::string& out) {
  for (const KeyNode& child : section.children) {
    if (child.field != nullptr && child.field->only && !child.field->only->holds(hw)) continue;
    if (child.field != nullptr && is_absent(*child.field, hw)) continue;
    if (child.field != nullptr) {
      const bool derived = is_derived(*child.field, hw);
      const std::string line =
          fmt::format("{:{}}{}{}: {}", "", indent, derived ? "# " : "", child.key,
                      derived ? derived_text(*child.field, hw) : print_value(*child.field, hw));
      out += fmt::format("{:<40}  # {}{}\n", line, derived ? "by technology; " : "",
                         field_comment(*child.field));
      continue;
    }
    if (is_missing(child, hw)) continue;
    if (indent == 0) out += '\n';
    out += fmt::format("{:{}}{}:  # {}\n", "", indent, child.key, child.description);
    print_section(child, indent + 2, hw, out);
  }
}

}  // namespace

std::string print_hw(const HwConfig& hw) {
  HwConfig copy = hw;  // the table's accessors give references to change
  std::string out;
  print_section(key_tree(), 0, copy, out);
  return out;
}

std::string fields_markdown() {
  std::string out = "| key | type | unit | legal | meaning |\n|---|---|---|---|---|\n";
  for (const Field& field : fields()) {
    std::string description = field.only ? fmt::format("{} (only for `{}: {}`)", field.description,
                                                       field.only->path, field.only->word)
                                         : field.description;
    if (field.optional) description += " (may be left out)";
    if (field.section_there != nullptr)
      description += fmt::format(" (may be left out with all of `{}`)",
                                 field.path.substr(0, field.path.rfind('.')));
    if (std::holds_alternative<Member<DerivableNumber>>(field.target))
      description += " (may be left out with a technology)";
    out += fmt::format("| `{}` | {} | {} | {} | {} |\n", field.path, type_text(field), field.unit,
                       range_text(field), description);
  }
  out += "\nRules across keys:\n\n";
  for (const Rule& rule : config_rules())
    out += fmt::format("- `{}`: {}.\n", rule.name, rule.statement);
  return out;
}

}  // namespace accsim::hw
