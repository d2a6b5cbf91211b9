#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "python/src/compute.h"
#include "python/src/documents.h"
#include "python/src/errors.h"
#include "python/src/latency_class.h"
#include "python/src/machine.h"
#include "python/src/model.h"
#include "python/src/module_model.h"
#include "python/src/report_class.h"
#include "python/src/run_network.h"
#include "python/src/sweep_class.h"
#include "python/src/table_class.h"
#include "python/src/values.h"
#include "sim/cost/cost_model_version.h"

namespace nb = nanobind;

NB_MODULE(_core, module) {
  using namespace accsim::python;
  module.doc() = "The C++ part of accsim; import accsim.";
  module.attr("version") = ACCSIM_VERSION;
  module.attr("cost_model_version") = accsim::sim::kCostModelVersion;
  translate_errors();
  add_machine(module);
  add_model(module);
  add_table(module);
  add_report(module);
  add_documents(module);
  add_sweep(module);
  add_run(module);
  add_latency_model(module);
  add_module_model(module);
  module.def(
      "_data_folder", [] { return python_text(data_folder()); },
      nb::sig("def _data_folder() -> str"));
  nb::module_::import_("atexit").attr("register")(
      nb::cpp_function([] { LeftBehind::wait_at_exit(); }));
}
