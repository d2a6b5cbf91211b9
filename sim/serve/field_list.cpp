#include "sim/serve/field_list.h"

#include "hw/config/fields.h"
#include "hw/config/mode_list.h"
#include "sim/report/to_json.h"

namespace accsim::sim {
namespace {

std::string_view kind_of(const hw::Field& field) {
  return std::visit(hw::FieldCases{
                        [](const hw::Member<int64_t>&) { return "whole"; },
                        [](const hw::Member<double>&) { return "number"; },
                        [](const hw::Member<hw::DerivableNumber>&) { return "number"; },
                        [](const hw::Member<hw::ByteRate>&) { return "rate"; },
                        [](const hw::Member<std::string>&) { return "text"; },
                        [](const hw::Member<std::vector<hw::Dataflow>>&) { return "words"; },
                        [](const hw::Member<std::vector<hw::TypeMode>>&) { return "modes"; },
                        [](const auto&) { return "word"; },
                    },
                    field.target);
}

/// Lists of modes as a machine file has them.
Json value_of(const hw::Field& field, const hw::HwConfig& hw) {
  if (const auto* modes = std::get_if<hw::Member<std::vector<hw::TypeMode>>>(&field.target))
    return hw::print_modes(modes->in(hw));
  return value_json(field, hw);
}

void add_sections(const hw::KeyNode& node, Json& out) {
  for (const hw::KeyNode& child : node.children) {
    if (child.field != nullptr || child.section_there != nullptr) continue;
    out.push_back({{"path", child.path}, {"description", child.description}});
    add_sections(child, out);
  }
}

}  // namespace

Json field_list(const hw::HwConfig& hw) {
  Json sections = Json::array(), fields = Json::array();
  add_sections(hw::key_tree(), sections);
  for (const hw::Field& f : hw::fields()) {
    if (f.optional || f.section_there != nullptr) continue;  // they have no control
    const size_t dot = f.path.rfind('.');
    const bool counts = f.choices.empty() && f.max > f.min;
    fields.push_back(
        {{"path", f.path},
         {"section", dot == std::string::npos ? "" : f.path.substr(0, dot)},
         {"unit", f.unit},
         {"kind", kind_of(f)},
         {"min", counts ? Json(f.min) : Json()},
         {"max", counts ? Json(f.max) : Json()},
         {"choices", f.choices},
         {"description", f.description},
         {"value", value_of(f, hw)},
         {"only", f.only ? Json{{"path", f.only->path}, {"word", f.only->word}} : Json()}});
  }
  return {{"sections", sections}, {"fields", fields}};
}

}  // namespace accsim::sim
