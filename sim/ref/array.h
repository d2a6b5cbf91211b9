#pragma once
#include <atomic>
#include <cstdint>
#include <exception>
#include <limits>
#include <memory>
#include <type_traits>
#include <vector>

#include "sim/base/dims.h"
#include "sim/base/dtype.h"
#include "sim/base/result.h"

namespace accsim::sim::ref {

/// What an array would have made a run hold beyond its limit.
struct BeyondMemory : std::exception {
  explicit BeyondMemory(int64_t wanted) : bytes(wanted) {}
  const char* what() const noexcept override { return "arrays beyond the limit of a run"; }
  int64_t bytes;  ///< that all arrays together would have taken
};

/// Bytes that arrays hold now and held at most. One counter a run; thread-safe.
class MemoryCount {
 public:
  explicit MemoryCount(int64_t most = std::numeric_limits<int64_t>::max()) : most_(most) {}
  /// Throws BeyondMemory, and adds nothing, where that would be more than `most`.
  void add_bytes(int64_t bytes);
  void remove_bytes(int64_t bytes) { now_ -= bytes; }
  int64_t held_bytes() const { return now_; }
  int64_t peak_bytes() const { return peak_; }
  int64_t byte_limit() const { return most_; }

 private:
  const int64_t most_;
  std::atomic<int64_t> now_{0}, peak_{0};
};

/// Bytes that something else than an array holds, for as long as it lives; as
/// MemoryCount::add_bytes().
class Held {
 public:
  /// `count` may be null: then nobody counts.
  Held(std::shared_ptr<MemoryCount> count, int64_t bytes)
      : count_(std::move(count)), bytes_(bytes) {
    if (count_) count_->add_bytes(bytes_);
  }
  ~Held() {
    if (count_) count_->remove_bytes(bytes_);
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

 private:
  std::shared_ptr<MemoryCount> count_;
  int64_t bytes_;
};

/// The C++ type in which elements are kept. It is float for float32 and narrower floats (rounded to
/// the element type after each node), and one byte for bool and integers under 8 bits.
enum class ElementKind : uint8_t { f32, f64, i8, i16, i32, i64, u8, u16, u32, u64 };
/// u64 for strings: their places among the array's texts. nullopt for complex numbers.
std::optional<ElementKind> element_kind(DType dtype);
/// Are the stored bytes of a type the kept elements?
bool is_kept_as_stored(DType dtype);
/// Bytes of one element as kept.
int64_t kind_bytes(ElementKind kind);

/// The Store whose elements are of type T: float, double or an integer of 8 to 64 bits.
template <class T>
constexpr ElementKind element_kind_for() {
  if constexpr (std::is_same_v<T, float>)
    return ElementKind::f32;
  else if constexpr (std::is_same_v<T, double>)
    return ElementKind::f64;
  else if constexpr (std::is_same_v<T, int8_t>)
    return ElementKind::i8;
  else if constexpr (std::is_same_v<T, int16_t>)
    return ElementKind::i16;
  else if constexpr (std::is_same_v<T, int32_t>)
    return ElementKind::i32;
  else if constexpr (std::is_same_v<T, int64_t>)
    return ElementKind::i64;
  else if constexpr (std::is_same_v<T, uint8_t>)
    return ElementKind::u8;
  else if constexpr (std::is_same_v<T, uint16_t>)
    return ElementKind::u16;
  else if constexpr (std::is_same_v<T, uint32_t>)
    return ElementKind::u32;
  else
    return ElementKind::u64;
}

/// Calls f with a zero of the C++ type that `kind` keeps elements in.
template <class F>
auto with_element_kind(ElementKind kind, F f) {
  switch (kind) {
    case ElementKind::f32:
      return f(float{});
    case ElementKind::f64:
      return f(double{});
    case ElementKind::i8:
      return f(int8_t{});
    case ElementKind::i16:
      return f(int16_t{});
    case ElementKind::i32:
      return f(int32_t{});
    case ElementKind::i64:
      return f(int64_t{});
    case ElementKind::u8:
      return f(uint8_t{});
    case ElementKind::u16:
      return f(uint16_t{});
    case ElementKind::u32:
      return f(uint32_t{});
    case ElementKind::u64:
      break;
  }
  return f(uint64_t{});
}

class Texts;

/// A dense tensor, row-major. Copies share the elements; nothing writes an array that has readers.
class Array {
 public:
  Array() = default;
  /// Uninitialised elements, counted in `count` (which may be null) until the last copy goes.
  /// Precondition: element_kind(dtype) exists.
  Array(DType dtype, Dims dims, std::shared_ptr<MemoryCount> count = nullptr);

