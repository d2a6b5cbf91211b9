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
    std::optional<int64_t> sum = parse_term();
    while (sum && !at_end()) {
      const char op = text_[at_++];
      const std::optional<int64_t> next = parse_term();
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

  std::optional<int64_t> parse_term() {
    std::optional<int64_t> value = parse_factor();
    while (value && !at_end() && (text_[at_] == '*' || text_[at_] == '/')) {
      const char op = text_[at_++];
      if (op == '/' && at_ < text_.size() && text_[at_] == '/') ++at_;
      const std::optional<int64_t> next = parse_factor();
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

  std::optional<int64_t> parse_factor() {
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

/// Exporters write these for an axis that they know no name of.
bool names_nothing(std::string_view symbol) {
  const auto in_names = [](unsigned char c) { return std::isalnum(c) != 0 || c >= 0x80; };
  return std::ranges::none_of(symbol, in_names) || symbol == "None" || symbol == "-1";
}

template <class Map>
const typename Map::mapped_type* find_value(const Map& map, const std::string& key) {
  const auto found = map.find(key);
  return found == map.end() ? nullptr : &found->second;
}

Errors check_bindings(const std::set<std::string>& symbols, const ElaborateOptions& options) {
  Errors errors;
  for (const auto& [symbol, size] : options.bindings) {
    if (symbol == kAllOthers) {
      if (size < 1)
        errors.push_back(
            {Errc::usage,
             fmt::format("'{}' is bound to {}; sizes below 1 are bound by name", symbol, size),
             ""});
      continue;
    }
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
  return errors;
}

Errors check_options(const InputDefs& inputs, const std::set<std::string>& symbols,
                     const ElaborateOptions& options) {
  Errors errors = check_bindings(symbols, options);
  std::vector<std::string_view> names;
  for (const ValueDef* input : inputs) names.push_back(input->name);
  for (const auto& [name, dims] : options.input_shapes) {
    const bool known = std::ranges::any_of(inputs, [&, &name = name](const ValueDef* input) {
      return input->name == name || input->part_of == name;
    });
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
Status bind_from_shapes(const InputDefs& inputs, const ElaborateOptions& options,
                        Bindings& bindings) {
  for (const ValueDef* input : inputs) {
    const Dims* given = given_shape(*input, options);
    if (given == nullptr || !input->dims || input->dims->size() != given->size()) continue;
    if (!input->part_of.empty()) continue;  // tensors of a sequence may have sizes of their own
    for (size_t i = 0; i < given->size(); ++i) {
      if ((*input->dims)[i].value >= 0) continue;
      const std::string symbol = size_name(*input, i);
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

/// An only axis is no batch: it may as well count tokens, samples or points.
bool is_batch(const NamedSize& size, const InputDefs& inputs) {
  const auto axes = [&](const SizePlace& at) { return inputs[at.input]->dims->size(); };
  const size_t most = axes(*std::ranges::max_element(size.places, {}, axes));
  return most > 1 && std::ranges::all_of(size.places, [&](const SizePlace& at) {
           return at.axis == 0 || axes(at) < most;
         });
}

/// What the name of a size spells of those that are bound; nullopt when that is no size.
std::optional<int64_t> spelt_size(const std::string& name, const Bindings& bound) {
  const std::optional<int64_t> value = Arithmetic(name, bound).evaluate();
  return value && *value >= 1 ? value : std::nullopt;
}

/// The sizes that neither the options nor the shapes bind.
void bind_rest(const std::vector<NamedSize>& sizes, const InputDefs& inputs,
               const ElaborateOptions& options, BoundInputs& out) {
  constexpr int64_t kSupposed = 1024;
  const int64_t* const rest = find_value(options.bindings, std::string(kAllOthers));
  const auto bind_plain = [&](const NamedSize& size) {
    if (rest != nullptr) {
      out.bindings.emplace(size.name, *rest);
    } else if (is_batch(size, inputs)) {
      out.bindings.emplace(size.name, 1);
      out.defaulted.push_back(size.name);
    } else {
      out.open.push_back(size.name);
    }
  };
  for (const NamedSize& size : sizes)
    if (!looks_computed(size.name) && !out.bindings.contains(size.name)) bind_plain(size);
  Bindings supposed = out.bindings;  // a size that open ones spell isn't open itself
  for (const std::string& name : out.open) supposed.emplace(name, kSupposed);
  for (const NamedSize& size : sizes) {
    if (!looks_computed(size.name) || out.bindings.contains(size.name)) continue;
    if (const auto value = spelt_size(size.name, out.bindings))
      out.bindings.emplace(size.name, *value);
    else if (!spelt_size(size.name, supposed))
      bind_plain(size);
  }
  std::ranges::sort(out.defaulted);
}

/// The shape of an input, given or with what its sizes are bound to.
Result<Dims> dims_of(const ValueDef& input, const ElaborateOptions& options,
                     const Bindings& bindings) {
  if (const Dims* given = given_shape(input, options)) return *given;
  const std::string& name = input.part_of.empty() ? input.name : input.part_of;
  if (!input.dims)
    return Error{Errc::invalid,
                 fmt::format("input '{}' has no shape; give one with --input-shape {}=1x...",
                             input.name, name),
                 ""};
  Dims dims;
  for (size_t i = 0; i < input.dims->size(); ++i) {
    const int64_t value = (*input.dims)[i].value;
    dims.push_back(value >= 0 ? value : bindings.at(size_name(input, i)));
  }
  return dims;
}

}  // namespace

std::string size_name(const ValueDef& input, size_t axis) {
  const std::string& symbol = (*input.dims)[axis].symbol;
  return names_nothing(symbol) ? fmt::format("{}_dim{}", input.name, axis) : symbol;
}

const Dims* given_shape(const ValueDef& input, const ElaborateOptions& options) {
  const Dims* const own = find_value(options.input_shapes, input.name);
  return own != nullptr || input.part_of.empty() ? own
                                                 : find_value(options.input_shapes, input.part_of);
}

std::vector<NamedSize> named_sizes(const InputDefs& inputs) {
  std::vector<NamedSize> out;
  std::map<std::string, size_t> index;
  for (size_t i = 0; i < inputs.size(); ++i)
    for (size_t axis = 0; inputs[i]->dims && axis < inputs[i]->dims->size(); ++axis) {
      if ((*inputs[i]->dims)[axis].value >= 0) continue;
      const auto [at, is_new] = index.emplace(size_name(*inputs[i], axis), out.size());
      if (is_new) out.push_back({at->first, {}});
      out[at->second].places.push_back({i, axis});
    }
  return out;
}

Result<BoundInputs> bind_symbols(const InputDefs& inputs, const ElaborateOptions& options) {
  std::vector<NamedSize> sizes = named_sizes(inputs);
  std::set<std::string> symbols;
  for (const NamedSize& size : sizes) symbols.insert(size.name);
  Errors errors = check_options(inputs, symbols, options);
  if (!errors.empty()) return errors;

  BoundInputs out;
  out.bindings = options.bindings;
  std::erase_if(out.bindings,
                [&](const auto& binding) { return !symbols.contains(binding.first); });
  const Status shapes = bind_from_shapes(inputs, options, out.bindings);
  if (!shapes) return shapes.errors();
  std::erase_if(sizes, [&](const NamedSize& size) {
    return std::ranges::all_of(size.places, [&](const SizePlace& at) {
      return given_shape(*inputs[at.input], options) != nullptr;
    });
  });
  bind_rest(sizes, inputs, options, out);
  for (const ValueDef* input : inputs) {
    if (!out.open.empty() && input->dims) continue;
    const Result<Dims> dims = dims_of(*input, options, out.bindings);
    if (dims)
      out.dims.push_back(*dims);
    else
      errors.insert(errors.end(), dims.errors().begin(), dims.errors().end());
  }
  if (!errors.empty()) return errors;
  return out;
}

}  // namespace accsim::sim
