#include "hw/config/template_fields.h"

#include <fmt/format.h>

#include <span>
#include <utility>

namespace accsim::hw {
namespace {

/// A field of `section` for each row that doesn't follow from other keys. `of` finds the struct.
template <class Fields, class Get>
void add_rows(std::vector<Field>& t, std::string_view section,
              std::span<const FieldOf<Fields>> rows, const std::optional<Condition>& only, Get of) {
  for (const FieldOf<Fields>& row : rows) {
    if (row.is_derived) continue;
    const auto get = [of, member = row.member](HwConfig& hw) -> int64_t& { return of(hw).*member; };
    Field field{fmt::format("{}.{}", section, row.name),
                std::string(row.unit),
                static_cast<double>(row.least),
                static_cast<double>(row.most),
                {},
                std::string(row.meaning),
                Member<int64_t>{get}};
    field.only = only;
    t.push_back(std::move(field));
  }
}

template <class Entry, class Get>
Field list_row(std::string path, std::string description, Get get) {
  return {std::move(path), "", 0, 0, {}, std::move(description), Member<std::vector<Entry>>{get}};
}

}  // namespace

void add_engine_fields(std::vector<Field>& t) {
  add_rows(
      t, "array", dot_product_fields(),
      Condition{"array.template", std::string(name(ArrayForm::dot_product)),
                &HwConfig::has_dot_products},
      [](HwConfig & hw) -> auto& { return hw.array.engine; });
}

void add_vector_template(std::vector<Field>& t) {
  t.push_back({"vector.template", "", 0, 0, enum_names<VectorForm, kVectorForms>(),
               "lanes = all that isn't a product runs on lanes; units = pooling, LRN and "
               "point-wise layers have a unit each, and lanes do the rest",
               Member<VectorForm>{[](HwConfig& hw) -> VectorForm& { return hw.vector.form; }}});
  t.back().optional = true;
  t.back().decides = kDecidesPlaces | kDecidesVectors;  // which ops are asked for follows from it
  t.back().not_swept = "decides which other fields there are; sweep two machines";
}

void add_unit_fields(std::vector<Field>& t) {
  const size_t begin = t.size();
  add_rows(
      t, "vector", side_unit_fields(),
      Condition{"vector.template", std::string(name(VectorForm::units)), &HwConfig::has_side_units},
      [](HwConfig & hw) -> auto& { return hw.vector.units; });
  for (size_t i = begin; i < t.size(); ++i) t[i].decides = kDecidesVectors;
}

void add_token_fields(std::vector<Field>& t) {
  const size_t begin = t.size();
  add_rows(
      t, "engines", engine_machine_fields(), std::nullopt,
      [](HwConfig & hw) -> auto& { return hw.engines; });
  t.push_back(list_row<EngineQueue>(
      "engines.queues", "engines, each with the depth of its queue of commands",
      [](HwConfig & hw) -> auto& { return hw.engines.queues; }));
  t.push_back(list_row<CommandKind>(
      "engines.kinds", "kinds of commands, in the order of their rank at the port",
      [](HwConfig & hw) -> auto& { return hw.engines.kinds; }));
  t.push_back(list_row<TokenQueue>(
      "engines.token_queues", "counters of tokens, each from one engine to another",
      [](HwConfig & hw) -> auto& { return hw.engines.token_queues; }));
  for (size_t i = begin; i < t.size(); ++i) {
    t[i].decides = kDecidesPrograms;
    t[i].not_swept = "decides programs of tiled layers alone, which no network of a sweep has";
    t[i].section_there = [](const HwConfig& hw) { return hw.has_engines(); };
  }
}

}  // namespace accsim::hw
