#pragma once
#include <nanobind/nanobind.h>

#include "python/src/table.h"

namespace accsim::python {

/// A table as Python holds it.
struct Table {
  TablePtr data;
};

/// Adds Table to the module; its functions that need pandas or polars are Python's (_tables.py).
void add_table(nanobind::module_& module);

}  // namespace accsim::python
