#pragma once
#include <string>
#include <vector>

#include "sim/ref/array.h"
#include "sim/report/dump.h"

namespace accsim::sim {

/// What may differ between two elements: absolute + relative * |A's element|.
struct Tolerance {
  double absolute = 0, relative = 0;
};

/// Compares two folders of dumped tensors: every layer output of A with the tensor of that name in
/// B.
Result<DiffReport> diff_dumps(const std::string& a, const std::string& b, Tolerance tolerance);

/// The tensors of a file; one alone may have no name.
struct TensorsOfFile {
  std::string file;
  std::vector<std::pair<std::string, ref::Array>> tensors;
};

/// Compares the tensors of two files by their names; two files of one tensor whatever their names.
/// Errc::invalid where none is in both.
Result<DiffReport> diff_files(const TensorsOfFile& a, const TensorsOfFile& b, Tolerance tolerance);

}  // namespace accsim::sim
