#include "python/src/values.h"

#include <dlfcn.h>

#include <filesystem>

namespace nb = nanobind;

namespace accsim::python {
namespace {

nb::object shape(const Dims& dims) {
  nb::list out;
  for (const int64_t dim : dims) out.append(dim);
  return nb::tuple(out);
}

}  // namespace

nb::object python_text(std::string_view text) {
  const char* const bytes = text.data();
  PyObject* const out = PyUnicode_DecodeUTF8(bytes, std::ssize(text), "surrogateescape");
  if (out == nullptr) throw nb::python_error();
  return nb::steal(out);
}

nb::object to_python(const sim::FieldValue& value) {
  struct Cases {
    nb::object operator()(std::monostate) const { return nb::none(); }
    nb::object operator()(int64_t v) const { return nb::int_(v); }
    nb::object operator()(double v) const { return nb::float_(v); }
    nb::object operator()(const std::string& v) const { return python_text(v); }
    nb::object operator()(const Dims& v) const { return shape(v); }
    nb::object operator()(const std::vector<Dims>& v) const {
      nb::list out;
      for (const Dims& dims : v) out.append(shape(dims));
      return out;
    }
  };
  return std::visit(Cases{}, value);
}

bool is_path(nb::handle object) {
  return nb::isinstance<nb::str>(object) || nb::isinstance<nb::bytes>(object) ||
         nb::hasattr(object, "__fspath__");
}

std::string path_of(nb::handle path) {
  PyObject* encoded = nullptr;
  if (PyUnicode_FSConverter(path.ptr(), static_cast<void*>(&encoded)) == 0)
    throw nb::python_error();
  const auto bytes = nb::steal<nb::bytes>(encoded);
  return {bytes.c_str(), bytes.size()};
}

std::string data_folder() {
  Dl_info info{};
  check(dladdr(reinterpret_cast<const void*>(&data_folder), &info) != 0, "no place of the module");
  return (std::filesystem::path(info.dli_fname).parent_path() / "share" / "accsim").string();
}

}  // namespace accsim::python
