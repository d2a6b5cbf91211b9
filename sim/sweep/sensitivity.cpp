#include "sim/sweep/sensitivity.h"

#include <algorithm>
#include <cmath>

namespace accsim::sim {
namespace {

constexpr int kMostRounds = 500;
constexpr double kSettled = 1e-10;

}  // namespace

std::vector<std::vector<double>> main_effects(std::span<const Levels> levels,
                                              std::span<const double> values,
                                              std::span<const size_t> steps) {
  std::vector<std::vector<double>> out;
  for (const size_t n : steps) out.emplace_back(n, 0.0);
  // What no axis explains yet. One axis after the other takes its means out of it: Gauss-Seidel on
  // the normal equations.
  std::vector<double> rest(values.begin(), values.end());
  double moved = 1;
  for (int round = 0; round < kMostRounds && moved > kSettled; ++round) {
    moved = 0;
    for (size_t a = 0; a < steps.size(); ++a) {
      std::vector<double> sum(steps[a], 0), count(steps[a], 0);
      for (size_t i = 0; i < rest.size(); ++i) {
        sum[levels[i][a]] += rest[i];
        ++count[levels[i][a]];
      }
      for (size_t s = 0; s < steps[a]; ++s) {
        sum[s] /= std::max(count[s], 1.0);
        out[a][s] += sum[s];
        moved = std::max(moved, std::abs(sum[s]));
      }
      for (size_t i = 0; i < rest.size(); ++i) rest[i] -= sum[levels[i][a]];
    }
  }
  return out;
}

}  // namespace accsim::sim
