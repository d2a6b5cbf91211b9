#include "sim/base/dtype.h"

#include <array>

#include "sim/base/units.h"

namespace accsim {
namespace {

enum class Family : uint8_t { other, real, integer };
struct Row {
  std::string_view name;
  int bits;
  Family family;
};

constexpr std::array<Row, 29> kRows = {{
    {"undefined", 0, Family::other},     {"float32", 32, Family::real},
    {"uint8", 8, Family::integer},       {"int8", 8, Family::integer},
    {"uint16", 16, Family::integer},     {"int16", 16, Family::integer},
    {"int32", 32, Family::integer},      {"int64", 64, Family::integer},
    {"string", 0, Family::other},        {"bool", 8, Family::other},
    {"float16", 16, Family::real},       {"float64", 64, Family::real},
    {"uint32", 32, Family::integer},     {"uint64", 64, Family::integer},
    {"complex64", 64, Family::other},    {"complex128", 128, Family::other},
    {"bfloat16", 16, Family::real},      {"float8e4m3fn", 8, Family::real},
    {"float8e4m3fnuz", 8, Family::real}, {"float8e5m2", 8, Family::real},
    {"float8e5m2fnuz", 8, Family::real}, {"uint4", 4, Family::integer},
    {"int4", 4, Family::integer},        {"float4e2m1", 4, Family::real},
    {"float8e8m0", 8, Family::real},     {"uint2", 2, Family::integer},
    {"int2", 2, Family::integer},        {"float6e2m3", 6, Family::real},
    {"float6e3m2", 6, Family::real},
}};

const Row& row_of_type(DType t) { return kRows[static_cast<size_t>(t)]; }

}  // namespace

int bits(DType t) { return row_of_type(t).bits; }
std::string_view name(DType t) { return row_of_type(t).name; }
bool is_float(DType t) { return row_of_type(t).family == Family::real; }
bool is_integer(DType t) { return row_of_type(t).family == Family::integer; }

std::optional<DType> dtype_from_onnx(int64_t number) {
  if (number < 0 || number >= static_cast<int64_t>(kRows.size())) return std::nullopt;
  return static_cast<DType>(number);
}

int64_t storage_bytes(DType t, int64_t elements) {
  return bits(t) >= 8 ? elements * (bits(t) / 8) : ceil_div(elements * bits(t), 8);
}

}  // namespace accsim
