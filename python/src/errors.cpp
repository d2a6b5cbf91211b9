#include "python/src/errors.h"

#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace accsim::python {

void translate_errors() {
  nb::register_exception_translator([](const std::exception_ptr& raised, void*) {
    try {
      std::rethrow_exception(raised);
    } catch (const RaisedErrors& e) {
      nb::list causes;
      for (const Error& error : e.errors()) {
        const std::string text = error.text();
        // File names may hold any bytes.
        PyObject* const cause =
            PyUnicode_DecodeUTF8(text.data(), std::ssize(text), "surrogateescape");
        if (cause == nullptr) return;
        causes.append(nb::steal(cause));
      }
      const nb::object type = nb::module_::import_("accsim._errors").attr("Error");
      PyErr_SetObject(type.ptr(), nb::make_tuple(causes).ptr());
    }
  });
}

}  // namespace accsim::python
