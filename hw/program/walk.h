#pragma once
#include <cstdint>
#include <vector>

#include "sim/base/inline_vector.h"

namespace accsim::hw {

/// base + sum of coeff * index over the enclosing loops.
struct Affine {
  struct Term {
    int loop;  ///< Loop::id
    int64_t coeff;
    friend bool operator==(const Term&, const Term&) = default;
  };
  int64_t base = 0;
  std::vector<Term> terms;

  Affine() = default;
  Affine(int64_t constant) : base(constant) {}
  /// Adds coeff * index of a loop that the sum doesn't have yet.
  void add_term(int loop, int64_t coeff) { terms.push_back({loop, coeff}); }
  Affine& operator+=(const Affine& other);
  friend Affine operator+(Affine a, const Affine& b) { return a += b; }
  friend Affine operator*(Affine a, int64_t factor);
  friend bool operator==(const Affine&, const Affine&) = default;
};

/// A strided walk over a tensor: nested counts and byte strides, outermost first, around contiguous
/// runs. The slot side is dense: runs follow one another without gaps.
struct Walk {
  struct Level {
    int64_t count;
    int64_t stride;  ///< bytes
    friend bool operator==(const Level&, const Level&) = default;
  };
  InlineVector<Level, 8> levels;
  int64_t run = 0;  ///< bytes of one contiguous piece

  int64_t run_count() const;
  int64_t bytes() const { return run_count() * run; }
  /// Folds levels whose stride continues the run into it, and drops levels of count 1.
  Walk& merge();
  friend bool operator==(const Walk&, const Walk&) = default;
};

}  // namespace accsim::hw
