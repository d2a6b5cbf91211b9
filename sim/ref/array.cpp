#include "sim/ref/array.h"

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <new>

#include "hw/numbers/codes.h"
#include "sim/operators/fold.h"
#include "sim/ref/texts.h"

namespace accsim::sim::ref {

void MemoryCount::add_bytes(int64_t bytes) {
  const int64_t now = now_ += bytes;
  if (now > most_) {
    now_ -= bytes;
    throw BeyondMemory(now);
  }
  int64_t peak = peak_;
  while (now > peak && !peak_.compare_exchange_weak(peak, now)) {
  }
}

namespace {

ElementKind integer_kind(int width, bool has_sign) {
  if (width <= 8) return has_sign ? ElementKind::i8 : ElementKind::u8;
  if (width <= 16) return has_sign ? ElementKind::i16 : ElementKind::u16;
  if (width <= 32) return has_sign ? ElementKind::i32 : ElementKind::u32;
  return has_sign ? ElementKind::i64 : ElementKind::u64;
}

}  // namespace

std::optional<ElementKind> element_kind(DType dtype) {
  if (dtype == DType::boolean) return ElementKind::u8;
  if (dtype == DType::string) return ElementKind::u64;
  const hw::NumberFormat* const format = format_of(dtype);
  if (format == nullptr) return std::nullopt;
  if (format->is_integer()) return integer_kind(format->bits, format->has_sign());
  return format->bits <= 32 ? ElementKind::f32 : ElementKind::f64;
}

bool is_kept_as_stored(DType dtype) {
  const std::optional<ElementKind> kind = element_kind(dtype);
  return kind && kind_bytes(*kind) * 8 == bits(dtype);
}

int64_t kind_bytes(ElementKind kind) {
  return with_element_kind(kind, []<class T>(T) { return static_cast<int64_t>(sizeof(T)); });
}

/// 64 bytes of alignment, so that a row starts on a cache line.
struct Array::Bytes {
  Bytes(int64_t size, std::shared_ptr<MemoryCount> counter)
      : count(std::move(counter)), counted(size) {
    constexpr auto kAlign = std::align_val_t{64};
    if (count) count->add_bytes(counted);
    try {
      at = ::operator new(static_cast<size_t>(std::max<int64_t>(size, 1)), kAlign);
    } catch (...) {
      if (count) count->remove_bytes(counted);
      throw;
    }
  }
  ~Bytes() {
    ::operator delete (at, std::align_val_t{64});
    if (count) count->remove_bytes(counted);
  }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;

