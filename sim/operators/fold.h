#pragma once
#include <concepts>
#include <cstdint>
#include <vector>

#include "sim/operators/node_view.h"

namespace accsim::sim {

/// What the value rules compute with. A value is int64 for integer and boolean tensors (uint64 as
/// its bit pattern) and double for float tensors, always as the tensor's own type would hold it.

/// Largest output that a rule computes values for.
inline constexpr int64_t kMostFolded = 65536;

/// The types that rules compute values of: integers, boolean, float16/32/64 and bfloat16.
bool is_foldable(DType t);
/// The low bits of v as a t; for boolean, whether v isn't 0.
int64_t wrap_to_type(DType t, int64_t v);
/// v rounded to the nearest t (ties to even; beyond the largest: infinity).
double round_to(DType t, double v);
/// The largest number of a type that reals are computed in; of others that of a double.
double largest_real(DType t);
/// Element conversions as Cast defines them: floats truncate towards zero, integers wrap.
int64_t to_integer(DType t, double v);
/// An integer of type `from` as the nearest `to`; uint64 as the unsigned number that it stands
/// for.
double to_real(DType to, DType from, int64_t v);
/// `data` of type `from` converted to `to`. Both foldable.
ConstPtr convert_elements(const ConstData& data, DType from, DType to);

/// Elements between neighbours along each axis.
using Strides = std::vector<int64_t>;
/// Strides of a dense tensor, last axis 1.
Strides row_major(const Dims& dims);
/// Strides that read a tensor of shape `from` as broadcast to `to`: 0 along repeated axes.
Strides broadcast_strides(const Dims& from, const Dims& to);
/// base + index * strides for every index of `dims`, last axis fastest.
std::vector<int64_t> strided_offsets(const Dims& dims, const Strides& strides, int64_t base = 0);

/// Sets output `out` to the elements of input `in` at those offsets; at a negative offset goes
/// `fill`'s first element (0 when there is no fill).
void take_elements(InferContext& node, size_t out, size_t in, const std::vector<int64_t>& at,
                   const ConstData* fill = nullptr);

/// The elements of `data` as T (int64_t, uint64_t or double).
template <class T>
std::vector<T> read_as(const ConstData& data) {
  if (data.is_integer()) return {data.integers().begin(), data.integers().end()};
  if constexpr (std::is_same_v<T, double>) return data.reals();
  check(false, "real elements read as integers");
  return {};
}

/// Sets output i from T results, rounded or wrapped to the output's type.
template <class T>
void store_results(InferContext& node, size_t i, const std::vector<T>& results) {
  const DType type = node.output(i).dtype;
  if (is_float(type)) {
    std::vector<double> reals(results.size());
    for (size_t n = 0; n < results.size(); ++n)
      reals[n] = round_to(type, static_cast<double>(results[n]));
    node.set_value(i, std::move(reals));
  } else {
    std::vector<int64_t> integers(results.size());
    for (size_t n = 0; n < results.size(); ++n)
      integers[n] = wrap_to_type(type, static_cast<int64_t>(results[n]));
    node.set_value(i, std::move(integers));
  }
}

/// Calls f with a zero of the type that values of `type` are computed in; returns whether there is
/// such a type.
template <class F>
bool with_type(DType type, F f) {
  if (!is_foldable(type)) return false;
  if (is_float(type))
    f(double{});
  else if (type == DType::uint64)
    f(uint64_t{});
  else
    f(int64_t{});
  return true;
}

/// A tensor seen around one axis: element (o, i, n) is at (o * length + n) * inner + i. `outer` is
/// 0 for an empty tensor, so that loops over it end at once.
struct Lines {
  int64_t outer = 1, length = 1, inner = 1;
  int64_t offset_of(int64_t o, int64_t i, int64_t n) const { return (o * length + n) * inner + i; }
};
/// A tensor of shape `dims` around `axis`, which must be one of its axes.
Lines lines_along(const Dims& dims, int64_t axis);

/// All of a node's present inputs have foldable types and values; output 0 is wanted.
bool can_fold(const NodeView& node);

}  // namespace accsim::sim
