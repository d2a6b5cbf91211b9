#include "sim/sweep/field_setting.h"

#include "hw/config/values.h"

namespace accsim::sim {

FieldSetting field_setting(const hw::Field& field, hw::HwConfig& hw) {
  return std::visit(
      [&]<class T>(const hw::Member<T>& m) {
        return FieldSetting(std::in_place_type<T>, m.of(hw));
      },
      field.target);
}

void set_field(const hw::Field& field, const FieldSetting& value, hw::HwConfig& hw) {
  std::visit([&]<class T>(const hw::Member<T>& m) { m.of(hw) = *std::get_if<T>(&value); },
             field.target);
}

std::optional<double> as_number(const FieldSetting& value) {
  return std::visit(
      []<class T>(const T& v) -> std::optional<double> {
        if constexpr (std::is_same_v<T, hw::ByteRate>)
          return v.value();
        else if constexpr (std::is_same_v<T, hw::DerivableNumber>)
          return v.value;
        else if constexpr (std::is_arithmetic_v<T>)
          return static_cast<double>(v);
        else
          return std::nullopt;
      },
      value);
}

bool has_field(const hw::HwConfig& hw, const hw::Field& field) {
  if (field.section_there != nullptr && !field.section_there(hw)) return false;
  return !field.only || field.only->holds(hw);
}

std::string machine_text(const hw::HwConfig& hw) {
  hw::HwConfig copy = hw;
  std::string out;
  for (const hw::Field& f : hw::fields())
    if (changes_costs(f) && !is_absent(f, hw)) out += hw::print_value(f, copy) + "\n";
  return out;
}

}  // namespace accsim::sim