  void* at;
  std::shared_ptr<MemoryCount> count;
  int64_t counted;
};

Array::Array(DType dtype, Dims dims, std::shared_ptr<MemoryCount> count)
    : dtype_(dtype), dims_(std::move(dims)), size_(elements(dims_)) {
  const std::optional<ElementKind> kind = element_kind(dtype);
  check(kind.has_value(), "an array of a type that isn't kept");
  kind_ = *kind;
  bytes_ = std::make_shared<Bytes>(bytes(), std::move(count));
}

bool Array::is_counted_by(const MemoryCount& count) const {
  return bytes_ && bytes_->count.get() == &count;
}

void* Array::raw_data() { return bytes_ ? bytes_->at : nullptr; }
const void* Array::raw_data() const { return bytes_ ? bytes_->at : nullptr; }

Array Array::reshaped(Dims dims) const {
  check(elements(dims) == size_, "reshaped to another number of elements");
  Array out = *this;
  out.dims_ = std::move(dims);
  return out;
}

Array Array::retyped(DType dtype) const {
  check(element_kind(dtype) == kind_, "retyped to a type kept otherwise");
  Array out = *this;
  out.dtype_ = dtype;
  return out;
}

Array Array::converted_to(DType dtype) const {
  if (element_kind(dtype) == kind_) return retyped(dtype);
  Array out(dtype, dims_);
  with_element_kind(kind_, [&]<class From>(From) {
    with_element_kind(out.kind(), [&]<class To>(To) {
      const From* from = data<From>();
      To* to = out.data<To>();
      for (int64_t i = 0; i < size_; ++i) {
        if constexpr (std::is_floating_point_v<From> && !std::is_floating_point_v<To>)
          to[i] = static_cast<To>(to_integer(dtype, from[i]));
        else
          to[i] = static_cast<To>(from[i]);
      }
    });
  });
  return out;
}

std::vector<double> Array::reals() const {
  std::vector<double> out(static_cast<size_t>(size_));
  with_element_kind(kind_, [&]<class T>(T) {
    const T* from = data<T>();
    for (size_t i = 0; i < out.size(); ++i) out[i] = static_cast<double>(from[i]);
  });
  return out;
}

std::vector<int64_t> Array::integers() const {
  std::vector<int64_t> out(static_cast<size_t>(size_));
  with_element_kind(kind_, [&]<class T>(T) {
    const T* from = data<T>();
    for (size_t i = 0; i < out.size(); ++i) {
      if constexpr (std::is_floating_point_v<T>)
        out[i] = to_integer(DType::int64, from[i]);
      else
        out[i] = static_cast<int64_t>(from[i]);
    }
  });
  return out;
}

double round_element(DType dtype, double v, bool saturate) {
  const hw::NumberFormat* const format = format_of(dtype);
  if (format == nullptr || format->is_integer()) return v;
  if (format->kind == hw::NumberKind::power) return round_power(v, PowerRounding::up, saturate);
  if (!format->fits_byte()) return round_to(dtype, v);
  return round_real(*format, v, saturate ? hw::Beyond::saturates : hw::Beyond::overflows);
}

double round_power(double v, PowerRounding rounding, bool saturate) {
  constexpr int kMost = 127;
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  v = std::abs(v);
  if (std::isnan(v)) return kNan;
  if (v == 0 || std::isinf(v)) return saturate ? std::ldexp(1.0, v == 0 ? -kMost : kMost) : kNan;
  int power = std::ilogb(v);
  const double fraction = std::ldexp(v, -power);  // in [1, 2)
  if (rounding == PowerRounding::up && fraction > 1) ++power;
  if (rounding == PowerRounding::nearest && fraction >= 1.5) ++power;
  if (!saturate && std::abs(power) > kMost) return kNan;
  return std::ldexp(1.0, std::clamp(power, -kMost, kMost));
}

namespace {

template <class Narrow>
void round_floats(float* at, int64_t count) {
  for (int64_t i = 0; i < count; ++i)
    if (!std::isnan(at[i])) at[i] = static_cast<float>(Narrow(at[i]));  // a NaN stays as it is
}

}  // namespace

void round_elements(Array& array) {
  if (array.dtype() == DType::float16)
    round_floats<Eigen::half>(array.data<float>(), array.size());
  else if (array.dtype() == DType::bfloat16)
    round_floats<Eigen::bfloat16>(array.data<float>(), array.size());
}

namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

/// Calls `visit` with every element of a and the one of b that is in its place.
template <class F>
void each_pair(const Array& a, const Array& b, F visit) {
  with_element_kind(a.kind(), [&]<class A>(A) {
    with_element_kind(b.kind(), [&]<class B>(B) {
      const A* x = a.data<A>();
      const B* y = b.data<B>();
      for (int64_t i = 0; i < a.size(); ++i) visit(x[i], y[i]);
    });
  });
}

/// Beyond 2^53 two integers may differ and be equal as doubles.
template <class A, class B>
bool rounds_alike(A x, B y) {
  if constexpr (std::is_integral_v<A> && std::is_integral_v<B>)
    return std::cmp_not_equal(x, y) && static_cast<double>(x) == static_cast<double>(y);
  return false;
}

/// Infinities of one sign are equal.
bool are_equal(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

/// Numbers times 2^bits, so that the squares of the largest stay what a double can hold.
struct Scale {
  double largest = 0;
  int bits = 0;
  double factor = 1;

  void take_value(double v) { largest = std::max(largest, std::abs(v)); }
  void fix_factor() {
    constexpr int kMost = 1000;
    const double most = std::min(largest, std::numeric_limits<double>::max());
    bits = most > 0 ? std::clamp(-std::ilogb(most), -kMost, kMost) : 0;
    factor = std::ldexp(1.0, bits);
  }
};

/// What one pass over two arrays finds for the sums of the next.
struct ErrorScales {
  Scale a, b, error;
  bool finite = true;  ///< all numbers that differ
};

void add_element(double a, double b, double atol, double rtol, Comparison& out,
                 ErrorScales& scales) {
  if (are_equal(a, b)) {
    if (std::isfinite(a)) scales.a.take_value(a), scales.b.take_value(b);
    return;
  }
  const double difference = std::abs(a - b);
  // NaN compares false, so count it here.
  if (!(difference <= atol + rtol * std::abs(a)) || std::isinf(a)) ++out.wrong;
  if (!std::isfinite(a) || !std::isfinite(b)) scales.finite = false;
  scales.a.take_value(a), scales.b.take_value(b), scales.error.take_value(difference);
  out.mean_abs += difference;
  out.max_abs = std::max(out.max_abs, std::isnan(difference) ? kInf : difference);
  const double relative = a == 0 ? kInf : difference / std::abs(a);
  out.max_rel = std::max(out.max_rel, std::isnan(relative) ? kInf : relative);
}

/// SNR and cosine, by sums of squares in the scales.
void add_squares(const Array& a, const Array& b, const ErrorScales& scales, Comparison& out) {
  double aa = 0, bb = 0, ab = 0, errors = 0;
  each_pair(a, b, [&](auto x, auto y) {
    const auto v = static_cast<double>(x), w = static_cast<double>(y);
    const bool equal = are_equal(v, w);
    if (equal && !std::isfinite(v)) return;
    const double scaled_a = v * scales.a.factor, scaled_b = w * scales.b.factor;
    aa += scaled_a * scaled_a, bb += scaled_b * scaled_b, ab += scaled_a * scaled_b;
    const double difference = rounds_alike(x, y) ? 1 : equal ? 0 : v - w;
    const double factor = scales.error.factor;
    const double error = std::isinf(difference) ? v * factor - w * factor : difference * factor;
    errors += error * error;
  });
  const double unscaled = 20 * std::log10(2.0) * (scales.error.bits - scales.a.bits);
  out.snr_db = errors == 0 ? kInf : 10 * std::log10(aa / errors) + unscaled;
  const double norms = std::sqrt(aa) * std::sqrt(bb);
  out.cosine = norms > 0 ? ab / norms : (errors == 0 ? 1 : 0);
}

}  // namespace

namespace {

/// The texts of one array as numbers of the other's: equal where they are equal.
Array like_texts_of(const Array& a, const Array& b) {
  return a.dtype() == DType::string && b.dtype() == DType::string ? moved_to(a.texts(), b, nullptr)
                                                                  : b;
}

}  // namespace

Comparison compare_elements(const Array& a, const Array& given, double atol, double rtol) {
  const Array b = like_texts_of(a, given);
  Comparison out;
  if (a.dims() != b.dims()) {
    out = {kInf, kInf, kInf, -kInf, 0, 0, false, std::max<int64_t>(a.size(), 1)};
    return out;
  }
  ErrorScales scales;
  double low = kInf, high = -kInf;
  int64_t place = 0;
  each_pair(a, b, [&](auto x, auto y) {
    const auto v = static_cast<double>(x);
    if (std::isfinite(v)) low = std::min(low, v), high = std::max(high, v);
    if (rounds_alike(x, y)) {
      ++out.wrong, out.mean_abs += 1;
      out.max_abs = std::max(out.max_abs, 1.0);
      scales.error.take_value(1);
    }
    add_element(v, static_cast<double>(y), atol, rtol, out, scales);
    if (out.first < 0 && out.wrong > 0) out.first = place;
    ++place;
  });
  out.range = high >= low ? high - low : 0;
  if (a.size() > 0) out.mean_abs /= static_cast<double>(a.size());
  for (Scale* s : {&scales.a, &scales.b, &scales.error}) s->fix_factor();
  if (scales.finite)
    add_squares(a, b, scales, out);
  else
    out.snr_db = out.cosine = std::numeric_limits<double>::quiet_NaN();
  return out;
}

}  // namespace accsim::sim::ref
