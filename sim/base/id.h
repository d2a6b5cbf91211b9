#pragma once
#include <array>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>

namespace accsim {

/// A T for each thing of a kind, as said below.
template <class Key, class T>
struct PerId;

/// The name of one of `kSize` things of a kind, such as a machine's memories; the first one, where
/// nothing else is said. It isn't a number and can't be cast to one: PerId alone goes by it. `Key`
/// is the class that derives from this one and has the names as constants.
template <class Key, size_t kSize>
class Id {
 public:
  static constexpr size_t kCount = kSize;
  /// Each one, in the order of the kind.
  static constexpr std::array<Key, kSize> all() {
    std::array<Key, kSize> out;
    for (size_t i = 0; i < kSize; ++i) out[i] = nth(i);
    return out;
  }
  friend constexpr auto operator<=>(Id, Id) = default;

 protected:
  static constexpr Key nth(size_t i) {
    Key out;
    static_cast<Id&>(out).at_ = static_cast<uint8_t>(i);
    return out;
  }

 private:
  friend Key;
  template <class, class>
  friend struct PerId;
  constexpr Id() = default;
  uint8_t at_ = 0;
};

/// A class that derives from Id.
template <class T>
concept IsId = std::derived_from<T, Id<T, T::kCount>>;

/// A T for each thing of a kind, in the kind's order. Room for all of them, and no heap.
template <class Key, class T>
struct PerId {
  std::array<T, Key::kCount> values{};

  constexpr T& operator[](Key id) { return values[id.at_]; }
  constexpr const T& operator[](Key id) const { return values[id.at_]; }
  constexpr auto begin() { return values.begin(); }
  constexpr auto begin() const { return values.begin(); }
  constexpr auto end() { return values.end(); }
  constexpr auto end() const { return values.end(); }
  PerId& operator+=(const PerId& other) {
    for (size_t i = 0; i < values.size(); ++i) values[i] += other.values[i];
    return *this;
  }
  friend bool operator==(const PerId&, const PerId&) = default;
};

}  // namespace accsim
