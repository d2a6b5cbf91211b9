#include "sim/ref/raw.h"

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <map>

#include "sim/ref/executor.h"

namespace accsim::sim::ref {
namespace {

/// Puts a code of so many bits, at most 8, behind those of the elements before it.
template <class Bytes>
void put_code(Bytes& bytes, int64_t element, int width, int code) {
  const int64_t place = element * width;
  const auto at = static_cast<size_t>(place / 8);
  const auto shift = static_cast<int>(place % 8);
  using Byte = typename Bytes::value_type;
  bytes[at] = static_cast<Byte>(bytes[at] | code << shift);
  if (shift + width > 8) bytes[at + 1] = static_cast<Byte>(bytes[at + 1] | code >> (8 - shift));
}

/// The codes of the values that a type of 8 bits or fewer holds, by their bits as float32.
std::map<uint32_t, uint8_t> codes_of_floats(DType dtype) {
  const int count = 1 << bits(dtype);
  std::vector<uint8_t> codes(static_cast<size_t>(storage_bytes(dtype, count)));
  for (int code = 0; code < count; ++code) put_code(codes, code, bits(dtype), code);
  const auto values = array_of(dtype, {count}, {codes.data(), codes.size(), {}});
  check(values.has_value(), "a float that is kept");
  std::map<uint32_t, uint8_t> out;
  for (int code = 0; code < count; ++code)
    out.emplace(std::bit_cast<uint32_t>(values->data<float>()[code]), static_cast<uint8_t>(code));
  return out;
}

/// The low `bits(dtype)` bits of every element's code, packed.
template <class Code>
std::string packed_codes(const Array& array, Code code) {
  const int width = bits(array.dtype());
  const int mask = (1 << width) - 1;
  std::string out(static_cast<size_t>(storage_bytes(array.dtype(), array.size())), '\0');
  for (int64_t i = 0; i < array.size(); ++i) put_code(out, i, width, code(i) & mask);
  return out;
}

std::string packed_floats(const Array& array) {
  const std::map<uint32_t, uint8_t> codes = codes_of_floats(array.dtype());
  const auto nan = std::ranges::find_if(
      codes, [](const auto& code) { return std::isnan(std::bit_cast<float>(code.first)); });
  return packed_codes(array, [&](int64_t i) -> int {
    const float value = array.data<float>()[i];
    const auto found = std::isnan(value) ? nan : codes.find(std::bit_cast<uint32_t>(value));
    if (found == codes.end() && value == 0) return codes.at(0);  // -0 of a type without it
    check(found != codes.end(), "an element that its type can't hold");
    return found->second;
  });
}

/// Elements of two bytes, by their bits.
template <class Half>
std::string half_bytes(const Array& array) {
  std::string out;
  out.reserve(static_cast<size_t>(array.size()) * 2);
  for (int64_t i = 0; i < array.size(); ++i) {
    const auto half = std::bit_cast<uint16_t>(Half(array.data<float>()[i]));
    out += static_cast<char>(half & 0xFF);
    out += static_cast<char>(half >> 8);
  }
  return out;
}

}  // namespace

bool has_raw_elements(DType dtype) { return element_kind(dtype) && dtype != DType::string; }

std::string to_raw(const Array& array) {
  const DType dtype = array.dtype();
  if (dtype == DType::float16) return half_bytes<Eigen::half>(array);
  if (dtype == DType::bfloat16) return half_bytes<Eigen::bfloat16>(array);
  if (is_float(dtype) && fits_byte(dtype)) return packed_floats(array);
  if (is_packed(dtype))
    return packed_codes(array, [&](int64_t i) -> int {
      return array.kind() == ElementKind::i8 ? array.data<int8_t>()[i] : array.data<uint8_t>()[i];
    });
  return {static_cast<const char*>(array.raw_data()), static_cast<size_t>(array.bytes())};
}

Result<Array> from_raw(std::string_view bytes, DType dtype, const Dims& dims,
                       const std::string& file) {
  if (!has_raw_elements(dtype))
    return Error{
        Errc::unsupported,
        fmt::format("elements of type {} can't be raw, or aren't computed with", name(dtype)),
        file};
  const std::optional<int64_t> count = checked_elements(dims);
  const int64_t most = std::numeric_limits<int64_t>::max() / 64;
  const int64_t wanted = count && *count <= most ? storage_bytes(dtype, *count) : -1;
  if (wanted != static_cast<int64_t>(bytes.size()))
    return Error{Errc::invalid,
                 fmt::format("holds {} bytes, but {} {} takes {}", bytes.size(), name(dtype),
                             to_string(dims), wanted < 0 ? "more" : fmt::format("{}", wanted)),
                 file};
  const auto* const data = reinterpret_cast<const uint8_t*>(bytes.data());
  return *array_of(dtype, dims, {data, bytes.size(), {}});
}

}  // namespace accsim::sim::ref
