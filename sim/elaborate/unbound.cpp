#include "sim/elaborate/unbound.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace accsim::sim {
namespace {

/// Of images and sequences, and what networks that halve them often divide.
constexpr std::array<int64_t, 4> kTried = {224, 256, 640, 8};

using Symbols = std::vector<std::string>;
using Fits = std::function<bool(const Symbols&, int64_t size)>;

/// The first of the symbols, and of them all, that fit; without those that need no size.
Symbols fewest(const Symbols& symbols, int64_t size, const Fits& fits) {
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

/// Options that would do, with one size for all of their symbols; none: no size that is tried does.
Symbols sizes_that_fit(const Symbols& symbols, const Fits& fits) {
  Symbols out;
  for (const int64_t size : kTried) {
    for (const std::string& symbol : fewest(symbols, size, fits))
      out.push_back(fmt::format("--bind {}={}", symbol, size));
    if (!out.empty()) break;
  }
  return out;
}

}  // namespace

Errors explain_unbound(Errors errors, const std::vector<std::string>& defaulted,
                       const ElaborateOptions& options,
                       const std::function<bool(const ElaborateOptions&)>& fits) {
  const bool of_shapes =
      std::ranges::any_of(errors, [](const Error& e) { return e.code == Errc::invalid; });
  if (defaulted.empty() || !of_shapes) return errors;
  const Symbols sizes = sizes_that_fit(defaulted, [&](const Symbols& symbols, int64_t size) {
    ElaborateOptions bound = options;
    for (const std::string& symbol : symbols) bound.bindings[symbol] = size;
    return fits(bound);
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

}  // namespace accsim::sim
