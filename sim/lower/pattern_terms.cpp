#include "sim/lower/pattern_terms.h"

#include <utility>

namespace accsim::sim {
namespace {

using Term = PatternTerm;

Term leaf(PatternLeaf l) { return {.leaf = l}; }
Term number(double value) { return {.leaf = PatternLeaf::number, .number = value}; }
Term apply(Algebra operation, std::vector<Term> inputs) {
  return {.operation = operation, .inputs = std::move(inputs)};
}
Term any(std::vector<Term> inputs) { return apply(Algebra::none, std::move(inputs)); }

Term x() { return leaf(PatternLeaf::x); }
Term add(Term a, Term b) { return apply(Algebra::add, {std::move(a), std::move(b)}); }
Term multiply(Term a, Term b) { return apply(Algebra::multiply, {std::move(a), std::move(b)}); }
Term divide(Term a, Term b) { return apply(Algebra::divide, {std::move(a), std::move(b)}); }
Term power(Term a, double e) { return apply(Algebra::power, {std::move(a), number(e)}); }
Term gained(Term a) { return multiply(std::move(a), leaf(PatternLeaf::gain)); }

/// x less its mean.
Term centred() { return apply(Algebra::subtract, {x(), apply(Algebra::mean, {x()})}); }

/// The mean square and epsilon.
Term spread(const Term& of) {
  const Term square = any({power(of, 2), multiply(of, of)});
  return add(apply(Algebra::mean, {square}), leaf(PatternLeaf::epsilon));
}

/// Divided by the root of its mean square, as exporters write it.
Term normal(const Term& of) {
  const Term root = any({apply(Algebra::root, {spread(of)}), power(spread(of), 0.5)});
  const Term inverse =
      any({apply(Algebra::reciprocal, {root}), divide(number(1), root), power(spread(of), -0.5)});
  return any({divide(of, root), multiply(of, inverse)});
}

/// x, or a multiple of it.
Term scaled() {
  const Term factor = leaf(PatternLeaf::scalar);
  return any({multiply(x(), factor), divide(x(), factor), x()});
}

Term softmax(Term of) { return apply(Algebra::softmax, {std::move(of)}); }

std::vector<Pattern> make_patterns() {
  const Term layer = normal(centred()), rms = normal(x());
  const Term mask = leaf(PatternLeaf::mask), low = leaf(PatternLeaf::far_below);
  const Term kept = leaf(PatternLeaf::kept), gone = leaf(PatternLeaf::gone);
  return {{RowKind::layer_norm, add(gained(layer), leaf(PatternLeaf::shift))},
          {RowKind::layer_norm, gained(layer)},
          {RowKind::layer_norm, layer},
          {RowKind::rms_norm, gained(rms)},
          {RowKind::rms_norm, rms},
          {RowKind::softmax, softmax(add(scaled(), mask))},
          {RowKind::softmax, softmax(apply(Algebra::select, {kept, scaled(), low}))},
          {RowKind::softmax, softmax(apply(Algebra::select, {gone, low, scaled()}))},
          {RowKind::softmax, softmax(scaled())}};
}

}  // namespace

const std::vector<Pattern>& patterns() {
  static const std::vector<Pattern> table = make_patterns();
  return table;
}

}  // namespace accsim::sim
