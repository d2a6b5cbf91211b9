#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "sim/base/id.h"

namespace accsim {

/// A cache's key: values as bytes, one behind the other, to compare and to hash. Keys made by the
/// same calls are equal when and only when all values are bit for bit; texts and lists bring their
/// length.
class KeyBytes {
 public:
  template <class... T>
  requires((std::is_arithmetic_v<T> || std::is_enum_v<T> ||
            IsId<T>)&&...) KeyBytes& add(const T&... values) {
    (bytes_.append(reinterpret_cast<const char*>(&values), sizeof values), ...);
    return *this;
  }
  KeyBytes& add(std::string_view text) {
    add(text.size());
    bytes_.append(text);
    return *this;
  }
  template <class T, size_t N>
  KeyBytes& add(const std::array<T, N>& values) {
    for (const T& value : values) add(value);
    return *this;
  }
  template <class T>
  KeyBytes& add(const std::vector<T>& values) {
    add(values.size());
    for (const T& value : values) add(value);
    return *this;
  }
  std::string take_bytes() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

}  // namespace accsim
