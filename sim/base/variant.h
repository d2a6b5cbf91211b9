#pragma once
#include <type_traits>
#include <variant>

namespace accsim {

/// A std::variant whose copy may fail. In libstdc++ 12 a variant of strings, vectors,
/// shared pointers and numbers alone is said never to be without a value. If an
/// alternative's copy constructor throws, the destructor of its storage runs though nothing
/// is in it yet, and goes anywhere. Here a copy holds the first alternative's default,
/// which must not throw. Then the other's value is assigned, which does work. Everything
/// else is of std::variant.
template <class First, class... Rest>
class Variant : public std::variant<First, Rest...> {
  using Base = std::variant<First, Rest...>;
  static constexpr bool kCopied =
      (std::is_copy_constructible_v<First> && ... && std::is_copy_constructible_v<Rest>);
  static_assert(std::is_nothrow_default_constructible_v<First>);

 public:
  using Base::Base;
  using Base::operator=;
  Variant() = default;
  Variant(Variant&&) = default;
  Variant(const Variant& other) requires kCopied : Base() { *this = other; }
  Variant& operator=(Variant&&) = default;
  Variant& operator=(const Variant&) = default;
  ~Variant() = default;
};

}  // namespace accsim
