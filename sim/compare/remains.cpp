#include "sim/compare/remains.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/report/format.h"

namespace accsim::sim {
namespace {

double to_real(int64_t v) { return static_cast<double>(v); }
double safe_ratio(double a, double b) { return b > 0 ? a / b : 0; }

/// "16", "1.5", "0.25".
std::string short_number(double v) {
  return std::abs(v - std::round(v)) < 5e-3 ? format_fixed(v, 0) : format_fixed(v, 2);
}
std::string percent_text(double share) { return format_fixed(100 * share, 1) + " %"; }

/// How B's stands to A's, as a factor: "times more" or "fewer" would leave open from where one
/// counts. "1/1.71 of A's", "1.56 times A's".
std::string beside_a(double speedup) {
  return speedup < 1 ? fmt::format("{} times A's", format_fixed(1 / speedup, 2))
                     : fmt::format("1/{} of A's", format_fixed(speedup, 2));
}

/// "1/3.02 of the cycles", "2 times the cycles", "the same cycles".
std::string speedup_text(double speedup, std::string_view what) {
  if (speedup <= 0) return fmt::format("no {} to compare", what);
  if (speedup == 1) return fmt::format("the same {}", what);
  if (std::abs(speedup - 1) < 5e-3)
    return fmt::format("{:.2g} % {} {}", 100 * std::abs(1 - 1 / speedup),
                       speedup < 1        ? "more"
                       : what == "cycles" ? "fewer"
                                          : "less",
                       what);
  if (speedup < 1) return fmt::format("{} times the {}", format_fixed(1 / speedup, 2), what);
  return fmt::format("1/{} of the {}", format_fixed(speedup, 2), what);
}

std::string headline(const Comparison& c, const Remains& r) {
  std::string out;
  if (r.array_ratio != 1)
    out = fmt::format("{} times the array ({} x {} -> {} x {}), ", short_number(r.array_ratio),
                      c.a.rows, c.a.cols, c.b.rows, c.b.cols);
  out += speedup_text(r.speedup, "cycles");
  if (c.a.clock_mhz != c.b.clock_mhz)
    out += fmt::format(" and, at {} MHz instead of {}, {}", short_number(c.b.clock_mhz),
                       short_number(c.a.clock_mhz), speedup_text(r.time_speedup, "time"));
  if (!r.units.empty() && r.units.front().cycles_b > 0)
    out += fmt::format(": {} of B is {} ({} of A)", percent_text(r.units.front().share_b),
                       name(r.units.front().unit), percent_text(r.units.front().share_a));
  return out + ".";
}

/// Where B's cycles beyond the ideal are: by unit, what it takes beyond its share of the ideal.
std::string beyond_ideal(const Comparison& c, const Remains& r) {
  std::vector<std::pair<double, Unit>> beyond;
  for (const UnitShare& u : r.units)
    beyond.emplace_back(to_real(u.cycles_b) - to_real(u.cycles_a) / r.array_ratio, u.unit);
  std::ranges::stable_sort(beyond, [](const auto& x, const auto& y) { return x.first > y.first; });
  std::string out =
      fmt::format("Had all of A shrunk to 1/{}, B would take {} cycles; it takes {}.",
                  short_number(r.array_ratio), format_fixed(*r.ideal, 0), format_count(c.b.cycles));
  std::string list;
  for (const auto& [cycles, unit] : beyond)
    if (cycles >= 0.5)
      list += fmt::format("{}{} {}", list.empty() ? "" : ", ", name(unit), format_fixed(cycles, 0));
  if (!list.empty()) out += fmt::format(" Beyond that: {}.", list);
  return out;
}

}  // namespace

Remains find_remains(const Comparison& c) {
  Remains out;
  out.array_ratio =
      safe_ratio(to_real(c.b.rows) * to_real(c.b.cols), to_real(c.a.rows) * to_real(c.a.cols));
  out.speedup = safe_ratio(to_real(c.a.cycles), to_real(c.b.cycles));
  out.time_speedup = safe_ratio(c.a.nanoseconds(c.a.cycles), c.b.nanoseconds(c.b.cycles));
  if (out.array_ratio > 0 && out.array_ratio != 1 && c.a.macs == c.b.macs && c.a.macs > 0)
    out.ideal = to_real(c.a.cycles) / out.array_ratio;
  const CauseCycles a = run_causes(c.a), b = run_causes(c.b);
  for (size_t u = 0; u < kUnits; ++u) {
    UnitShare share{.unit = static_cast<Unit>(u)};
    for (size_t i = 0; i < kCauses; ++i)
      if (cause_table()[i].unit == share.unit) {
        share.cycles_a += a[i];
        share.cycles_b += b[i];
      }
    if (share.cycles_a == 0 && share.cycles_b == 0) continue;
    share.share_a = safe_ratio(to_real(share.cycles_a), to_real(c.a.cycles));
    share.share_b = safe_ratio(to_real(share.cycles_b), to_real(c.b.cycles));
    share.least_b = c.b.cycles - share.cycles_b;
    out.units.push_back(share);
  }
  std::ranges::stable_sort(
      out.units, [](const UnitShare& x, const UnitShare& y) { return x.cycles_b > y.cycles_b; });
  return out;
}

std::vector<std::string> remains_sentences(const Comparison& c, const Remains& r) {
  std::vector<std::string> out = {headline(c, r)};
  if (r.ideal && r.array_ratio > 1) out.push_back(beyond_ideal(c, r));
  const size_t most = out.size() + 2;
  for (const UnitShare& u : r.units) {
    if (out.size() >= most || u.share_b < 0.05 || u.unit == Unit::none) break;
    if (u.least_b <= 0) continue;
    out.push_back(fmt::format(
        "Without {} ({} cycles, {} of B; {} in A) B would take {} cycles at best, {}.",
        name(u.unit), format_count(u.cycles_b), percent_text(u.share_b), format_count(u.cycles_a),
        format_count(u.least_b), beside_a(safe_ratio(to_real(c.a.cycles), to_real(u.least_b)))));
  }
  return out;
}

}  // namespace accsim::sim
