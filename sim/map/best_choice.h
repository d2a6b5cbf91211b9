#pragma once
#include <cstdint>
#include <optional>

#include "sim/map/mapper.h"

namespace accsim::sim {

/// The best choice offered so far, the first of equals.
template <class Choice>
struct Best {
  std::optional<Choice> chosen;
  Cost cost;
  Score score;
  int64_t evaluated = 0;

  void offer(const Choice& choice, const Cost& its_cost, const Score& its_score) {
    ++evaluated;
    if (chosen && its_score >= score) return;
    chosen = choice;
    cost = its_cost;
    score = its_score;
  }
};

/// A mapping of this cost, for which so many others were timed and bounded.
inline Mapping costed(const Cost& cost, int64_t evaluated, int64_t considered) {
  Mapping m;
  m.timing = cost.timing;
  m.counts = cost.counts;
  m.evaluated = evaluated;
  m.candidates = considered;
  return m;
}

}  // namespace accsim::sim
