#include "sim/validate/statistics.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "sim/base/check.h"

namespace accsim::sim {
namespace {

double mean(std::span<const double> x) {
  return std::accumulate(x.begin(), x.end(), 0.0) / static_cast<double>(x.size());
}

/// From 1; equal values share the mean of their ranks.
std::vector<double> ranks_of(std::span<const double> x) {
  std::vector<size_t> order(x.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, {}, [&](size_t i) { return x[i]; });
  std::vector<double> out(x.size());
  for (size_t begin = 0; begin < order.size();) {
    size_t end = begin;
    while (end < order.size() && x[order[end]] == x[order[begin]]) ++end;
    const double shared = (static_cast<double>(begin + 1) + static_cast<double>(end)) / 2;
    for (; begin < end; ++begin) out[order[begin]] = shared;
  }
  return out;
}

}  // namespace

std::optional<double> pearson_correlation(std::span<const double> x, std::span<const double> y) {
  check(x.size() == y.size(), "pairs of values");
  if (x.size() < 2) return std::nullopt;
  const double mx = mean(x), my = mean(y);
  double xx = 0, yy = 0, xy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - mx) * (x[i] - mx);
    yy += (y[i] - my) * (y[i] - my);
    xy += (x[i] - mx) * (y[i] - my);
  }
  if (xx <= 0 || yy <= 0) return std::nullopt;
  return xy / std::sqrt(xx * yy);
}

std::optional<double> rank_correlation(std::span<const double> x, std::span<const double> y) {
  check(x.size() == y.size(), "pairs of values");
  return pearson_correlation(ranks_of(x), ranks_of(y));
}

}  // namespace accsim::sim
