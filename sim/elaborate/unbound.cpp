#include "sim/elaborate/unbound.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "sim/base/shell_word.h"
#include "sim/elaborate/fitting_sizes.h"

namespace accsim::sim {
namespace {

/// Of images and sequences, and what networks that halve them often divide.
constexpr std::array<int64_t, 4> kTried = {224, 256, 640, 8};
/// More shapes than these aren't written out.
constexpr size_t kMostShapes = 3;
constexpr size_t kNamed = 8, kMostWords = 64;

using Symbols = std::vector<std::string>;
using Fits = std::function<bool(const Symbols&, int64_t size)>;

/// The first of the symbols, and of them all, that fit; without those that need no size.
Symbols fewest_symbols(const Symbols& symbols, int64_t size, const Fits& fits) {
  for (const std::string& symbol : symbols)
    if (fits({symbol}, size)) return {symbol};
  if (!fits(symbols, size)) return {};
  Symbols out = symbols;
  for (const std::string& symbol : symbols) {
    Symbols fewer = out;
    std::erase(fewer, symbol);
    if (fits(fewer, size)) out = std::move(fewer);
  }
  return out;
}

std::string bind_word(const std::string& symbol, const std::string& size) {
  return "--bind " + shell_word(symbol + "=" + size);
}

/// Options that would do, with one size for all of their symbols; none: no size that is tried does.
Symbols sizes_that_fit(const Symbols& symbols, const Fits& fits) {
  Symbols out;
  for (const int64_t size : kTried) {
    for (const std::string& symbol : fewest_symbols(symbols, size, fits))
      out.push_back(bind_word(symbol, std::to_string(size)));
    if (!out.empty()) break;
  }
  return out;
}

/// "n x 3 x height x width".
std::string shape_text(const ValueDef& input) {
  std::vector<std::string> dims;
  for (size_t i = 0; i < input.dims->size(); ++i) {
    const int64_t value = (*input.dims)[i].value;
    dims.push_back(value >= 0 ? std::to_string(value) : size_name(input, i));
  }
  return fmt::format("{}", fmt::join(dims, " x "));
}

using Names = std::set<std::string_view>;

/// The open sizes that an input has, each once.
Symbols open_in(const ValueDef& input, const Names& open) {
  Symbols out;
  for (size_t i = 0; input.dims && i < input.dims->size(); ++i) {
    if ((*input.dims)[i].value >= 0) continue;
    std::string name = size_name(input, i);
    const bool is_new = std::ranges::find(out, name) == out.end();
    if (is_new && open.contains(name)) out.push_back(std::move(name));
  }
  return out;
}

/// The open sizes, each by an input that has it.
std::string where_open(const InputDefs& inputs, const Names& open) {
  std::string out;
  std::set<std::string> said;
  size_t parts = 0;
  for (const ValueDef* input : inputs) {
    Symbols names = open_in(*input, open);
    std::erase_if(names, [&](const std::string& name) { return !said.insert(name).second; });
    if (names.empty() || ++parts > kNamed) continue;
    out += fmt::format("{}{} of input '{}' ({})", out.empty() ? "" : ", ", fmt::join(names, ", "),
                       input->name, shape_text(*input));
  }
  if (parts > kNamed) out += fmt::format(", and those of {} inputs more", parts - kNamed);
  return out;
}

/// Options with the shape of each input that has open sizes; "": there are too many.
std::string shape_words(const InputDefs& inputs, const Names& open,
                        const ElaborateOptions& options) {
  const Result<BoundInputs> bound = bind_symbols(inputs, options);
  if (!bound || !bound->open.empty()) return "";
  std::vector<std::string> words;
  for (size_t i = 0; i < inputs.size(); ++i)
    if (!options.input_shapes.contains(inputs[i]->name) && !open_in(*inputs[i], open).empty())
      words.push_back("--input-shape " +
                      shell_word(fmt::format("{}={}", inputs[i]->name, to_string(bound->dims[i]))));
  return words.size() > kMostShapes ? "" : fmt::format("{} or ", fmt::join(words, " "));
}

ElaborateOptions with_sizes(ElaborateOptions options, const Sizes& sizes) {
  options.bindings.insert(sizes.begin(), sizes.end());
  return options;
}

/// Options to copy, and why these. `first`: what was wrong with the first sizes that were tried.
std::string binding_advice(const InputDefs& inputs, const Symbols& open,
                           const ElaborateOptions& options, const FittingSizes& found,
                           const Errors& first) {
  const bool fits = !found.sizes.empty();
  std::vector<std::string> words;
  for (size_t i = 0; i < std::min(open.size(), kMostWords); ++i)
    words.push_back(bind_word(open[i], fits ? std::to_string(found.sizes.at(open[i])) : "N"));
  if (open.size() > kMostWords)
    words.push_back(fmt::format("and so on for {} more", open.size() - kMostWords));
  std::string why = "these fit";
  if (found.pictures.size() > 1)
    why = fmt::format("heights and widths of {} fit", fmt::join(found.pictures, ", "));
  if (!fits) why = "none that was tried fits" + (first.empty() ? "" : ": " + first.front().text());
  return fmt::format(
      "{}{} ({}; --bind '{}=N' gives all that is left)",
      fits ? shape_words(inputs, Names(open.begin(), open.end()), with_sizes(options, found.sizes))
           : "",
      fmt::join(words, " "), why, kAllOthers);
}

bool is_of_support(const Errors& errors) {
  return std::ranges::all_of(errors, [](const Error& e) { return e.code == Errc::unsupported; });
}

}  // namespace

Errors explain_unbound(Errors errors, const std::vector<std::string>& defaulted,
                       const ElaborateOptions& options, const Attempted& attempt) {
  const bool of_shapes =
      std::ranges::any_of(errors, [](const Error& e) { return e.code == Errc::invalid; });
  if (defaulted.empty() || !of_shapes) return errors;
  const Symbols sizes = sizes_that_fit(defaulted, [&](const Symbols& symbols, int64_t size) {
    ElaborateOptions bound = options;
    for (const std::string& symbol : symbols) bound.bindings[symbol] = size;
    return attempt(bound).empty();
  });
  std::string text = fmt::format("; {} {}n't bound and {} as 1: ", fmt::join(defaulted, ", "),
                                 defaulted.size() == 1 ? "was" : "were",
                                 defaulted.size() == 1 ? "counts" : "count");
  text += sizes.empty() ? "give the sizes with --bind NAME=N, if that is why"
                        : fmt::format("with {} the shapes fit", fmt::join(sizes, " "));
  for (Error& error : errors)
    if (error.code == Errc::invalid) error.message += text;
  return errors;
}

Errors ask_for_sizes(const GraphDef& graph, const InputDefs& inputs,
                     const std::vector<std::string>& open, const ElaborateOptions& options,
                     const Attempted& attempt) {
  ElaborateOptions trial = options;
  Errors first, unsupported;
  const auto fits = [&](const Sizes& sizes) {
    Errors errors = attempt(with_sizes(trial, sizes));
    if (!errors.empty() && is_of_support(errors) && unsupported.empty()) {
      unsupported = std::move(errors);
      trial.allow_unsupported = true;
      errors = attempt(with_sizes(trial, sizes));
    }
    if (first.empty()) first = errors;
    return errors.empty();
  };
  const Result<BoundInputs> bound = bind_symbols(inputs, options);
  const FittingSizes found =
      find_sizes(graph, inputs, open, bound ? bound->bindings : Sizes(), fits);
  const std::string text =
      fmt::format("nobody gave {}, and only a batch, a first axis, is 1 unasked: give {}",
                  where_open(inputs, Names(open.begin(), open.end())),
                  binding_advice(inputs, open, options, found, first));
  Errors out = {{Errc::usage, text, ""}};
  out.insert(out.end(), unsupported.begin(), unsupported.end());
  return out;
}

}  // namespace accsim::sim
