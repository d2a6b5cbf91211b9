#include "sim/lower/pattern_terms.h"

#include <utility>

namespace accsim::sim {
namespace {

using Term = PatternTerm;

Term leaf_term(PatternLeaf l) { return {.leaf = l}; }
Term number_term(double value) { return {.leaf = PatternLeaf::number, .number = value}; }
Term apply_operation(Algebra operation, std::vector<Term> inputs) {
  return {.operation = operation, .inputs = std::move(inputs)};
}
Term any_term(std::vector<Term> inputs) {
  return apply_operation(Algebra::none, std::move(inputs));
}

Term x_term() { return leaf_term(PatternLeaf::x); }
Term add(Term a, Term b) { return apply_operation(Algebra::add, {std::move(a), std::move(b)}); }
Term multiply(Term a, Term b) {
  return apply_operation(Algebra::multiply, {std::move(a), std::move(b)});
}
Term divide(Term a, Term b) {
  return apply_operation(Algebra::divide, {std::move(a), std::move(b)});
}
Term power(Term a, double e) {
  return apply_operation(Algebra::power, {std::move(a), number_term(e)});
}
Term with_gain(Term a) { return multiply(std::move(a), leaf_term(PatternLeaf::gain)); }

/// x less its mean.
Term minus_mean() {
  return apply_operation(Algebra::subtract, {x_term(), apply_operation(Algebra::mean, {x_term()})});
}

/// The mean square and epsilon.
Term variance_term(const Term& of) {
  const Term square = any_term({power(of, 2), multiply(of, of)});
  return add(apply_operation(Algebra::mean, {square}), leaf_term(PatternLeaf::epsilon));
}

/// Divided by the root of its mean square, as exporters write it.
Term normalised_term(const Term& of) {
  const Term root = any_term(
      {apply_operation(Algebra::root, {variance_term(of)}), power(variance_term(of), 0.5)});
  const Term inverse = any_term({apply_operation(Algebra::reciprocal, {root}),
                                 divide(number_term(1), root), power(variance_term(of), -0.5)});
  return any_term({divide(of, root), multiply(of, inverse)});
}

/// x, or a multiple of it.
Term scaled_x() {
  const Term factor = leaf_term(PatternLeaf::scalar);
  return any_term({multiply(x_term(), factor), divide(x_term(), factor), x_term()});
}

Term softmax_of(Term of) { return apply_operation(Algebra::softmax, {std::move(of)}); }

std::vector<Pattern> make_patterns() {
  const Term layer = normalised_term(minus_mean()), rms = normalised_term(x_term());
  const Term mask = leaf_term(PatternLeaf::mask), low = leaf_term(PatternLeaf::far_below);
  const Term kept = leaf_term(PatternLeaf::kept), gone = leaf_term(PatternLeaf::gone);
  return {{RowKind::layer_norm, add(with_gain(layer), leaf_term(PatternLeaf::shift))},
          {RowKind::layer_norm, with_gain(layer)},
          {RowKind::layer_norm, layer},
          {RowKind::rms_norm, with_gain(rms)},
          {RowKind::rms_norm, rms},
          {RowKind::softmax, softmax_of(add(scaled_x(), mask))},
          {RowKind::softmax, softmax_of(apply_operation(Algebra::select, {kept, scaled_x(), low}))},
          {RowKind::softmax, softmax_of(apply_operation(Algebra::select, {gone, low, scaled_x()}))},
          {RowKind::softmax, softmax_of(scaled_x())}};
}

}  // namespace

const std::vector<Pattern>& row_patterns() {
  static const std::vector<Pattern> table = make_patterns();
  return table;
}

}  // namespace accsim::sim
