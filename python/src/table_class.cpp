#include "python/src/table_class.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/src/arrow.h"
#include "python/src/values.h"

namespace nb = nanobind;

namespace accsim::python {
namespace {

const Column& column_of(const Table& table, const std::string& name) {
  const Column* const column = table.data->find(name);
  if (column == nullptr) throw nb::key_error(("no column '" + name + "'").c_str());
  return *column;
}

nb::list values_of(const Column& column) {
  nb::list out;
  for (int64_t row = 0; row < column.rows; ++row) out.append(to_python(column.at(row)));
  return out;
}

nb::object numpy_of(const Table& table, const std::string& name) {
  const Column& column = column_of(table, name);
  const nb::capsule keep(new TablePtr(table.data),
                         [](void* p) noexcept { delete static_cast<TablePtr*>(p); });
  const auto count = static_cast<size_t>(column.rows);
  if (column.type == ColumnType::float64)
    return nb::cast(nb::ndarray<nb::numpy, const double>(column.reals.data(), {count}, keep));
  if (column.type == ColumnType::int64 && column.nulls == 0)
    return nb::cast(nb::ndarray<nb::numpy, const int64_t>(column.integers.data(), {count}, keep));
  throw nb::type_error((name + " is no column of numbers").c_str());
}

/// A structure of the Arrow C data interface as a capsule, which releases what nobody took.
template <class T>
nb::capsule capsule(T* structure, const char* name) {
  PyObject* const out = PyCapsule_New(structure, name, [](PyObject* object) {
    auto* const held = static_cast<T*>(PyCapsule_GetPointer(object, PyCapsule_GetName(object)));
    if (held->release != nullptr) held->release(held);
    delete held;
  });
  if (out == nullptr) throw nb::python_error();
  return nb::steal<nb::capsule>(out);
}

nb::capsule schema(const Table& table) {
  auto* const out = new ArrowSchema{};
  export_schema(*table.data, *out);
  return capsule(out, "arrow_schema");
}

nb::capsule array(const Table& table) {
  auto* const out = new ArrowArray{};
  export_array(table.data, *out);
  return capsule(out, "arrow_array");
}

nb::capsule stream(const Table& table) {
  auto* const out = new ArrowArrayStream{};
  export_stream(table.data, *out);
  return capsule(out, "arrow_array_stream");
}

nb::object call(const char* function, nb::handle table) {
  return nb::module_::import_("accsim._tables").attr(function)(table);
}

nb::dict described(const Table& table, std::string Column::*member) {
  nb::dict out;
  for (const Column& column : table.data->columns) out[column.name.c_str()] = column.*member;
  return out;
}

void add_arrow(nb::class_<Table>& type) {
  type.def("__arrow_c_schema__", schema, "The columns as an ArrowSchema of the C data interface.",
           nb::sig("def __arrow_c_schema__(self) -> typing.Any"))
      .def(
          "__arrow_c_array__",
          [](const Table& t, nb::handle) { return nb::make_tuple(schema(t), array(t)); },
          nb::arg("requested_schema") = nb::none(),
          "Schema and values of the Arrow C data interface, without a copy.",
          nb::sig("def __arrow_c_array__(self, requested_schema: typing.Any = None) -> "
                  "tuple[typing.Any, typing.Any]"))
      .def(
          "__arrow_c_stream__", [](const Table& t, nb::handle) { return stream(t); },
          nb::arg("requested_schema") = nb::none(),
          "The table as a stream of the Arrow C data interface, without a copy.",
          nb::sig("def __arrow_c_stream__(self, requested_schema: typing.Any = None) -> "
                  "typing.Any"))
      .def(
          "to_arrow", [](nb::handle t) { return call("to_arrow", t); },
          "As a pyarrow.Table; values are shared, not copied. Needs pyarrow.",
          nb::sig("def to_arrow(self) -> typing.Any"))
      .def(
          "to_pandas", [](nb::handle t) { return call("to_pandas", t); },
          "As a pandas.DataFrame. Needs pandas.", nb::sig("def to_pandas(self) -> typing.Any"))
      .def(
          "to_polars", [](nb::handle t) { return call("to_polars", t); },
          "As a polars.DataFrame. Needs polars.", nb::sig("def to_polars(self) -> typing.Any"));
}

}  // namespace

void add_table(nb::module_& module) {
  nb::class_<Table> type(
      module, "Table",
      "Columns of equal length: numbers, words and shapes. Anything that takes Arrow's\n"
      "C data interface reads it without a copy: pyarrow.table(t), polars.DataFrame(t).");
  type.def("__len__", [](const Table& t) { return t.data->rows; })
      .def_prop_ro(
          "columns",
          [](const Table& t) {
            std::vector<std::string> out;
            for (const Column& c : t.data->columns) out.push_back(c.name);
            return out;
          },
          "Names of the columns, in order.")
      .def_prop_ro(
          "units", [](const Table& t) { return described(t, &Column::unit); },
          "Unit of each column; \"\" for words and plain numbers.",
          nb::sig("def units(self) -> dict[str, str]"))
      .def_prop_ro(
          "descriptions", [](const Table& t) { return described(t, &Column::description); },
          "What each column says.", nb::sig("def descriptions(self) -> dict[str, str]"))
      .def(
          "column", [](const Table& t, const std::string& n) { return values_of(column_of(t, n)); },
          nb::arg("name"), "The values of a column, None where there is none.",
          nb::sig("def column(self, name: str) -> list[typing.Any]"))
      .def(
          "__getitem__",
          [](const Table& t, const std::string& n) { return values_of(column_of(t, n)); },
          nb::sig("def __getitem__(self, name: str, /) -> list[typing.Any]"))
      .def("to_numpy", numpy_of, nb::arg("name"),
           "A column of numbers as a read-only numpy array of the table's own memory. Needs numpy.",
           nb::sig("def to_numpy(self, name: str) -> typing.Any"))
      .def(
          "to_dict",
          [](const Table& t) {
            nb::dict out;
            for (const Column& c : t.data->columns) out[c.name.c_str()] = values_of(c);
            return out;
          },
          "Columns by name, as lists.", nb::sig("def to_dict(self) -> dict[str, list[typing.Any]]"))
      .def("__repr__", [](const Table& t) {
        return "<accsim.Table, " + std::to_string(t.data->rows) + " rows of " +
               std::to_string(t.data->columns.size()) + " columns>";
      });
  add_arrow(type);
}

}  // namespace accsim::python
