#include "sim/sweep/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "hw/config/values.h"
#include "hw/config/yaml_tree.h"

namespace accsim::sim {
namespace {

constexpr size_t kLongest = 2000;  // characters
constexpr int kDeepest = 50;       // parentheses and operators that wait for their right side

bool starts_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool in_name(char c) { return starts_name(c) || (c >= '0' && c <= '9') || c == '.'; }

}  // namespace

/// Recursive descent; writes postfix code. The first problem ends it.
class ExpressionParser {
 public:
  using Code = Expression::Code;
  ExpressionParser(std::string_view text, const Expression::Resolver& resolve,
                   const std::vector<std::string>& names)
      : text_(text), resolve_(resolve), names_(names) {
    out_.text_ = text;
  }

  Result<Expression> parse_all() {
    if (text_.size() > kLongest)
      fail(fmt::format("longer than {} characters", kLongest));
    else if (parse_or(); !has_failed() && peek() != '\0')
      fail(fmt::format("{} isn't expected here", hw::quoted_text(text_.substr(at_, 8))));
    if (has_failed()) return Error{Errc::parse, problem_, ""};
    return std::move(out_);
  }

 private:
  bool has_failed() const { return !problem_.empty(); }
  void fail(const std::string& what) {
    if (!has_failed())
      problem_ = fmt::format("{}: column {}: {}", hw::quoted_text(text_), at_ + 1, what);
  }
  char peek() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take_symbol(std::string_view symbol) {
    peek();
    if (text_.substr(at_, symbol.size()) != symbol) return false;
    at_ += symbol.size();
    return true;
  }
  void emit_op(Code code) { out_.ops_.push_back({code}); }

  struct Symbol {
    std::string_view text;
    Code code;
  };

  /// One level of left-associative operators over `next`.
  template <size_t N>
  void parse_binary(const std::array<Symbol, N>& symbols, void (ExpressionParser::*next)()) {
    (this->*next)();
    for (bool found = true; found && !has_failed();) {
      found = false;
      for (const Symbol& s : symbols) {
        if (!take_symbol(s.text)) continue;
        (this->*next)();
        emit_op(s.code);
        found = true;
        break;
      }
    }
  }

  void parse_or() {
    if (++depth_ > kDeepest) return fail("nested too deeply");
    parse_binary(std::array<Symbol, 1>{{{"||", Code::either}}}, &ExpressionParser::parse_and);
    --depth_;
  }
  void parse_and() {
    parse_binary(std::array<Symbol, 1>{{{"&&", Code::both}}}, &ExpressionParser::parse_comparison);
  }

  void parse_comparison() {
    parse_sum();
    static constexpr std::array<Symbol, 6> kSymbols = {{{"<=", Code::less_equal},
                                                        {">=", Code::greater_equal},
                                                        {"==", Code::equal},
                                                        {"!=", Code::unequal},
                                                        {"<", Code::less},
                                                        {">", Code::greater}}};
    for (const Symbol& s : kSymbols) {
      if (has_failed() || !take_symbol(s.text)) continue;
      parse_sum();
      emit_op(s.code);
      for (const Symbol& again : kSymbols)
        if (take_symbol(again.text)) fail("comparisons can't be chained; join two with &&");
      return;
    }
  }

  void parse_sum() {
    parse_binary(std::array<Symbol, 2>{{{"+", Code::add}, {"-", Code::subtract}}},
                 &ExpressionParser::parse_term);
  }
  void parse_term() {
    parse_binary(
        std::array<Symbol, 3>{{{"*", Code::multiply}, {"/", Code::divide}, {"%", Code::modulo}}},
        &ExpressionParser::parse_unary);
  }

  void parse_unary() {
    if (++depth_ > kDeepest) return fail("nested too deeply");
    if (take_symbol("-")) {
      parse_unary();
      emit_op(Code::negate);
    } else if (peek() == '!' && text_.substr(at_, 2) != "!=") {
      ++at_;
      parse_unary();
      emit_op(Code::invert);
    } else {
      parse_primary();
      if (!has_failed() && take_symbol("^")) {
        parse_unary();
        emit_op(Code::power);
      }
    }
    --depth_;
  }

  void parse_primary() {
    if (has_failed()) return;
    const char c = peek();
    if (take_symbol("(")) {
      parse_or();
      if (!has_failed() && !take_symbol(")")) fail("\")\" is missing");
    } else if ((c >= '0' && c <= '9') || c == '.') {
      parse_number();
    } else if (starts_name(c)) {
      parse_name();
    } else {
      fail(c == '\0' ? std::string("a number or a name is missing at the end")
                     : fmt::format("a number or a name is missing before {}",
                                   hw::quoted_text(text_.substr(at_, 8))));
    }
  }

