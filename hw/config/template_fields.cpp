#include "hw/config/template_fields.h"

#include <fmt/format.h>

#include <span>
#include <utility>

namespace accsim::hw {
namespace {

/// A field of `section` for each row that doesn't follow from other keys. `of` finds the struct.
template <class Fields, class Get>
void add_rows(std::vector<Field>& t, std::string_view section,
              std::span<const FieldOf<Fields>> rows, const Condition& only, Get of) {
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

}  // namespace

void add_engine_fields(std::vector<Field>& t) {
  add_rows(
      t, "array", dot_product_fields(),
      {"array.template", std::string(name(ArrayForm::dot_product)), &HwConfig::has_dot_products},
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
      {"vector.template", std::string(name(VectorForm::units)), &HwConfig::has_side_units},
      [](HwConfig & hw) -> auto& { return hw.vector.units; });
  for (size_t i = begin; i < t.size(); ++i) t[i].decides = kDecidesVectors;
}

}  // namespace accsim::hw
