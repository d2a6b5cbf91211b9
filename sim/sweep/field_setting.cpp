#include "sim/sweep/field_setting.h"

#include "hw/config/values.h"

namespace accsim {

FieldSetting field_setting(const Field& field, HwConfig& hw) {
  return std::visit(
      [&]<class T>(const Member<T>& m) { return FieldSetting(std::in_place_type<T>, m.of(hw)); },
      field.target);
}

void set_field(const Field& field, const FieldSetting& value, HwConfig& hw) {
  std::visit([&]<class T>(const Member<T>& m) { m.of(hw) = *std::get_if<T>(&value); },
             field.target);
}

std::optional<double> as_number(const FieldSetting& value) {
  return std::visit(
      []<class T>(const T& v) -> std::optional<double> {
        if constexpr (std::is_same_v<T, ByteRate>)
          return v.value();
        else if constexpr (std::is_arithmetic_v<T>)
          return static_cast<double>(v);
        else
          return std::nullopt;
      },
      value);
}

bool has_field(const HwConfig& hw, const Field& field) {
  return !field.only || field.only->holds(hw);
}

std::string machine_text(const HwConfig& hw) {
  HwConfig copy = hw;
  std::string out;
  for (const Field& f : fields())
    if (f.path != "name") out += print_value(f, copy) + "\n";
  return out;
}

}  // namespace accsim
