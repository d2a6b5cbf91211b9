#pragma once
#include <compare>
#include <cstddef>
#include <limits>

#include "sim/base/check.h"

namespace accsim::sim {

/// Which value of a node an op reads or writes: one of the node's inputs or outputs (the op says
/// which side), a value that lives only between two items of the node's work, or none.
class ValuePort {
 public:
  /// Input or output `index` of the node.
  constexpr ValuePort(int index = 0) : value_(index) {  // NOLINT: an index is a port
    check(index >= 0, "an operand of a node has an index below 0");
  }
  /// An operand that is absent.
  static constexpr ValuePort none() { return ValuePort(std::numeric_limits<int>::min(), Raw()); }
  /// The `n`-th value that lives only within the node's work.
  static constexpr ValuePort internal(int n) { return ValuePort(-1 - n, Raw()); }
  /// What a node's work makes of its input for itself: value `which` of kPortsAnInput.
  static constexpr ValuePort made(ValuePort input, int which) {
    return internal(kOfWork + kPortsAnInput * input.value_ + which);
  }

  /// Internal values of a node's work as a whole: attention's scores and softmax.
  static constexpr int kOfWork = 2;
  /// Those behind them that belong to each input: what the work makes of it (0), and of that with
  /// the inputs before (1); then two of a copy of the input.
  static constexpr int kPortsAnInput = 4;
  /// How many a node of so many inputs can have.
  static constexpr int count_internal(size_t inputs) {
    return kOfWork + kPortsAnInput * static_cast<int>(inputs);
  }

  constexpr bool is_of_node() const { return value_ >= 0; }
  constexpr bool is_none() const { return *this == none(); }
  constexpr bool is_internal() const { return !is_of_node() && !is_none(); }
  /// Among the node's inputs or outputs. Precondition: is_of_node().
  constexpr size_t index() const {
    check(is_of_node(), "a port isn't the node's");
    return static_cast<size_t>(value_);
  }
  /// Among the values within the node's work. Precondition: is_internal().
  constexpr int internal_index() const { return -1 - value_; }
  /// Unlike any other's, for keys.
  constexpr int key() const { return value_; }
  /// One of `size` operands of the node?
  constexpr bool is_within(size_t size) const { return is_of_node() && index() < size; }

  friend constexpr auto operator<=>(const ValuePort&, const ValuePort&) = default;

 private:
  struct Raw {};
  constexpr ValuePort(int value, Raw) : value_(value) {}
  int value_;
};

/// A value between two items of one node's work (attention's scores).
inline constexpr ValuePort kInternalPort = ValuePort::internal(0);
/// What is made of that one (attention's softmax).
inline constexpr ValuePort kSecondInternalPort = ValuePort::internal(1);

}  // namespace accsim::sim
