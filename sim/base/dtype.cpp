#include "sim/base/dtype.h"

#include <array>

namespace accsim {
namespace {

using hw::FormatId;

/// A number has its format; what ONNX has beside numbers has its name and bits here.
struct Row {
  const hw::NumberFormat* format;
  std::string_view name;
  int bits;
};
constexpr Row number(FormatId id) {
  const hw::NumberFormat& f = hw::number_format(id);
  return {&f, f.name, f.bits};
}
constexpr Row other(std::string_view name, int bits) { return {nullptr, name, bits}; }

constexpr std::array<Row, 29> kRows = {{
    other("undefined", 0),
    number(FormatId::float32),
    number(FormatId::uint8),
    number(FormatId::int8),
    number(FormatId::uint16),
    number(FormatId::int16),
    number(FormatId::int32),
    number(FormatId::int64),
    other("string", 0),
    other("bool", 8),
    number(FormatId::float16),
    number(FormatId::float64),
    number(FormatId::uint32),
    number(FormatId::uint64),
    other("complex64", 64),
    other("complex128", 128),
    number(FormatId::bfloat16),
    number(FormatId::float8e4m3fn),
    number(FormatId::float8e4m3fnuz),
    number(FormatId::float8e5m2),
    number(FormatId::float8e5m2fnuz),
    number(FormatId::uint4),
    number(FormatId::int4),
    number(FormatId::float4e2m1),
    number(FormatId::float8e8m0),
    number(FormatId::uint2),
    number(FormatId::int2),
    number(FormatId::float6e2m3),
    number(FormatId::float6e3m2),
}};

const Row& row_of_type(DType t) { return kRows[static_cast<size_t>(t)]; }

}  // namespace

const hw::NumberFormat* format_of(DType t) { return row_of_type(t).format; }
int bits(DType t) { return row_of_type(t).bits; }
std::string_view name(DType t) { return row_of_type(t).name; }
bool is_float(DType t) { return format_of(t) != nullptr && format_of(t)->is_float(); }
bool is_integer(DType t) { return format_of(t) != nullptr && format_of(t)->is_integer(); }
bool is_signed_integer(DType t) { return is_integer(t) && format_of(t)->has_sign(); }
bool fits_byte(DType t) { return format_of(t) != nullptr && format_of(t)->fits_byte(); }
bool is_packed(DType t) { return format_of(t) != nullptr && format_of(t)->is_packed(); }

std::optional<DType> dtype_from_onnx(int64_t number) {
  if (number < 0 || number >= static_cast<int64_t>(kRows.size())) return std::nullopt;
  return static_cast<DType>(number);
}

int64_t storage_bytes(DType t, int64_t elements) { return hw::packed_bytes(bits(t), elements); }

}  // namespace accsim
