#pragma once
#include <cmath>
#include <concepts>
#include <optional>

#include "sim/operators/fold.h"
#include "sim/operators/node_view.h"
#include "sim/operators/op_row.h"
#include "sim/operators/work_counts.h"

namespace accsim::sim {

/// Value rules of the elementwise operators. All of them set nothing when they can't compute the
/// value exactly (division by zero, types outside is_foldable()).

/// Mean of all inputs, which broadcast; floats only.
Status mean_value(InferContext& node);
/// Mod: the sign is the divisor's, or by attribute fmod the dividend's.
Status mod_value(InferContext& node);
/// BitShift, by attribute direction.
Status bit_shift_value(InferContext& node);
/// Pow in the base's type; integers to a negative power have no value.
Status pow_value(InferContext& node);
/// Clip between min and max (inputs or attributes); when they cross, max wins.
Status clip_value(InferContext& node);
/// Where: input 1 at true elements of input 0, else input 2; all three broadcast.
Status where_value(InferContext& node);
/// Cast and CastLike: input 0 as output 0's type.
Status cast_value(InferContext& node);
/// Output 0 is input 0.
Status pass_value(InferContext& node);
/// pass_value(), and a mask of ones.
Status dropout_value(InferContext& node);
Status is_nan_value(InferContext& node);
Status is_inf_value(InferContext& node);  ///< by attributes detect_negative and detect_positive

/// One element's arithmetic; T is int64_t, uint64_t or double. nullopt: not defined there.
namespace element {

// Integer arithmetic wraps, so it is done on unsigned numbers; on doubles `wide` changes nothing.
/// The number to do arithmetic with.
constexpr double wide(double v) { return v; }
constexpr uint64_t wide(int64_t v) { return static_cast<uint64_t>(v); }
constexpr uint64_t wide(uint64_t v) { return v; }

/// Whether a signed integer is -1, by which division overflows.
template <class T>
constexpr bool is_minus_one(T v) {
  if constexpr (std::signed_integral<T>)
    return v == -1;
  else
    return false;
}

/// a + b; integers wrap.
struct Add {
  template <class T>
  static std::optional<T> result_of(T a, T b) {
    return static_cast<T>(wide(a) + wide(b));
  }
};
/// a - b; integers wrap.
struct Sub {
  template <class T>
  static std::optional<T> result_of(T a, T b) {
    return static_cast<T>(wide(a) - wide(b));
  }
};
/// a * b; integers wrap.
struct Mul {
  template <class T>
  static std::optional<T> result_of(T a, T b) {
    return static_cast<T>(wide(a) * wide(b));
  }
};
/// a / b: integers truncate towards zero and have no value over 0.
struct Div {
  template <class T>
  static std::optional<T> result_of(T a, T b) {
    if constexpr (std::integral<T>)
      if (b == 0) return std::nullopt;
    return is_minus_one(b) ? static_cast<T>(T{} - wide(a)) : a / b;
  }
};
/// Remainder with the sign of the dividend, as C has it.
struct RemainderOfC {
  template <class T>
  static std::optional<T> result_of(T a, T b) {
    if constexpr (std::floating_point<T>) {
      return std::fmod(a, b);
    } else {
      if (b == 0) return std::nullopt;
      return is_minus_one(b) ? T{} : a % b;
    }
  }
};
/// Remainder with the sign of the divisor, as Python has it.
struct RemainderOfPython {
  template <class T>
  static std::optional<T> result_of(T a, T b) {
    std::optional<T> r = RemainderOfC::result_of(a, b);
    if (r && *r != 0 && ((*r < 0) != (b < 0))) *r = static_cast<T>(*r + b);
    if constexpr (std::floating_point<T>)
      if (*r == 0) *r = std::copysign(*r, b);
    return r;
  }
};
// A NaN on either side wins, as in NumPy.
/// The smaller one; a NaN on either side wins.
struct Min {
  template <class T>
  static std::optional<T> result_of(T a, T b) {
    return b < a || b != b ? b : a;
  }
};
/// The larger one; a NaN on either side wins.
struct Max {
  template <class T>
  static std::optional<T> result_of(T a, T b) {
    return a < b || b != b ? b : a;
  }
};
/// Both bits, or both truths.
struct And {
  template <std::integral T>
  static std::optional<T> result_of(T a, T b) {
    return a & b;
  }
};
/// Either bit, or either truth.
struct Or {
  template <std::integral T>
  static std::optional<T> result_of(T a, T b) {
    return a | b;
  }
};
/// One bit of two, or one truth.
struct Xor {
  template <std::integral T>
  static std::optional<T> result_of(T a, T b) {
    return a ^ b;
  }
};
// Integers of every width come sign-extended to 64 bits and are cut to their width afterwards. So
// shifts beyond the width, and negative ones (large when unsigned), leave only copies of the sign.
/// a << b; 0 beyond 63.
struct ShiftLeft {
  template <std::integral T>
  static std::optional<T> result_of(T a, T b) {
    return static_cast<T>(wide(b) < 64 ? wide(a) << wide(b) : 0);
  }
};
/// a >> b; copies of the sign beyond 63.
struct ShiftRight {
  template <std::integral T>
  static std::optional<T> result_of(T a, T b) {
    return wide(b) < 64 ? static_cast<T>(a >> b) : static_cast<T>(a < T{} ? -1 : 0);
  }
};
/// a, times the slope b where it is negative.
struct PRelu {
  template <class T>
  static std::optional<T> result_of(T a, T b) {
    return a < 0 ? Mul::result_of(a, b) : a;
  }
};

/// -a; the least integer is its own.
struct Neg {
  template <class T>
  static T result_of(T a) {
    return static_cast<T>(-wide(a));
  }
};
/// |a|; the least integer is its own.
struct Abs {
  template <class T>
  static T result_of(T a) {
    return a < 0 ? Neg::result_of(a) : a + T{};
  }  // -0.0 + 0.0 is 0.0
};
/// -1, 0 or 1; NaN of NaN.
struct Sign {
  template <class T>
  static T result_of(T a) {
    return a != a ? a : static_cast<T>(static_cast<int>(T{} < a) - (a < T{}));
  }
};
/// a, or 0 where it is negative.
struct Relu {
  template <class T>
  static T result_of(T a) {
    return a < 0 ? T{} : a;
  }
};
/// Whether a is 0.
struct Not {
  template <std::integral T>
  static T result_of(T a) {
    return a == 0;
  }
};
/// All bits turned.
struct BitwiseNot {
  template <std::integral T>
  static T result_of(T a) {
    return ~a;
  }
};
/// A function of reals, on floats only.
template <double (*F)(double)>
struct Real {
  template <std::floating_point T>
  static T result_of(T a) {
    return F(a);
  }
};
/// 1 / (1 + e^-a).
inline double sigmoid(double a) { return 1 / (1 + std::exp(-a)); }
/// 1 / a; infinite at 0.
inline double reciprocal(double a) { return 1 / a; }
/// Halves go to the even neighbour, which is the default rounding mode.
inline double round_even(double a) { return std::nearbyint(a); }

/// A result as its tensor's type holds it.
inline double fit_to_type(DType type, double v) { return round_to(type, v); }
inline int64_t fit_to_type(DType type, int64_t v) { return wrap_to_type(type, v); }
inline uint64_t fit_to_type(DType type, uint64_t v) {
  return static_cast<uint64_t>(wrap_to_type(type, static_cast<int64_t>(v)));
}

/// Input i's elements as T, in the order of an output of shape `dims` that it broadcasts to.
template <class T>
std::vector<T> broadcast_elements(const NodeView& node, size_t i, const Dims& dims) {
  const std::vector<T> values = read_as<T>(*node.value(i));
  std::vector<T> all;
  for (const int64_t at : strided_offsets(dims, broadcast_strides(node.dims(i), dims)))
    all.push_back(values[static_cast<size_t>(at)]);
  return all;
}

/// Folds the inputs from left to right, rounding after each step as a machine would.
template <class Op, class T>
void fold_inputs(InferContext& node) {
  const Tensor& out = node.output(0);
  std::vector<T> total = broadcast_elements<T>(node, 0, out.dims);
  for (size_t i = 1; i < node.input_count(); ++i) {
    const std::vector<T> values = broadcast_elements<T>(node, i, out.dims);
    for (size_t n = 0; n < total.size(); ++n) {
      const std::optional<T> next = Op::result_of(total[n], values[n]);
      if (!next) return;
      total[n] = fit_to_type(out.dtype, *next);
    }
  }
  store_results(node, 0, total);
}

}  // namespace element

/// All inputs can be computed with and are of one type.
bool same_type_inputs(const NodeView& node);

/// Op::result_of() on every element of input 0, where Op takes its type.
template <class Op>
Status unary_value(InferContext& node) {
  if (!can_fold(node)) return ok();
  with_type(node.dtype(0), [&]<class T>(T) {
    if constexpr (requires(T a) { Op::result_of(a); }) {
      std::vector<T> values = read_as<T>(*node.value(0));
      for (T& v : values) v = Op::result_of(v);
      store_results(node, 0, values);
    }
  });
  return ok();
}

/// Two inputs or more, broadcast.
template <class Op>
Status fold_value(InferContext& node) {
  if (!same_type_inputs(node)) return ok();
  with_type(node.dtype(0), [&]<class T>(T) {
    if constexpr (requires(T a) { Op::result_of(a, a); }) element::fold_inputs<Op, T>(node);
  });
  return ok();
}

/// Op()(a, b) of two inputs, broadcast, to booleans.
template <class Op>
Status compare_value(InferContext& node) {
  if (!same_type_inputs(node)) return ok();
  with_type(node.dtype(0), [&]<class T>(T) {
    const Dims& dims = node.output(0).dims;
    const std::vector<T> a = element::broadcast_elements<T>(node, 0, dims);
    const std::vector<T> b = element::broadcast_elements<T>(node, 1, dims);
    std::vector<int64_t> results(a.size());
    for (size_t n = 0; n < a.size(); ++n) results[n] = Op()(a[n], b[n]);
    node.set_value(0, std::move(results));
  });
  return ok();
}

/// A row of a function of one real that is one special operation.
template <double (*F)(double)>
constexpr OpRow real_function(OpRow row) {
  row.value = unary_value<element::Real<F>>;
  row.cost = pointwise_cost<0, 1>;
  return row;
}

}  // namespace accsim::sim