  bool empty() const { return !bytes_; }  ///< holds nothing at all, not even an empty tensor
  bool is_counted_by(const MemoryCount& count) const;
  DType dtype() const { return dtype_; }
  ElementKind kind() const { return kind_; }
  const Dims& dims() const { return dims_; }
  int64_t size() const { return size_; }
  int64_t bytes() const { return size_ * kind_bytes(kind_); }

  /// What the elements of strings are places in (sim/ref/texts.h); null for other types.
  const std::shared_ptr<Texts>& texts() const { return texts_; }
  void set_texts(std::shared_ptr<Texts> texts) { texts_ = std::move(texts); }

  /// The elements. Precondition: T is the type that kind() names.
  template <class T>
  T* data() {
    check(element_kind_for<T>() == kind_, "array read as another type");
    return static_cast<T*>(raw_data());
  }
  template <class T>
  const T* data() const {
    check(element_kind_for<T>() == kind_, "array read as another type");
    return static_cast<const T*>(raw_data());
  }
  void* raw_data();
  const void* raw_data() const;

  /// The same elements under another shape of as many elements, or another type kept alike.
  Array reshaped(Dims dims) const;
  Array retyped(DType dtype) const;

  /// The elements converted to the kind that `dtype` is kept in (cut towards zero, wrapped); shared
  /// when they already are.
  Array converted_to(DType dtype) const;
  /// All elements, converted; for tensors of which there are few, and for comparisons.
  std::vector<double> reals() const;
  std::vector<int64_t> integers() const;  ///< reals are cut towards zero

 private:
  struct Bytes;
  DType dtype_ = DType::undefined;
  ElementKind kind_ = ElementKind::f32;
  Dims dims_;
  int64_t size_ = 0;
  std::shared_ptr<Bytes> bytes_;
  std::shared_ptr<Texts> texts_;
};

/// v as the element type would hold it: nearest, ties to even. float16 and bfloat16 overflow to
/// infinity. The float8, float6 and float4 kinds saturate; without `saturate` float8 values out of
/// range become infinite where the type has infinities, else NaN.
double round_element(DType dtype, double v, bool saturate = true);
/// How a value between two powers of two becomes one of them: the larger, the smaller, the
/// nearer.
enum class PowerRounding { up, down, nearest };
/// The power of two that float8e8m0 holds for v; its sign is lost. Out of range, and infinite: the
/// nearest end, without `saturate` NaN.
double round_power(double v, PowerRounding rounding, bool saturate);
/// round_element() of every element of a float16 or bfloat16 array; the kernels that make narrower
/// floats round them themselves. By Eigen, which rounds floats only: a double would be rounded
/// twice.
void round_elements(Array& array);

/// Largest difference and such between two arrays of one shape, see Comparison.
struct Comparison {
  double max_abs = 0, mean_abs = 0, max_rel = 0;
  double snr_db = 0;  ///< 10 log10(sum a^2 / sum (a-b)^2); infinite when equal
  double cosine = 1;
  double range = 0;  ///< largest minus smallest element of a
  bool same_shape = true;
  int64_t wrong = 0;   ///< elements beyond atol + rtol * |a|, or NaN on one side only
  int64_t first = -1;  ///< the first of them, row-major; -1: none, or other shapes
};
/// Compares b with the golden a.
Comparison compare_elements(const Array& a, const Array& b, double atol, double rtol);

}  // namespace accsim::sim::ref
