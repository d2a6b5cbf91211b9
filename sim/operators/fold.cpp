#include "sim/operators/fold.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hw/numbers/codes.h"

namespace accsim::sim {

bool is_foldable(DType t) {
  return is_integer(t) || t == DType::boolean || (is_float(t) && !fits_byte(t));
}

int64_t wrap_to_type(DType t, int64_t v) {
  if (t == DType::boolean) return v != 0;
  const int width = bits(t);
  if (width >= 64 || width == 0) return v;
  const uint64_t low = static_cast<uint64_t>(v) & ((uint64_t{1} << width) - 1);
  const bool negative = is_signed_integer(t) && (low >> (width - 1)) != 0;
  return static_cast<int64_t>(low) - (negative ? int64_t{1} << width : 0);
}

double largest_real(DType t) {
  return is_float(t) ? format_of(t)->highest() : std::numeric_limits<double>::max();
}

double round_to(DType t, double v) {
  if (t == DType::float32) return static_cast<double>(static_cast<float>(v));
  const hw::NumberFormat* const format = format_of(t);
  const bool rounds = format != nullptr && format->kind == hw::NumberKind::real;
  return rounds ? round_real(*format, v, hw::Beyond::overflows) : v;
}

int64_t to_integer(DType t, double v) {
  if (t == DType::boolean) return v != 0;
  constexpr double kTwo63 = 0x1p63;
  // What hardware makes of values out of range differs; this is what x86 makes of them.
  if (v >= kTwo63 && v < 2 * kTwo63)
    return wrap_to_type(t, static_cast<int64_t>(static_cast<uint64_t>(v)));
  if (!(v >= -kTwo63 && v < kTwo63)) return wrap_to_type(t, std::numeric_limits<int64_t>::min());
  return wrap_to_type(t, static_cast<int64_t>(v));
}

double to_real(DType to, DType from, int64_t v) {
  // Straight to float: by way of double a large int64 would be rounded twice.
  if (from == DType::uint64) {
    const auto u = static_cast<uint64_t>(v);
    return to == DType::float32 ? static_cast<double>(static_cast<float>(u))
                                : round_to(to, static_cast<double>(u));
  }
  return to == DType::float32 ? static_cast<double>(static_cast<float>(v))
                              : round_to(to, static_cast<double>(v));
}

ConstPtr convert_elements(const ConstData& data, DType from, DType to) {
  if (is_float(to)) {
    std::vector<double> reals(data.size());
    for (size_t i = 0; i < reals.size(); ++i)
      reals[i] =
          data.is_integer() ? to_real(to, from, data.integers()[i]) : round_to(to, data.reals()[i]);
    return std::make_shared<const ConstData>(std::move(reals));
  }
  std::vector<int64_t> integers(data.size());
  for (size_t i = 0; i < integers.size(); ++i)
    integers[i] =
        data.is_integer() ? wrap_to_type(to, data.integers()[i]) : to_integer(to, data.reals()[i]);
  return std::make_shared<const ConstData>(std::move(integers));
}

Strides row_major(const Dims& dims) {
  Strides strides(dims.size());
  int64_t step = 1;
  for (size_t i = dims.size(); i-- > 0;) {
    strides[i] = step;
    step *= std::max<int64_t>(dims[i], 1);
  }
  return strides;
}

Strides broadcast_strides(const Dims& from, const Dims& to) {
  check(from.size() <= to.size(), "broadcast to a lower rank");
  const Strides own = row_major(from);
  Strides strides(to.size(), 0);
  const size_t shift = to.size() - from.size();
  for (size_t i = 0; i < from.size(); ++i)
    if (from[i] != 1) strides[i + shift] = own[i];
  return strides;
}

std::vector<int64_t> strided_offsets(const Dims& dims, const Strides& strides, int64_t base) {
  std::vector<int64_t> at;
  const int64_t count = elements(dims);
  at.reserve(static_cast<size_t>(count));
  std::vector<int64_t> index(dims.size(), 0);
  for (int64_t n = 0; n < count; ++n) {
    at.push_back(base);
    for (size_t d = dims.size(); d-- > 0;) {
      base += strides[d];
      if (++index[d] < dims[d]) break;
      base -= strides[d] * dims[d];
      index[d] = 0;
    }
  }
  return at;
}

void take_elements(InferContext& node, size_t out, size_t in, const std::vector<int64_t>& at,
                   const ConstData* fill) {
  const ConstData& data = *node.value(in);
  const auto pick = [&](const auto& from, auto other) {
    std::vector<decltype(other)> taken;
    taken.reserve(at.size());
    for (const int64_t i : at) taken.push_back(i < 0 ? other : from[static_cast<size_t>(i)]);
    node.set_value(out, std::move(taken));
  };
  if (data.is_integer())
    pick(data.integers(), fill != nullptr && fill->size() > 0 ? fill->integers()[0] : int64_t{0});
  else
    pick(data.reals(), fill != nullptr && fill->size() > 0 ? fill->reals()[0] : 0.0);
}

Lines lines_along(const Dims& dims, int64_t axis) {
  const auto a = static_cast<size_t>(axis);
  if (dims.empty()) return {};
  const int64_t outer = elements(dims) == 0 ? 0 : elements(dims, 0, a);
  return {outer, dims[a], elements(dims, a + 1, dims.size())};
}

bool can_fold(const NodeView& node) {
  if (!node.has_output(0)) return false;
  for (size_t i = 0; i < node.input_count(); ++i)
    if (node.has_input(i) && (!is_foldable(node.dtype(i)) || node.value(i) == nullptr))
      return false;
  return true;
}

}  // namespace accsim::sim
