#pragma once
#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "hw/cosim/descriptors.h"
#include "hw/cosim/rtl_layout.h"

namespace accsim::hw {

/// Writes the words of a descriptor. The first value that its field has no room for, or whatever
/// else the core can't do, is what done() says.
class DescriptorWords {
 public:
  explicit DescriptorWords(std::string_view command) : command_(command) {}

  /// Sets bits.
  void flags(size_t field, uint32_t bits) { out_.words[field] |= bits; }
  /// A count or an offset: 0 .. 2^32 - 1.
  void count(size_t field, int64_t value, std::string_view what) {
    if (fits(value, 0, UINT32_MAX, what)) out_.words[field] = static_cast<uint32_t>(value);
  }
  /// -2^31 .. 2^31 - 1.
  void number(size_t field, int64_t value, std::string_view what) {
    if (fits(value, INT32_MIN, INT32_MAX, what)) wrapped(field, value);
  }
  /// The same; what a level of `count` iterations doesn't use is cut off.
  void stride(size_t field, int64_t count, int64_t value, std::string_view what) {
    if (count == 1)
      wrapped(field, value);
    else
      number(field, value, what);
  }
  /// Counts and strides of loops, which the core has innermost first.
  template <size_t N>
  void counts(size_t field, const std::array<int64_t, N>& values, std::string_view what) {
    for (size_t i = 0; i < N; ++i) count(field + i, values[N - 1 - i], what);
  }
  template <size_t N>
  void strides(size_t field, const std::array<int64_t, N>& counts,
               const std::array<int64_t, N>& values, std::string_view what) {
    for (size_t i = 0; i < N; ++i) stride(field + i, counts[N - 1 - i], values[N - 1 - i], what);
  }
  /// What the core adds up modulo 2^32.
  void wrapped(size_t field, int64_t value) { out_.words[field] = static_cast<uint32_t>(value); }
  /// `bits` of a word from bit `shift` on: a number without a sign, or with one.
  void part(size_t field, unsigned shift, unsigned bits, int64_t value, std::string_view what) {
    const int64_t end = int64_t{1} << bits;
    if (fits(value, 0, end - 1, what)) put(field, shift, bits, value);
  }
  void signed_part(size_t field, unsigned shift, unsigned bits, int64_t value,
                   std::string_view what) {
    const int64_t end = int64_t{1} << (bits - 1);
    if (fits(value, -end, end - 1, what)) put(field, shift, bits, value);
  }
  /// 64 bits in two words.
  void wide(size_t low, size_t high, int64_t value) {
    wrapped(low, value);
    wrapped(high, value >> 32);
  }
  /// A byte of a memory of so many bytes.
  void address(size_t low, size_t high, int64_t memory, int64_t bytes, int64_t offset) {
    constexpr int64_t kTensors = int64_t{1} << (rtl::kAddrWidth - rtl::kTensorShift);
    if (fits(memory, 0, kTensors - 1, "tensor") &&
        fits(bytes, 0, int64_t{1} << rtl::kTensorShift, "bytes of a tensor") &&
        fits(offset, 0, (int64_t{1} << rtl::kTensorShift) - 1, "address"))
      wide(low, high, (memory << rtl::kTensorShift) + offset);
  }

  void refuse(std::string why) {
    if (!error_) error_ = {Errc::unsupported, std::move(why), "co-simulation"};
  }
  Result<Descriptor> done() const {
    if (error_) return *error_;
    return out_;
  }

 private:
  bool fits(int64_t value, int64_t low, int64_t high, std::string_view what) {
    if (value >= low && value <= high) return true;
    refuse(fmt::format("{} of a {} is {}; the core's field has {} .. {}", what, command_, value,
                       low, high));
    return false;
  }
  void put(size_t field, unsigned shift, unsigned bits, int64_t value) {
    const uint64_t mask = (uint64_t{1} << bits) - 1;
    out_.words[field] |= static_cast<uint32_t>((static_cast<uint64_t>(value) & mask) << shift);
  }

  std::string_view command_;
  Descriptor out_;
  std::optional<Error> error_;
};

}  // namespace accsim::hw
