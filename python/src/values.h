#pragma once
#include <nanobind/nanobind.h>

#include <string>
#include <string_view>

#include "sim/report/fields.h"

namespace accsim::python {

/// Text of the user's, of whatever bytes: those that aren't UTF-8 become surrogates, as Python has
/// it in names of files.
nanobind::object python_text(std::string_view text);
/// A field's value: None, int, float, str, tuple of int or list of such tuples.
nanobind::object to_python(const sim::FieldValue& value);

/// A path given as str, bytes or os.PathLike, as the bytes that the system takes.
std::string path_of(nanobind::handle path);
/// Whether it is str, bytes or os.PathLike.
bool is_path(nanobind::handle object);

/// The folder with the package's machines, and the RTL and sources for co-simulation.
std::string data_folder();

}  // namespace accsim::python
