#pragma once
#include <string>

#include "sim/ref/array.h"

namespace accsim::sim::ref {

/// Can its elements be raw? Strings have no size.
bool has_raw_elements(DType dtype);
/// The elements as ONNX stores them and other runtimes take them: row-major, little-endian, a byte
/// for a bool, those under a byte packed from the low end. Values are those that the type holds.
/// Precondition: has_raw_elements().
std::string to_raw(const Array& array);
/// The array of such bytes. Errors name the file: not as many bytes as type and dims need, a type
/// that isn't computed with.
Result<Array> from_raw(std::string_view bytes, DType dtype, const Dims& dims,
                       const std::string& file);

}  // namespace accsim::sim::ref
