#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/dims.h"
#include "sim/base/dtype.h"
#include "sim/base/result.h"

namespace accsim::sim::onnx {

/// What a .npy file begins with, up to its format's version.
inline constexpr std::string_view kNpyMagic = "\x93NUMPY";

/// The elements of a .npy file: little-endian, in row-major order.
struct ArrayElements {
  DType dtype = DType::undefined;
  Dims dims;
  size_t width = 0;  ///< bytes of an element: of a string four times its characters
  std::vector<uint8_t> bytes;
};

/// What NumPy calls a type, without byte order: "f4". "": it has none of that name.
std::string_view npy_code(DType dtype);
/// Do the bytes begin as those of a .npy file do?
bool begins_as_npy(std::string_view bytes);
/// What is wrong with a .npy file.
Error bad_npy(const std::string& file, std::string why);
/// The elements of a .npy file's bytes, of any type that npy_code() knows or of strings, in either
/// byte order, C or Fortran order. Errors name the file.
Result<ArrayElements> read_npy_elements(std::string_view bytes, const std::string& file);

}  // namespace accsim::sim::onnx
