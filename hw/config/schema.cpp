#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "hw/config/engine_lists.h"
#include "hw/config/fields.h"
#include "hw/config/load.h"
#include "hw/config/mode_list.h"
#include "sim/base/json_text.h"

namespace accsim::hw {
namespace {

using Json = nlohmann::ordered_json;

/// 64 rather than 64.0 in the schema text.
Json json_number(double value) {
  if (value == std::floor(value)) return static_cast<int64_t>(value);
  return value;
}

Json field_schema(const Field& field);

/// Does a technology do without it?
bool is_derivable(const Field& field) {
  return std::holds_alternative<Member<DerivableNumber>>(field.target);
}

Json choice_words(const Field& field) {
  Json list = field.choices;
  for (const Alias& a : kTypeAliases) {
    for (const std::string& choice : field.choices) {
      if (choice == a.choice) list.push_back(a.alias);
    }
  }
  return list;
}

/// Of one entry of types.modes; `group` goes with int4 weights alone.
Json mode_schema() {
  Json out = {{"type", "object"}, {"additionalProperties", false}};
  Json required = Json::array();
  for (const Field& key : mode_fields()) {
    out["properties"][key.path] = field_schema(key);
    if (!key.only && !is_derivable(key)) required.push_back(key.path);
  }
  out["required"] = required;
  Json narrow;
  narrow["properties"]["weight"]["const"] = "int4";
  Json rule = {{"if", narrow}, {"then", {{"required", {"group"}}}}};
  rule["else"]["properties"]["group"] = false;
  out["allOf"].push_back(std::move(rule));
  return out;
}

/// Of an entry of a list of engines. Names of engines are texts to a schema.
template <EngineEntry T>
Json entry_schema() {
  Json out = {{"type", "object"}, {"additionalProperties", false}};
  Json required = Json::array();
  if constexpr (has_name<T>()) {
    out["properties"]["name"] = {{"description", "what it is called"}, {"type", "string"}};
    required.push_back("name");
  }
  std::array<Json, kCommandWorks.size()> own;  // numbers that a work alone has
  for (const EntryKey<T>& key : entry_keys<T>({})) {
    Json one = {{"description", key.unit.empty()
                                    ? key.description
                                    : fmt::format("{} ({})", key.description, key.unit)}};
    one["type"] = key.is_word ? "string" : "integer";
    if (!key.words.empty()) one["enum"] = key.words;
    if (!key.is_word) one["minimum"] = key.least;
    if (!key.is_word) one["maximum"] = key.most;
    out["properties"][key.key] = std::move(one);
    (key.of ? own[static_cast<size_t>(*key.of)] : required).push_back(key.key);
  }
  out["required"] = required;
  if (!std::same_as<T, CommandKind>) return out;
  for (size_t work = 0; work < own.size(); ++work) {
    Json rule = {{"if", Json::object()}, {"then", {{"required", own[work]}}}};
    rule["if"]["properties"]["work"]["const"] = kCommandWorks[work];
    for (size_t other = 0; other < own.size(); ++other)
      for (const Json& key : own[other])
        if (other != work) rule["then"]["properties"][key.get<std::string>()] = false;
    out["allOf"].push_back(std::move(rule));
  }
  return out;
}

Json field_schema(const Field& field) {
  Json out;
  out["description"] = field.description;
  if (!field.unit.empty())
    out["description"] = fmt::format("{} ({})", field.description, field.unit);
  const auto ranged = [&](std::string_view type) {
    out["type"] = type;
    out["minimum"] = json_number(field.min);
    out["maximum"] = json_number(field.max);
  };
  const auto one_word = [&] {
    out["type"] = "string";
    out["enum"] = choice_words(field);
  };
  std::visit(FieldCases{
                 [&](const Member<int64_t>&) { ranged("integer"); },
                 [&](const Member<double>&) { ranged("number"); },
                 [&](const Member<DerivableNumber>&) { ranged("number"); },
                 [&](const Member<ByteRate>&) { ranged("number"); },
                 [&](const Member<std::string>&) {
                   out["type"] = "string";
                   // '-' stands last in the class, so it is itself.
                   out["pattern"] =
                       fmt::format("^[A-Za-z0-9{}]{{1,{}}}$", kNamePunctuation, kNameMax);
                 },
                 [&](const Member<std::vector<Dataflow>>&) {
                   out["type"] = "array";
                   out["items"] = {{"type", "string"}, {"enum", field.choices}};
                   out["minItems"] = 1;
                   out["uniqueItems"] = true;
                 },
                 [&](const Member<std::vector<TypeMode>>&) {
                   out["type"] = "array";
                   out["items"] = mode_schema();
                 },
                 [&]<EngineEntry T>(const Member<std::vector<T>>&) {
                   out["type"] = "array";
                   out["items"] = entry_schema<T>();
                   if (has_name<T>()) out["minItems"] = 1;
                   out["maxItems"] = kMostEngineParts;
                 },
                 [&](const auto&) { one_word(); },  // the enums
             },
             field.target);
  return out;
}

/// "if this word stands there, then these keys must and those must not", for a section's
/// conditional keys.
void add_conditions(const KeyNode& section, Json& out) {
  std::vector<std::pair<std::string, std::string>> cases;  // key and word
  for (const KeyNode& child : section.children) {
    if (child.field == nullptr || !child.field->only) continue;
    const Condition& only = *child.field->only;
    std::pair one(only.path.substr(section.path.size() + 1), only.word);
    if (std::find(cases.begin(), cases.end(), one) == cases.end()) cases.push_back(std::move(one));
  }
  for (const auto& [key, word] : cases) {
    Json required = Json::array(), refused = Json::object();
    for (const KeyNode& child : section.children) {
      if (child.field == nullptr || !child.field->only) continue;
      if (child.field->only->word == word && child.field->optional) continue;
      if (child.field->only->word == word) {
        required.push_back(child.key);
      } else {
        refused[child.key] = false;
      }
    }
    Json test;
    test["properties"][key]["const"] = word;
    const auto decides = std::ranges::find(section.children, key, &KeyNode::key);
    if (decides != section.children.end() && decides->field->optional)
      test["required"] = Json::array({key});  // a file without it doesn't say the word
    Json rule = {{"if", test}, {"then", {{"required", required}}}};
    if (!refused.empty()) rule["then"]["properties"] = refused;
    const bool alone =
        std::ranges::count(cases, key, &std::pair<std::string, std::string>::first) == 1;
    if (alone)  // no other word has keys of its own that refuse these
      for (const Json& own : required) rule["else"]["properties"][own.get<std::string>()] = false;
    out["allOf"].push_back(std::move(rule));
  }
}

/// Without a technology (also where its key isn't there) all energies must be given.
void add_technology(const KeyNode& section, Json& out) {
  Json required = Json::array();
  for (const KeyNode& child : section.children)
    if (child.field != nullptr && is_derivable(*child.field)) required.push_back(child.key);
  if (required.empty()) return;
  Json test;
  test["properties"]["technology"]["const"] = name(Technology::custom);
  out["allOf"].push_back({{"if", test}, {"then", {{"required", required}}}});
}

/// The same of the energies of modes, for the whole file.
Json modes_need_energies() {
  Json test, modes;
  test["properties"]["energy"]["properties"]["technology"]["const"] = name(Technology::custom);
  modes["items"]["required"] = Json::array({"mac_pj"});
  Json then = {{"required", Json::array()}};
  then["properties"]["types"]["properties"]["modes"] = modes;
  return {{"if", test}, {"then", then}};
}

void fill_section(const KeyNode& section, Json& out) {
  out["type"] = "object";
  out["additionalProperties"] = false;
  Json required = Json::array();
  Json properties = Json::object();
  for (const KeyNode& child : section.children) {
    const Field* field = child.field;
    const bool is_needed = field == nullptr
                               ? child.section_there == nullptr
                               : !field->only && !field->optional && !is_derivable(*field);
    if (is_needed) required.push_back(child.key);
    if (child.field != nullptr) {
      properties[child.key] = field_schema(*child.field);
    } else {
      Json inner;
      inner["description"] = child.description;
      fill_section(child, inner);
      properties[child.key] = std::move(inner);
    }
  }
  out["required"] = std::move(required);
  out["properties"] = std::move(properties);
  add_conditions(section, out);
  add_technology(section, out);
}

}  // namespace

std::string hw_schema() {
  Json schema;
  schema["$schema"] = "http://json-schema.org/draft-07/schema#";
  schema["title"] = "accsim machine description";
  fill_section(key_tree(), schema);
  schema["allOf"].push_back(modes_need_energies());
  return json_text(schema, 2) + "\n";
}

}  // namespace accsim::hw
