#pragma once
#include <string>

#include "sim/ref/array.h"

namespace accsim::sim::ref {

/// An array as the bytes of a .npy file (format 1.0, C order). Types that NumPy doesn't have are
/// written as the type they are kept in: bfloat16 and float8 as float32, int4 as int8.
std::string to_npy(const Array& array);
/// The array of a .npy file's bytes, of any kept type in either byte order, C or Fortran order.
/// float16 becomes an array of float16. Errors name the file.
Result<Array> from_npy(std::string_view bytes, const std::string& file);
/// The same from a file; a file that can't be read is an error, too.
Result<Array> read_npy(const std::string& file);
/// Do the bytes begin as those of a .npy file do?
bool begins_as_npy(std::string_view bytes);

}  // namespace accsim::sim::ref