  void parse_number() {
    double value = 0;
    const char* first = text_.data() + at_;
    const auto [end, error] = std::from_chars(first, text_.data() + text_.size(), value);
    if (error != std::errc()) return fail("not a number");
    at_ += static_cast<size_t>(end - first);
    if (at_ < text_.size() && in_name(text_[at_])) return fail("an operator is missing");
    out_.ops_.push_back({Code::number, value});
  }

  void parse_name() {
    const size_t begin = at_;
    while (at_ < text_.size() && in_name(text_[at_])) ++at_;
    const std::string_view name = text_.substr(begin, at_ - begin);
    if (peek() == '(') return parse_call(name, begin);
    const auto variable = resolve_(name);
    if (!variable) {
      at_ = begin;
      const auto close = hw::nearest_word(name, names_);
      return fail(fmt::format("{} is no known name{}", hw::quoted_text(name),
                              close ? fmt::format("; did you mean \"{}\"?", *close) : ""));
    }
    out_.ops_.push_back({Code::variable, 0, *variable});
    auto& seen = out_.variables_;
    if (std::find(seen.begin(), seen.end(), *variable) == seen.end()) seen.push_back(*variable);
  }

  void parse_call(std::string_view name, size_t begin) {
    struct Function {
      std::string_view name;
      Code code;
      int arguments;
    };
    static constexpr std::array<Function, 6> kFunctions = {{{"min", Code::min, 2},
                                                            {"max", Code::max, 2},
                                                            {"ceil", Code::ceil, 1},
                                                            {"floor", Code::floor, 1},
                                                            {"sqrt", Code::sqrt, 1},
                                                            {"log2", Code::log2, 1}}};
    const auto f = std::find_if(kFunctions.begin(), kFunctions.end(),
                                [&](const Function& known) { return known.name == name; });
    if (f == kFunctions.end()) {
      at_ = begin;
      return fail(fmt::format("{} is no function; there are min, max, ceil, floor, sqrt and log2",
                              hw::quoted_text(name)));
    }
    take_symbol("(");
    for (int i = 0; i < f->arguments && !has_failed(); ++i) {
      if (i > 0 && !take_symbol(","))
        return fail(fmt::format("{} takes {} arguments", name, f->arguments));
      parse_or();
    }
    if (!has_failed() && !take_symbol(")")) return fail("\")\" is missing");
    emit_op(f->code);
  }

  const std::string_view text_;
  const Expression::Resolver& resolve_;
  const std::vector<std::string>& names_;
  Expression out_;
  std::string problem_;
  size_t at_ = 0;
  int depth_ = 0;
};

Result<Expression> Expression::parse(std::string_view text, const Resolver& resolve,
                                     const std::vector<std::string>& names) {
  return ExpressionParser(text, resolve, names).parse_all();
}

double Expression::of_one(Code code, double a) {
  using enum Code;
  switch (code) {
    case negate:
      return -a;
    case invert:
      return a == 0;
    case ceil:
      return std::ceil(a);
    case floor:
      return std::floor(a);
    case sqrt:
      return std::sqrt(a);
    case log2:
      return std::log2(a);
    default:
      break;
  }
  return a;
}

double Expression::of_two(Code code, double a, double b) {
  using enum Code;
  switch (code) {
    case add:
      return a + b;
    case subtract:
      return a - b;
    case multiply:
      return a * b;
    case divide:
      return a / b;
    case modulo:
      return std::fmod(a, b);
    case power:
      return std::pow(a, b);
    case less:
      return a < b;
    case less_equal:
      return a <= b;
    case greater:
      return a > b;
    case greater_equal:
      return a >= b;
    case equal:
      return a == b;
    case unequal:
      return a < b || a > b;
    case both:
      return a != 0 && b != 0;
    case either:
      return a != 0 || b != 0;
    case min:
      return std::min(a, b);
    case max:
      return std::max(a, b);
    default:
      break;
  }
  return a;
}

double Expression::value(std::span<const double> variables) const {
  std::vector<double> stack;
  stack.reserve(8);
  for (const Op& op : ops_) {
    if (op.code == Code::number || op.code == Code::variable) {
      stack.push_back(op.code == Code::number ? op.number : variables[op.variable]);
      continue;
    }
    const double last = stack.back();
    if (op.code == Code::negate || op.code == Code::invert || op.code >= Code::ceil) {
      stack.back() = of_one(op.code, last);
    } else {
      stack.pop_back();
      stack.back() = of_two(op.code, stack.back(), last);
    }
  }
  return stack.back();
}

bool Expression::holds(std::span<const double> variables) const {
  const double v = value(variables);
  return !std::isnan(v) && v != 0;
}

}  // namespace accsim::sim
