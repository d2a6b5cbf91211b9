#pragma once

namespace accsim::hw {

/// A number that a machine file gives, or that follows from the rest of the machine while it isn't
/// given (derive.h).
struct DerivableNumber {
  double value = 0;
  bool given = false;

  DerivableNumber() = default;
  DerivableNumber(double v) : value(v), given(true) {}  // NOLINT(google-explicit-constructor)
  operator double() const { return value; }             // NOLINT(google-explicit-constructor)

  friend bool operator==(const DerivableNumber&, const DerivableNumber&) = default;
  friend bool operator==(const DerivableNumber& a, double b) { return a.value == b; }
};

}  // namespace accsim::hw
