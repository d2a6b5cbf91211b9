#pragma once
#include <optional>
#include <string>
#include <variant>

#include "hw/config/fields.h"
#include "sim/base/variant.h"

namespace accsim::sim {

namespace field_setting_detail {
template <class Target>
struct SettingsOf;
template <class... T>
struct SettingsOf<std::variant<hw::Member<T>...>> {
  using Type = Variant<T...>;
};
}  // namespace field_setting_detail

/// What one field of a machine is set to; the alternative is the field's type.
using FieldSetting = field_setting_detail::SettingsOf<hw::FieldTarget>::Type;

/// The field's value in `hw`, which stays as it is.
FieldSetting field_setting(const hw::Field& field, hw::HwConfig& hw);
/// `value` must be of the field's type.
void set_field(const hw::Field& field, const FieldSetting& value, hw::HwConfig& hw);
/// Nothing when it is a word.
std::optional<double> as_number(const FieldSetting& value);

/// True when machines with this DRAM model have the field: banked ones have no rates of their own.
bool has_field(const hw::HwConfig& hw, const hw::Field& field);

/// Every field of a machine but its name, as text: equal for machines that cost the same.
std::string machine_text(const hw::HwConfig& hw);

}  // namespace accsim::sim
