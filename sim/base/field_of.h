#pragma once
#include <fmt/format.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "sim/base/result.h"

namespace accsim {

/// A whole number of a struct of numbers: its name, its unit, the values that it may have, and what
/// it says.
template <class Fields>
struct FieldOf {
  std::string_view name, unit;
  int64_t Fields::*member;
  int64_t least, most;
  std::string_view meaning = {};
  bool is_derived = false;  ///< from other keys of a machine file
};

/// What is wrong with the value of a field, as an error at its name; `of` stands before. Empty
/// where it is in range.
template <class Fields>
Errors out_of_range(const Fields& values, const FieldOf<Fields>& f, std::string_view of = "") {
  const int64_t value = values.*f.member;
  if (value >= f.least && value <= f.most) return {};
  return {
      {Errc::invalid,
       fmt::format("{}{} must be {} to {} {}, is {}", of, f.name, f.least, f.most, f.unit, value),
       std::string(f.name)}};
}

/// The same of all fields of a table.
template <class Fields>
Errors out_of_range(const Fields& values, std::span<const FieldOf<Fields>> fields) {
  Errors errors;
  for (const FieldOf<Fields>& f : fields) {
    Errors one = out_of_range(values, f);
    errors.insert(errors.end(), one.begin(), one.end());
  }
  return errors;
}

}  // namespace accsim
