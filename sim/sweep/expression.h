#pragma once
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/result.h"

namespace accsim::sim {

/// Arithmetic over named numbers, as constraints and --where have it: + - * / % ^, comparisons,
/// && || !, parentheses, and the functions min, max, ceil, floor, sqrt, log2. Names may hold dots.
/// A comparison is 1 or 0; one with a result that isn't a number (0 / 0) is 0.
class Expression {
 public:
  /// The variable a name stands for, or nothing.
  using Resolver = std::function<std::optional<size_t>(std::string_view name)>;

  /// Error (parse): what is wrong and at which column; `names` are for the nearest known one.
  static Result<Expression> parse(std::string_view text, const Resolver& resolve,
                                  const std::vector<std::string>& names);

  /// `variables` by the numbers that the resolver gave.
  double value(std::span<const double> variables) const;
  bool holds(std::span<const double> variables) const;

  const std::string& text() const { return text_; }
  /// The variables that occur, each once.
  const std::vector<size_t>& variables() const { return variables_; }

 private:
  friend class ExpressionParser;
  enum class Code : uint8_t {
    number,
    variable,
    negate,
    invert,
    add,
    subtract,
    multiply,
    divide,
    modulo,
    power,
    less,
    less_equal,
    greater,
    greater_equal,
    equal,
    unequal,
    both,
    either,
    min,
    max,
    ceil,
    floor,
    sqrt,
    log2
  };
  struct Op {
    Code code;
    double number = 0;
    size_t variable = 0;
  };
  /// What an operator makes of its operand, or of its two.
  static double of_one(Code code, double a);
  static double of_two(Code code, double a, double b);

  std::string text_;
  std::vector<Op> ops_;  ///< postfix
  std::vector<size_t> variables_;
};

}  // namespace accsim::sim
