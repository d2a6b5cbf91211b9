#pragma once
#include <string>
#include <utility>
#include <vector>

#include "hw/config/fields.h"

namespace accsim::hw {

/// How a function that gives a reference finds the member of a machine.
template <class T, class Get>
Member<T> field_member(Get get) {
  return {[get](HwConfig& hw) -> T& { return get(hw); }};
}

/// The row of a whole number; `min` and `max` are legal.
template <class Get>
Field whole_field(std::string path, std::string unit, double min, double max,
                  std::string description, Get get) {
  return {std::move(path),        std::move(unit),           min, max, {},
          std::move(description), field_member<int64_t>(get)};
}

/// The row of a decimal number.
template <class Get>
Field decimal_field(std::string path, std::string unit, double min, double max,
                    std::string description, Get get) {
  return {std::move(path),        std::move(unit),          min, max, {},
          std::move(description), field_member<double>(get)};
}

/// The row of a number that can follow from others.
template <class Get>
Field derivable_field(std::string path, std::string unit, double min, double max,
                      std::string description, Get get) {
  return {std::move(path),
          std::move(unit),
          min,
          max,
          {},
          std::move(description),
          field_member<DerivableNumber>(get)};
}

/// The row of bytes per cycle.
template <class Get>
Field rate_field(std::string path, std::string description, Get get) {
  return {std::move(path),
          "bytes/cycle",
          0.001,
          1e6,
          {},
          std::move(description),
          field_member<ByteRate>(get)};
}

/// The row of a type of elements.
template <class Get>
Field type_field(std::string path, std::vector<std::string> choices, std::string description,
                 Get get) {
  return {std::move(path),         "", 0, 0, std::move(choices), std::move(description),
          field_member<DType>(get)};
}

/// Says of the fields from `begin` on what they decide.
inline void set_decides(std::vector<Field>& t, size_t begin, Decides what) {
  for (size_t i = begin; i < t.size(); ++i) t[i].decides = what;
}

/// Says of the fields from `begin` on which prices follow from them.
inline void set_prices(std::vector<Field>& t, size_t begin, Prices what) {
  for (size_t i = begin; i < t.size(); ++i) t[i].prices = what;
}

/// Adds a field whose growth has an order.
inline void push_ordered(std::vector<Field>& t, Field field, Growth growth) {
  field.growth = growth;
  t.push_back(std::move(field));
}

}  // namespace accsim::hw
