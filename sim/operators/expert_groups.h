#pragma once
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "sim/graph/graph.h"

namespace accsim::sim {

/// Assumption::of of the number of experts that any token goes to.
inline constexpr std::string_view kExpertsAtWork = "experts at work";

/// Tokens that each go to `chosen` different experts.
struct ExpertChoice {
  int64_t tokens = 0, chosen = 1;
};

/// Experts with as many rows each.
struct ExpertRows {
  int64_t experts = 0, rows = 0;
  friend bool operator==(const ExpertRows&, const ExpertRows&) = default;
};

/// Expected number of different experts at work where all are alike likely: E (1 - (1 - k/E)^T) of
/// E experts for T tokens that go to k each. An expert that a token goes to with probability k/E is
/// left out by all T with (1 - k/E)^T.
double expected_experts(int64_t experts, const ExpertChoice& choice);
/// The nearest whole number; at least k and at most min(E, T k), 0 without tokens.
int64_t usual_experts(int64_t experts, const ExpertChoice& choice);

/// Rows spread over so many experts, as evenly as whole rows can be.
std::vector<ExpertRows> even_groups(int64_t rows, int64_t experts);
/// By the rows of every expert; those without are left out.
std::vector<ExpertRows> groups_of_rows(const std::vector<int64_t>& rows);

/// Whom integers that name experts come from, one a row: a TopK that chooses some of the `experts`,
/// behind views and what is done with every element; nullopt where it isn't found.
std::optional<ExpertChoice> top_k_behind(const Graph& graph, TensorId indices, int64_t experts);
/// The same; where it isn't found, as many integers as there are experts at most are one token's,
/// and more are of a token each. Rows of integers are a token's each.
ExpertChoice choice_behind(const Graph& graph, TensorId indices, int64_t experts);

}  // namespace accsim::sim
