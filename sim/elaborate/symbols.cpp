#include "sim/elaborate/symbols.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace accsim::sim {
namespace {

using Bindings = std::map<std::string, int64_t>;

/// Values of symbol names that spell arithmetic on other symbols: terms of + and -, factors of *
/// and /, no parentheses.
class Arithmetic {
 public:
  Arithmetic(std::string_view text, const Bindings& known) : text_(text), known_(known) {}

  /// nullopt when the text isn't such an expression of known symbols.
  std::optional<int64_t> evaluate() {
    std::optional<int64_t> sum = product();
    while (sum && !at_end()) {
      const char op = text_[at_++];
      const std::optional<int64_t> next = product();
      if (!next || (op != '+' && op != '-')) return std::nullopt;
      int64_t result = 0;
      if (op == '+' ? __builtin_add_overflow(*sum, *next, &result)
                    : __builtin_sub_overflow(*sum, *next, &result))
        return std::nullopt;
      sum = result;
    }
    return sum;
  }

 private:
  bool at_end() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
    return at_ == text_.size();
  }

  std::optional<int64_t> product() {
    std::optional<int64_t> value = factor();
    while (value && !at_end() && (text_[at_] == '*' || text_[at_] == '/')) {
      const char op = text_[at_++];
      if (op == '/' && at_ < text_.size() && text_[at_] == '/') ++at_;
      const std::optional<int64_t> next = factor();
      int64_t result = 0;
      if (!next || (op == '/' && *next <= 0)) return std::nullopt;
      if (op == '/')
        result = *value / *next;
      else if (__builtin_mul_overflow(*value, *next, &result))
        return std::nullopt;
      value = result;
    }
    return value;
  }

  std::optional<int64_t> factor() {
    if (at_end()) return std::nullopt;
    const size_t start = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) != 0 ||
                                  text_[at_] == '_' || text_[at_] == '.'))
      ++at_;
    const std::string word(text_.substr(start, at_ - start));
    if (word.empty()) return std::nullopt;
    if (std::all_of(word.begin(), word.end(), [](char c) { return c >= '0' && c <= '9'; }))
      return word.size() > 15 ? std::nullopt : std::optional<int64_t>(std::stoll(word));
    const auto found = known_.find(word);
    return found == known_.end() ? std::nullopt : std::optional(found->second);
  }

  std::string_view text_;
  const Bindings& known_;
  size_t at_ = 0;
};

bool looks_computed(std::string_view symbol) {
  return symbol.find_first_of("+-*/") != std::string_view::npos;
}

std::string symbol_of(const ValueDef& input, size_t i) {
  const std::string& symbol = (*input.dims)[i].symbol;
  return symbol.empty() ? fmt::format("{}_dim{}", input.name, i) : symbol;
}

template <class Map>
const typename Map::mapped_type* lookup(const Map& map, const std::string& key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

Errors check_options(const std::vector<const ValueDef*>& inputs,
                     const std::set<std::string>& symbols, const ElaborateOptions& options) {
  Errors errors;
  for (const auto& [symbol, size] : options.bindings) {
    if (options.skip_unknown && !symbols.contains(symbol)) continue;
    if (!symbols.contains(symbol))
      errors.push_back(
          {Errc::usage,
           symbols.empty()
               ? fmt::format("no symbol '{}' to bind: every input shape is fixed", symbol)
               : fmt::format("no symbol '{}' to bind; the model has {}", symbol,
                             fmt::join(symbols, ", ")),
           ""});
    else if (size < 0)
      errors.push_back(
          {Errc::usage,
           fmt::format("symbol '{}' is bound to {}; give a size of at least 0", symbol, size), ""});
  }
  std::vector<std::string_view> names;
  for (const ValueDef* input : inputs) names.push_back(input->name);
  for (const auto& [name, dims] : options.input_shapes) {
    const bool known = std::ranges::find(names, name) != names.end();
    if (!known && options.skip_unknown) continue;
    if (!known)
      errors.push_back({Errc::usage,
                        fmt::format("no input '{}' to give a shape to; the model has {}", name,
                                    fmt::join(names, ", ")),
                        ""});
    for (int64_t dim : dims)
      if (dim < 1)
        errors.push_back(
            {Errc::usage,
             fmt::format("input '{}' is given the dim {}; dims are at least 1", name, dim), ""});
  }
  return errors;
}

/// Symbols that a shape given on the command line decides.
Status bind_from_shapes(const std::vector<const ValueDef*>& inputs, const ElaborateOptions& options,
                        Bindings& bindings) {
  for (const ValueDef* input : inputs) {
    const Dims* given = lookup(options.input_shapes, input->name);
    if (given == nullptr || !input->dims || input->dims->size() != given->size()) continue;
    for (size_t i = 0; i < given->size(); ++i) {
      if ((*input->dims)[i].value >= 0) continue;
      const std::string symbol = symbol_of(*input, i);
      const auto [bound, is_new] = bindings.emplace(symbol, (*given)[i]);
      if (!is_new && bound->second != (*given)[i])
        return Error{Errc::usage,
                     fmt::format("input '{}' is given {} for '{}', which is {} elsewhere",
                                 input->name, (*given)[i], symbol, bound->second),
                     ""};
    }
  }
  return ok();
}

/// Everything not bound yet: plain symbols become 1, then the computed ones follow from them.
void bind_rest(const std::set<std::string>& symbols, BoundInputs& out) {
  for (const bool computed : {false, true}) {
    for (const std::string& symbol : symbols) {
      if (looks_computed(symbol) != computed || out.bindings.contains(symbol)) continue;
      const std::optional<int64_t> value =
          computed ? Arithmetic(symbol, out.bindings).evaluate() : std::nullopt;
      if (!value || *value < 1) out.defaulted.push_back(symbol);
      out.bindings[symbol] = value && *value >= 1 ? *value : 1;
    }
  }
  std::ranges::sort(out.defaulted);
}

}  // namespace

Result<BoundInputs> bind_symbols(const std::vector<const ValueDef*>& inputs,
                                 const ElaborateOptions& options) {
  std::set<std::string> symbols;
  for (const ValueDef* input : inputs)
    for (size_t i = 0; input->dims && i < input->dims->size(); ++i)
      if ((*input->dims)[i].value < 0) symbols.insert(symbol_of(*input, i));
  Errors errors = check_options(inputs, symbols, options);
  if (!errors.empty()) return errors;

  BoundInputs out;
  out.bindings = options.bindings;
  std::erase_if(out.bindings,
                [&](const auto& binding) { return !symbols.contains(binding.first); });
  const Status shapes = bind_from_shapes(inputs, options, out.bindings);
  if (!shapes) return shapes.errors();
  bind_rest(symbols, out);
  for (const ValueDef* input : inputs) {
    Dims& dims = out.dims.emplace_back();
    if (const Dims* given = lookup(options.input_shapes, input->name)) {
      dims = *given;
      continue;
    }
    if (!input->dims) {
      errors.push_back({Errc::invalid,
                        fmt::format("input '{}' has no shape; give one with --input-shape {}=1x...",
                                    input->name, input->name),
                        ""});
      continue;
    }
    for (size_t i = 0; i < input->dims->size(); ++i) {
      const int64_t value = (*input->dims)[i].value;
      dims.push_back(value >= 0 ? value : out.bindings.at(symbol_of(*input, i)));
    }
  }
  if (!errors.empty()) return errors;
  return out;
}

}  // namespace accsim::sim
