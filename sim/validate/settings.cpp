#include "sim/validate/settings.h"

#include <fmt/format.h>

#include "hw/config/derive.h"
#include "hw/config/values.h"
#include "sim/sweep/space.h"

namespace accsim::sim {

void read_settings(const hw::YamlEntry& list, std::vector<ReadSetting>& out, SpecErrors& errors) {
  if (list.value.kind != hw::YamlNode::Kind::sequence || list.value.items.empty())
    return errors.fail(list.at, "set must be a list of at least one {field, value, source}");
  for (const hw::YamlNode& node : list.value.items) {
    ReadSetting s;
    read_section(node, node.at, "a setting", {"field", "value", "source"}, errors,
                 [&](const hw::YamlEntry& e) {
                   if (e.key == "field") s.setting.field = e.value.text;
                   if (e.key == "source") s.setting.source = e.value.text;
                   if (e.key == "value") s.value = e.value;
                 });
    s.setting.value = s.value.text;
    s.field = hw::find_field(s.setting.field);
    if (s.field == nullptr)
      errors.fail(node.at, hw::quoted_text(s.setting.field) + " is no field of a machine");
    else if (s.value.kind == hw::YamlNode::Kind::null || s.setting.source.empty())
      errors.fail(node.at, "a setting needs field, value and source");
    else
      out.push_back(std::move(s));
  }
}

void apply_settings(const std::vector<ReadSetting>& settings, KnownMachine& machine,
                    SpecErrors& errors) {
  if (settings.empty()) return;
  for (const ReadSetting& s : settings) {
    if (const auto problem = hw::read_value(*s.field, s.value, machine.hw))
      errors.fail(s.value.at, *problem);
    for (FieldOrigin& origin : machine.origins)
      if (origin.field == s.field) origin.range.clear();
  }
  derive(machine.hw);
  if (const std::string broken = broken_rule(machine.hw); !broken.empty())
    errors.fail(settings.front().value.at,
                fmt::format("{} with this set: {}", machine.hw.name, broken));
}

}  // namespace accsim::sim
