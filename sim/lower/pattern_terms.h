#pragma once
#include <vector>

#include "sim/operators/op_row.h"
#include "sim/work/row_work.h"

namespace accsim::sim {

/// What a term of a pattern stands for, where it isn't the result of an operation.
enum class PatternLeaf : uint8_t {
  none,
  x,          ///< computed; the same tensor wherever it stands
  gain,       ///< a constant
  shift,      ///< a constant
  epsilon,    ///< a constant of one element
  scalar,     ///< a constant of one element, any
  mask,       ///< any tensor
  kept,       ///< any tensor; what it is chosen by goes where it is true
  gone,       ///< as kept, the other way round: a constant, as commands only add
  far_below,  ///< a constant of one element, so low that its exponential is none
  number      ///< a constant of one element of a certain value
};

/// An expression that a pattern asks for. With neither leaf nor operation: one of its inputs.
struct PatternTerm {
  Algebra operation = Algebra::none;
  PatternLeaf leaf = PatternLeaf::none;
  double number = 0;
  std::vector<PatternTerm> inputs{};
};

/// A row of the table of patterns: what it is, and how it is spelled.
struct Pattern {
  RowKind kind = RowKind::softmax;
  PatternTerm term;
};

/// The table, larger patterns before those that are a part of them.
const std::vector<Pattern>& row_patterns();

}  // namespace accsim::sim
