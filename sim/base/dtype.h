#pragma once
#include <cstdint>
#include <optional>
#include <string_view>

#include "hw/numbers/number_format.h"

namespace accsim {

/// Element types, numbered as onnx.TensorProto.DataType.
enum class DType : uint8_t {
  undefined = 0,
  float32 = 1,
  uint8 = 2,
  int8 = 3,
  uint16 = 4,
  int16 = 5,
  int32 = 6,
  int64 = 7,
  string = 8,
  boolean = 9,
  float16 = 10,
  float64 = 11,
  uint32 = 12,
  uint64 = 13,
  complex64 = 14,
  complex128 = 15,
  bfloat16 = 16,
  float8e4m3fn = 17,
  float8e4m3fnuz = 18,
  float8e5m2 = 19,
  float8e5m2fnuz = 20,
  uint4 = 21,
  int4 = 22,
  float4e2m1 = 23,
  float8e8m0 = 24,
  uint2 = 25,
  int2 = 26,
  float6e2m3 = 27,
  float6e3m2 = 28,
};

/// How a number is coded (hw/numbers), which the functions below answer from; null for what is no
/// number of a machine: undefined, texts, bool and complex numbers.
const hw::NumberFormat* format_of(DType t);
/// Bits of one element; 0 for undefined and string.
int bits(DType t);
/// NumPy-like name ("float32", "int64", "bool", "bfloat16").
std::string_view name(DType t);
/// The type with that ONNX number, if there is one.
std::optional<DType> dtype_from_onnx(int64_t number);
bool is_float(DType t);           ///< float16/32/64, bfloat16, the float8, float6 and float4 kinds
bool is_integer(DType t);         ///< signed and unsigned integers, not bool
bool is_signed_integer(DType t);  ///< integers that can be negative
bool is_packed(DType t);          ///< numbers of which several share a byte
bool fits_byte(DType t);          ///< numbers of a byte or less
/// Bytes of `elements` packed elements of this type; of one, those that hold it alone.
int64_t storage_bytes(DType t, int64_t elements);

}  // namespace accsim
