#pragma once
#include <algorithm>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "hw/program/program.h"
#include "sim/map/request.h"

namespace accsim::sim {

/// What a program is written from. Each kind has a type of its own that derives from it.
template <class ProblemType, class TilingType>
struct KindSource {
  using Problem = ProblemType;
  using Tiling = TilingType;
  Problem problem;
  Tiling tiling;
  static constexpr std::string_view kUnverifiable = "";
};

/// A kind of op that the mapper knows by its functions alone.
/// - of_request(): the request as the kind's problem, or nothing where it isn't of this kind.
/// - rule_tiling(): the fixed rule's choice: as few chunks as let loads, work and stores overlap,
///   or twice, four times ... as many until one fits, or half as many; nothing when none fits.
/// - chunked_tilings(): those that fit of about so many equal chunks; 0: none.
/// - tilings(): every one that is tried and fits, with a bound of its cycles, the best bound first;
///   whatever the capacities the same ones are tried, so that larger buffers only add some.
/// - kUnverifiable: why its values aren't those of golden and the core; "" where they are.
/// - to_string(): the tiling as reports spell it. emit() and CostEvaluator know its program.
/// - alike_key(): problems of one key have one tiling; "": those of other problems don't matter.
/// Its numbers, their reference and its constants are other folders' functions of the source, which
/// visit_kind() (mapping.h) finds.
template <class Source>
concept Kind = requires(const OpRequest& r, const typename Source::Problem& p,
                        const typename Source::Tiling& t, const hw::HwConfig& hw, int64_t chunks) {
  { Source::of_request(r, hw) } -> std::same_as<std::optional<typename Source::Problem>>;
  { rule_tiling(p, hw) } -> std::same_as<std::optional<typename Source::Tiling>>;
  { chunked_tilings(p, hw, chunks) } -> std::same_as<std::vector<typename Source::Tiling>>;
  { tilings(p, hw) } -> std::same_as<std::vector<std::pair<int64_t, typename Source::Tiling>>>;
  { to_string(p, t) } -> std::same_as<std::string>;
  { Source::kUnverifiable } -> std::convertible_to<std::string_view>;
};

/// The program of a tiling that fits.
template <class Problem, class Tiling>
hw::Program emit(const Problem& p, const hw::HwConfig& hw, const Tiling& t);

/// Of kinds without chunks of a given number.
template <class Problem>
auto chunked_tilings(const Problem& p, const hw::HwConfig& hw, int64_t)
    -> std::vector<typename decltype(rule_tiling(p, hw))::value_type> {
  return {};
}
/// Of kinds without problems that are alike.
template <class Problem>
std::string alike_key(const Problem&) {
  return "";
}

/// Calls `f` with the numbers of chunks that are tried: 1, 2, 3, 4, 6, 8, 12 ... up to `most`, the
/// last perhaps by a half beyond.
template <class F>
void for_chunk_counts(int64_t most, F f) {
  for (int64_t n = 1; n <= most; n *= 2) {
    f(n);
    if (n >= 2) f(n + n / 2);
  }
}

/// What the first number of chunks gives that gives anything: from kTilesToOverlap on, or fewer for
/// what is small, up to `most`, and then fewer.
template <class Try>
auto first_chunks(int64_t most, Try try_chunks) -> decltype(try_chunks(most)) {
  /// Enough tiles for the first load and the last store to be a small part of the whole.
  constexpr int64_t kTilesToOverlap = 8;
  int64_t first = 1;
  while (first * 2 <= std::min(most, kTilesToOverlap)) first *= 2;
  for (int64_t chunks = first; chunks <= most; chunks *= 2)
    if (auto cut = try_chunks(chunks)) return cut;
  for (int64_t chunks = first / 2; chunks >= 1; chunks /= 2)
    if (auto cut = try_chunks(chunks)) return cut;
  return std::nullopt;
}

/// The best bound first, equal ones as they were.
template <class Tiling>
void sort_by_bound(std::vector<std::pair<int64_t, Tiling>>& tilings) {
  std::ranges::stable_sort(tilings, {}, [](const auto& t) { return t.first; });
}

}  // namespace accsim::sim
