#pragma once
#include <optional>
#include <span>

namespace accsim::sim {

/// Pearson's correlation of two lists of one length; nothing for fewer than two pairs or a list
/// that doesn't vary.
std::optional<double> pearson_correlation(std::span<const double> x, std::span<const double> y);

/// Spearman's rank correlation: that of the ranks, equal values sharing the mean of theirs.
std::optional<double> rank_correlation(std::span<const double> x, std::span<const double> y);

}  // namespace accsim::sim
