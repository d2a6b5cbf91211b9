#include <vector>

#include "hw/numbers/codes.h"
#include "sim/onnx/decode.h"

namespace accsim::sim::onnx {
namespace {

int64_t decode_element(DType dtype, uint64_t raw) {
  return dtype == DType::boolean ? raw != 0 : hw::decode_integer(*format_of(dtype), raw);
}

/// The bits of element i; elements under a byte are packed from the low end, those of 6 bits across
/// bytes.
uint64_t element_bits(DType dtype, size_t i, ByteSpan raw) {
  const size_t width = static_cast<size_t>(bits(dtype));
  if (!is_packed(dtype)) return little_endian(raw.data + i * (width / 8), width / 8);
  const size_t first = i * width / 8, last = (i * width + width - 1) / 8;
  return (little_endian(raw.data + first, last - first + 1) >> (i * width % 8)) &
         ((1u << width) - 1);
}

}  // namespace

ConstPtr decode_elements(DType dtype, size_t count, ByteSpan raw) {
  if (is_float(dtype)) {
    std::vector<double> values(count);
    for (size_t i = 0; i < count; ++i)
      values[i] = hw::decode_real(*format_of(dtype), element_bits(dtype, i, raw));
    return std::make_shared<const ConstData>(std::move(values));
  }
  std::vector<int64_t> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = decode_element(dtype, element_bits(dtype, i, raw));
  return std::make_shared<const ConstData>(std::move(values));
}

}  // namespace accsim::sim::onnx
