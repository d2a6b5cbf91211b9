#pragma once
#include <compare>
#include <cstdint>

#include "sim/base/check.h"

namespace accsim {

/// A counted quantity. Quantities of different kinds can't be mixed, and arithmetic that leaves
/// 64 bits stops the program (inputs large enough to get there are refused at import).
template <class Kind>
class Quantity {
 public:
  constexpr Quantity() = default;
  constexpr explicit Quantity(int64_t count) : count_(count) {}
  constexpr int64_t count() const { return count_; }

  Quantity& operator+=(Quantity other) {
    check(!__builtin_add_overflow(count_, other.count_, &count_), "quantity overflow");
    return *this;
  }
  Quantity& operator-=(Quantity other) {
    check(!__builtin_sub_overflow(count_, other.count_, &count_), "quantity overflow");
    return *this;
  }
  friend Quantity operator+(Quantity a, Quantity b) { return a += b; }
  friend Quantity operator-(Quantity a, Quantity b) { return a -= b; }
  friend Quantity operator*(Quantity a, int64_t times) {
    check(!__builtin_mul_overflow(a.count_, times, &a.count_), "quantity overflow");
    return a;
  }
  friend Quantity operator*(int64_t times, Quantity a) { return a * times; }
  friend constexpr auto operator<=>(Quantity, Quantity) = default;

 private:
  int64_t count_ = 0;
};

/// Clock cycles of the machine.
using Cycles = Quantity<struct CyclesKind>;
/// Bytes moved or held.
using Bytes = Quantity<struct BytesKind>;
/// Multiply-accumulates.
using Macs = Quantity<struct MacsKind>;

/// Energy is a product of counts and table values, so it is a real number.
class Picojoules {
 public:
  constexpr Picojoules() = default;
  constexpr explicit Picojoules(double value) : value_(value) {}
  constexpr double value() const { return value_; }
  constexpr Picojoules& operator+=(Picojoules other) {
    value_ += other.value_;
    return *this;
  }
  friend constexpr Picojoules operator+(Picojoules a, Picojoules b) { return a += b; }
  friend constexpr auto operator<=>(Picojoules, Picojoules) = default;

 private:
  double value_ = 0;
};

/// ceil(a / b) for a >= 0, b > 0.
constexpr int64_t ceil_div(int64_t a, int64_t b) { return a / b + (a % b != 0); }

}  // namespace accsim
