#include "python/src/run_network.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <limits>

#include "python/src/compute.h"
#include "python/src/costing_keywords.h"
#include "python/src/errors.h"
#include "python/src/machine.h"
#include "python/src/model.h"
#include "python/src/values.h"
#include "sim/quantise/run_int8.h"
#include "sim/ref/texts.h"

namespace nb = nanobind;

namespace accsim::python {
namespace {

/// The array's own memory as a numpy array: float32 for every narrower float, bytes for booleans.
nb::object numpy_of(const sim::ref::Array& array) {
  if (array.dtype() == DType::string) {
    nb::list texts, shape;
    for (int64_t i = 0; i < array.size(); ++i)
      texts.append(python_text(sim::ref::text_at(array, i)));
    for (const int64_t dim : array.dims()) shape.append(dim);
    const nb::object flat = nb::module_::import_("numpy").attr("array")(texts, "str");
    return flat.attr("reshape")(nb::tuple(shape));
  }
  const nb::capsule keep(new sim::ref::Array(array),
                         [](void* p) noexcept { delete static_cast<sim::ref::Array*>(p); });
  std::vector<size_t> shape;
  for (const int64_t dim : array.dims()) shape.push_back(static_cast<size_t>(dim));
  return sim::ref::with_element_kind(array.kind(), [&]<class T>(T) {
    nb::object out = nb::cast(
        nb::ndarray<nb::numpy, const T>(array.data<T>(), shape.size(), shape.data(), keep));
    return array.dtype() == DType::boolean ? out.attr("astype")("bool") : out;
  });
}

/// What a run is asked for, beside the model.
struct RunWords {
  std::map<std::string, std::string> files;  ///< graph input -> .npy
  std::map<std::string, uint64_t> seeds;     ///< graph input -> seed
  std::optional<uint64_t> weight_seed;
  std::string output, dump;
  int threads = 1;
  bool int8 = false, layerwise = false;
};

sim::RunRequest request_of(const RunWords& words, const std::string& model) {
  sim::RunRequest out;
  out.model = model;
  for (const auto& [name, file] : words.files) out.inputs.push_back({name, file, 0});
  for (const auto& [name, seed] : words.seeds) out.inputs.push_back({name, "", seed});
  out.weight_seed = words.weight_seed;
  out.output = words.output;
  out.dump = words.dump;
  out.threads = words.threads;
  return out;
}

nb::dict run(nb::handle model, const RunWords& words, nb::handle elaborate, nb::handle machine) {
  sim::RunRequest request = request_of(words, path_of(model));
  request.elaborate = costing_options(nb::cast<nb::dict>(elaborate), sim::kRunKeywords).elaborate;
  // The limits are for files from strangers on a command line; here a run can be interrupted.
  request.elaborate.limits.giga_operations = std::numeric_limits<int64_t>::max();
  std::optional<hw::HwConfig> hw;
  if (words.int8) hw = machine_of(machine);
  auto summary = compute([request, hw, layerwise = words.layerwise](
                             const std::atomic<bool>& stop) mutable -> Result<sim::RunSummary> {
    request.progress = [&stop](size_t, size_t) { return !stop; };
    auto prepared = sim::prepare_run(request);
    if (!prepared) return prepared.errors();
    return hw ? sim::run_quantised_network(*prepared, request, *hw, layerwise)
              : sim::run_network(*prepared, request);
  });
  const sim::RunSummary done = unwrap(std::move(summary));
  nb::dict out;
  for (const auto& [name, array] : done.result.outputs) out[python_text(name)] = numpy_of(array);
  return out;
}

}  // namespace

void add_run(nb::module_& module) {
  module.def(
      "_run",
      [](nb::handle model, std::map<std::string, std::string> files,
         std::map<std::string, uint64_t> seeds, std::optional<uint64_t> weight_seed,
         std::string output, std::string dump, int threads, bool int8, bool layerwise,
         nb::handle elaborate, nb::handle hw) {
        return run(model,
                   {std::move(files), std::move(seeds), weight_seed, std::move(output),
                    std::move(dump), threads, int8, layerwise},
                   elaborate, hw);
      },
      nb::arg("model"), nb::arg("files"), nb::arg("seeds"), nb::arg("weight_seed").none(),
      nb::arg("output"), nb::arg("dump"), nb::arg("threads"), nb::arg("int8"), nb::arg("layerwise"),
      nb::arg("elaborate"), nb::arg("hw"),
      nb::sig("def _run(model: object, files: dict[str, str], seeds: dict[str, int], "
              "weight_seed: int | None, output: str, dump: str, threads: int, int8: bool, "
              "layerwise: bool, elaborate: dict[str, typing.Any], hw: object) -> "
              "dict[str, typing.Any]"));
}

}  // namespace accsim::python
