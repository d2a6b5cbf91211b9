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
/// else the core can't do, is what checked_descriptor() says.
class DescriptorWords {
 public:
  explicit DescriptorWords(std::string_view command) : command_(command) {}

  /// Sets bits.
  void put_flags(size_t field, uint32_t bits) { out_.words[field] |= bits; }
  /// A count or an offset: 0 .. 2^32 - 1.
  void put_count(size_t field, int64_t value, std::string_view what) {
    if (check_range(value, 0, UINT32_MAX, what)) out_.words[field] = static_cast<uint32_t>(value);
  }
  /// -2^31 .. 2^31 - 1.
  void put_number(size_t field, int64_t value, std::string_view what) {
    if (check_range(value, INT32_MIN, INT32_MAX, what)) put_wrapped(field, value);
  }
  /// The same; what a level of `count` iterations doesn't use is cut off.
  void put_stride(size_t field, int64_t count, int64_t value, std::string_view what) {
    if (count == 1)
      put_wrapped(field, value);
    else
      put_number(field, value, what);
  }
  /// Counts and strides of loops, which the core has innermost first.
  template <size_t N>
  void put_counts(size_t field, const std::array<int64_t, N>& values, std::string_view what) {
    for (size_t i = 0; i < N; ++i) put_count(field + i, values[N - 1 - i], what);
  }
  template <size_t N>
  void put_strides(size_t field, const std::array<int64_t, N>& counts,
                   const std::array<int64_t, N>& values, std::string_view what) {
    for (size_t i = 0; i < N; ++i)
      put_stride(field + i, counts[N - 1 - i], values[N - 1 - i], what);
  }
  /// What the core adds up modulo 2^32.
  void put_wrapped(size_t field, int64_t value) {
    out_.words[field] = static_cast<uint32_t>(value);
  }
  /// `bits` of a word from bit `shift` on: a number without a sign, or with one.
  void put_part(size_t field, unsigned shift, unsigned bits, int64_t value, std::string_view what) {
    const int64_t end = int64_t{1} << bits;
    if (check_range(value, 0, end - 1, what)) put_bits(field, shift, bits, value);
  }
  void signed_part(size_t field, unsigned shift, unsigned bits, int64_t value,
                   std::string_view what) {
    const int64_t end = int64_t{1} << (bits - 1);
    if (check_range(value, -end, end - 1, what)) put_bits(field, shift, bits, value);
  }
  /// 64 bits in two words.
  void put_wide(size_t low, size_t high, int64_t value) {
    put_wrapped(low, value);
    put_wrapped(high, value >> 32);
  }
  /// A byte of a memory of so many bytes.
  void put_address(size_t low, size_t high, int64_t memory, int64_t bytes, int64_t offset) {
    constexpr int64_t kTensors = int64_t{1} << (rtl::kAddrWidth - rtl::kTensorShift);
    if (check_range(memory, 0, kTensors - 1, "tensor") &&
        check_range(bytes, 0, int64_t{1} << rtl::kTensorShift, "bytes of a tensor") &&
        check_range(offset, 0, (int64_t{1} << rtl::kTensorShift) - 1, "address"))
      put_wide(low, high, (memory << rtl::kTensorShift) + offset);
  }

  void refuse(std::string why) {
    if (!error_) error_ = {Errc::unsupported, std::move(why), "co-simulation"};
  }
  Result<Descriptor> checked_descriptor() const {
    if (error_) return *error_;
    return out_;
  }

 private:
  bool check_range(int64_t value, int64_t low, int64_t high, std::string_view what) {
    if (value >= low && value <= high) return true;
    refuse(fmt::format("{} of a {} is {}; the core's field has {} .. {}", what, command_, value,
                       low, high));
    return false;
  }
  void put_bits(size_t field, unsigned shift, unsigned bits, int64_t value) {
    const uint64_t mask = (uint64_t{1} << bits) - 1;
    out_.words[field] |= static_cast<uint32_t>((static_cast<uint64_t>(value) & mask) << shift);
  }

  std::string_view command_;
  Descriptor out_;
  std::optional<Error> error_;
};

}  // namespace accsim::hw
