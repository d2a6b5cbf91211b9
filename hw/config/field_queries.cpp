#include <fmt/format.h>

#include "hw/config/engine_lists.h"
#include "hw/config/fields.h"
#include "hw/config/mode_list.h"

namespace accsim::hw {

Growth growth_on(const Field& field, const HwConfig& hw) {
  // What an engine of dot products, or a unit beside it, makes of more of something has been
  // measured, and not proved.
  const Decides what = hw.has_side_units() ? kDecidesProducts | kDecidesVectors : kDecidesProducts;
  const bool counts = (field.decides & what) != 0 && field.growth != Growth::clock;
  if (hw.has_dot_products() && counts) return Growth::none;
  return field.unordered_if && field.unordered_if->holds(hw) ? Growth::none : field.growth;
}

bool is_absent(const Field& field, const HwConfig& hw) {
  if (field.section_there != nullptr) return !field.section_there(hw);
  if (!field.optional) return false;
  return std::visit(FieldCases{
                        [&](const Member<std::vector<TypeMode>>& m) { return m.in(hw).empty(); },
                        [&]<class T>(const Member<T>& m) {
                          if constexpr (std::is_enum_v<T>)
                            return m.in(hw) == T{};
                          else if constexpr (std::is_arithmetic_v<T>)
                            return m.in(hw) == static_cast<T>(field.left_out);
                          else
                            return false;
                        },
                    },
                    field.target);
}

bool is_derived(const Field& field, const HwConfig& hw) {
  const auto* number = std::get_if<Member<DerivableNumber>>(&field.target);
  return number != nullptr && !number->in(hw).given;
}

std::string range_text(const Field& field) {
  if (std::holds_alternative<Member<std::string>>(field.target)) {
    return fmt::format("1..{} letters, digits and \"{}\"", kNameMax, kNamePunctuation);
  }
  if (std::holds_alternative<Member<std::vector<TypeMode>>>(field.target))
    return std::string(kModeKeys);
  if (is_engine_list(field)) return std::string(engine_list_keys(field));
  if (!field.choices.empty()) return fmt::format("{}", fmt::join(field.choices, ", "));
  return fmt::format("{}..{}", field.min, field.max);
}

std::string_view type_text(const Field& field) {
  return std::visit(FieldCases{
                        [](const Member<int64_t>&) { return "whole number"; },
                        [](const Member<double>&) { return "number"; },
                        [](const Member<DerivableNumber>&) { return "number"; },
                        [](const Member<ByteRate>&) { return "number, up to 3 decimals"; },
                        [](const Member<std::string>&) { return "text"; },
                        [](const Member<std::vector<Dataflow>>&) { return "list of words"; },
                        [](const Member<std::vector<TypeMode>>&) { return "list of modes"; },
                        []<EngineEntry T>(const Member<std::vector<T>>&) { return "list"; },
                        [](const auto&) { return "word"; },  // the enums
                    },
                    field.target);
}

}  // namespace accsim::hw
